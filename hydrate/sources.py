"""The texts that quotes refer to, gathered from a bundle or a mapping in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from hydrate.bundle import Bundle
from hydrate.errors import UsageError
from hydrate.spans import replace_surrogates


@dataclass
class SourceTexts:
    """Texts by id, of the `wanted` distinct ids that were asked for; `ambiguous` ids have two different texts."""

    wanted: int
    texts: Mapping[str, str]
    ambiguous: set[str] = field(default_factory=set)
    repeated: int = 0
    replaced_surrogates: int = 0


def gather(
    source: Bundle | Mapping[str, str], ids: Iterable[str], progress: Callable[[int, int], None] | None = None
) -> SourceTexts:
    """Return the texts of these ids that the source has."""
    if not isinstance(source, (Bundle, Mapping)):
        raise UsageError(
            f"the source of texts is of type {type(source).__name__}",
            do="open a bundle with hydrate.open_bundle(path), or give id to text",
        )
    wanted = dict.fromkeys(ids)
    texts: dict[str, str] = {}
    found = SourceTexts(len(wanted), texts)
    if isinstance(source, Bundle):
        repeated, replaced = source.repeated_reviews, source.replaced_surrogates
        for record in source.reviews(review_ids=wanted.keys(), progress=progress, conflicts=found.ambiguous):
            texts[record.review_id] = record.text
        found.repeated = source.repeated_reviews - repeated
        found.replaced_surrogates = source.replaced_surrogates - replaced
        return found
    for key in wanted:
        text = source.get(key)
        if text is not None:
            texts[key], replaced = replace_surrogates(text)
            found.replaced_surrogates += replaced
    return found
