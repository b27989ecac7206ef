"""Grounding: are the quotes real (GS), how much of the answer is quoted (CD), do labels stand by what they back (PC), and CGS.

Definitions M6 to M9 and 4.2. Every function takes the reviews that a response *cites*: those whose label stands in its text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .checks import UsageError, check_choice, check_lengths, check_texts, check_window
from .composite import FLOOR, FORMULAS, TAU, cgs, cgs_alternative, cgs_corpus
from .inventory import TERMS, find_terms
from .matching import NormalForms, cutoff_of, stands_in
from .text import label_positions, quote_spans, tokenize

THRESHOLD = 0.80
WINDOW = 80  # characters between a term and a label that backs it

__all__ = [
    "FLOOR",
    "FORMULAS",
    "TAU",
    "THRESHOLD",
    "WINDOW",
    "GroundingColumns",
    "cgs",
    "cgs_alternative",
    "cgs_corpus",
    "citation_density",
    "grounding_score",
    "gs0",
    "match_quotes",
    "provenance_coverage",
    "score_turns",
]


@dataclass(frozen=True)
class GroundingColumns:
    """Scores and counts, one entry a response; None where a value is undefined.

    `vacuous_gs`: no quotes, so GS is 1 with nothing measured. `vacuous_pc`: the response recommends and names none of the
    terms, so PC is 1 with nothing measured. Counts let a caller form other averages.
    """

    gs: list[float] = field(default_factory=list)
    cd: list[float] = field(default_factory=list)
    pc: list[float | None] = field(default_factory=list)
    cgs: list[float | None] = field(default_factory=list)
    n_quotes: list[int] = field(default_factory=list)
    n_matched: list[int] = field(default_factory=list)
    n_tokens: list[int] = field(default_factory=list)
    n_quoted_tokens: list[int] = field(default_factory=list)
    vacuous_gs: list[bool] = field(default_factory=list)
    vacuous_pc: list[bool] = field(default_factory=list)


def score_turns(
    texts: Sequence[str],
    reviews: Sequence[str],
    offsets: Sequence[int],
    recommends: Sequence[bool],
    *,
    threshold: float | str = THRESHOLD,
    count: str = "matched",
    window: int = WINDOW,
    valid_labels: Sequence[Collection[int] | None] | None = None,
) -> GroundingColumns:
    """Return GS, CD, PC and CGS of many responses.

    Args:
        texts: the responses; "" for one that failed.
        reviews: the texts of all cited reviews, response after response.
        offsets: `len(texts) + 1` ascending numbers; `reviews[offsets[i]:offsets[i + 1]]` are those cited by text i.
        recommends: whether a turn recommends. PC, and so the CGS of a turn, exists for these only: a question cannot score.
        threshold: similarity from which a quote counts as found, or "exact".
        count: "matched" (CD counts tokens of quotes that were found) or "quoted" (of all quotes).
        window: characters allowed between a term and its label.
        valid_labels: for each text the label numbers that resolve, or None; by default every label counts.

    Raises:
        UsageError: columns that do not fit together, items that are no text, an unknown option.

    Example:
        >>> columns = score_turns(['Try it: "smoky and tender" [R1].'], ["The tacos were smoky and tender."], [0, 1], [True])
        >>> columns.gs, columns.cd, columns.pc
        ([1.0], [0.6], [1.0])
    """
    check_texts(texts, "texts")
    check_texts(reviews, "reviews")
    check_lengths(texts=texts, recommends=recommends)
    _check_offsets(offsets, len(texts), len(reviews))
    check_choice(count, "count", ("matched", "quoted"))
    check_window(window)
    if valid_labels is not None:
        check_lengths(texts=texts, valid_labels=valid_labels)
    columns = GroundingColumns()
    plain = NormalForms()
    cutoff = cutoff_of(threshold)
    for index, text in enumerate(texts):
        cited = reviews[offsets[index] : offsets[index + 1]]
        counts = _ground(text, cited, cutoff, plain)
        _add(columns, counts, count == "quoted")
        found = find_terms(text) if recommends[index] else {}
        labels = valid_labels[index] if valid_labels is not None else None
        vacuous = bool(recommends[index]) and not found
        pc = (1.0 if vacuous else _covered(text, found, window, labels)) if recommends[index] else None
        columns.pc.append(pc)
        columns.vacuous_pc.append(vacuous)
        columns.cgs.append(None if pc is None else cgs(columns.gs[-1], columns.cd[-1], pc))
    return columns


def match_quotes(
    quotes: Sequence[Sequence[str]], reviews: Sequence[Sequence[str]], threshold: float | str = THRESHOLD
) -> list[list[bool]]:
    """Return for each response which of its quotes stand in one of its cited reviews.

    An exact substring of any review is a match before any fuzzy work; a quote glued from two reviews must match one of them.
    """
    check_lengths(quotes=quotes, reviews=reviews)
    plain, cutoff = NormalForms(), cutoff_of(threshold)
    return [
        [stands_in(quote, cited, cutoff, plain) for quote in group]
        for group, cited in zip(quotes, reviews, strict=True)
    ]


def grounding_score(response: str, cited_reviews: Sequence[str], threshold: float | str = THRESHOLD) -> float:
    """Return GS: quotes found in the cited reviews / quotes; 1.0 without quotes, 0 to 1 (M6; paper, section 3).

    Example:
        >>> grounding_score('"spotless" and "valet parking" [R1]', ["Rooms are small but spotless."])
        0.5
    """
    return _one(response, cited_reviews, threshold).grounding


def gs0(response: str, cited_reviews: Sequence[str], threshold: float | str = THRESHOLD) -> float:
    """Return GS, or 0 where the citation density is 0: no credit for a response without quotes (definitions 4.2)."""
    counts = _one(response, cited_reviews, threshold)
    return counts.grounding if counts.matched_tokens else 0.0


def citation_density(
    response: str, cited_reviews: Sequence[str], count: str = "matched", threshold: float | str = THRESHOLD
) -> float:
    """Return CD: tokens inside matched quotes / tokens of the response, 0 to 1; 0 for an empty one (M7; paper, section 3).

    Args:
        count: "quoted" counts the tokens of all quotes, matched or not.

    Example:
        >>> citation_density("“two hours” there", ["We stayed two hours."])
        0.6666666666666666
    """
    check_choice(count, "count", ("matched", "quoted"))
    counts = _one(response, cited_reviews, threshold)
    return counts.density(count == "quoted")


def provenance_coverage(
    response: str,
    has_recommendation: bool = True,
    window: int = WINDOW,
    valid_labels: Collection[int] | None = None,
    aspects: Sequence[str] = TERMS,
) -> float | None:
    """Return PC: aspect terms with a label near one of their occurrences / aspect terms present, 0 to 1 (M8).

    Args:
        has_recommendation: without any term, a response that recommends scores 1.0 and any other is undefined (None).
        window: characters allowed between a term and the `[` of a label.
        valid_labels: the label numbers that resolve; by default every label counts.
        aspects: lower-case terms in place of the 41 of the paper.

    Example:
        >>> provenance_coverage("Cheap seafood [R4]." + "." * 90 + " and a pool.")
        0.6666666666666666
    """
    check_texts([response], "response")
    check_window(window)
    found = find_terms(response, aspects)
    if not found:
        return 1.0 if has_recommendation else None
    return _covered(response, found, window, valid_labels)


@dataclass(slots=True)
class _Counts:
    n_quotes: int = 0
    n_matched: int = 0
    n_tokens: int = 0
    quoted_tokens: int = 0
    matched_tokens: int = 0

    @property
    def grounding(self) -> float:
        return self.n_matched / self.n_quotes if self.n_quotes else 1.0

    def density(self, every_quote: bool) -> float:
        inside = self.quoted_tokens if every_quote else self.matched_tokens
        return inside / self.n_tokens if self.n_tokens else 0.0


def _one(response: str, cited_reviews: Sequence[str], threshold: float | str) -> _Counts:
    check_texts([response], "response")
    check_texts(cited_reviews, "cited_reviews")
    return _ground(response, cited_reviews, cutoff_of(threshold), NormalForms())


def _ground(text: str, cited: Sequence[str], cutoff: float, plain: NormalForms) -> _Counts:
    counts = _Counts(n_tokens=len(tokenize(text)))
    for start, end, n_tokens in quote_spans(text):
        counts.n_quotes += 1
        counts.quoted_tokens += n_tokens
        if cited and stands_in(text[start:end], cited, cutoff, plain):
            counts.n_matched += 1
            counts.matched_tokens += n_tokens
    return counts


def _covered(text: str, found: dict[str, list[int]], window: int, valid: Collection[int] | None) -> float:
    labels = [
        position for position, numbers in label_positions(text) if valid is None or any(n in valid for n in numbers)
    ]
    return sum(any(_near(labels, at, window) for at in places) for places in found.values()) / len(found)


def _near(labels: Sequence[int], position: int, window: int) -> bool:
    index = bisect_left(labels, position - window)
    return index < len(labels) and labels[index] <= position + window


def _add(columns: GroundingColumns, counts: _Counts, every_quote: bool) -> None:
    columns.gs.append(counts.grounding)
    columns.cd.append(counts.density(every_quote))
    columns.n_quotes.append(counts.n_quotes)
    columns.n_matched.append(counts.n_matched)
    columns.n_tokens.append(counts.n_tokens)
    columns.n_quoted_tokens.append(counts.quoted_tokens if every_quote else counts.matched_tokens)
    columns.vacuous_gs.append(counts.n_quotes == 0)


def _check_offsets(offsets: Sequence[int], n_texts: int, n_reviews: int) -> None:
    good = len(offsets) == n_texts + 1 and offsets[0] == 0 and offsets[-1] == n_reviews
    if not good or any(first > second for first, second in pairwise(offsets)):
        raise UsageError(
            f"offsets do not divide {n_reviews} reviews among {n_texts} texts",
            do=f"pass {n_texts + 1} ascending numbers from 0 to {n_reviews}",
        )
