"""Cards: front matter rendered from `cards/`, and what of it must be there before anything is published."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from hydrate.errors import UsageError

COLOURS = ("red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray")
SPACE = (
    "title",
    "emoji",
    "colorFrom",
    "colorTo",
    "sdk",
    "sdk_version",
    "python_version",
    "app_file",
    "license",
    "tags",
)
REQUIRED = {
    "dataset": ("license", "language", "pretty_name", "size_categories", "tags", "configs"),
    "metric": (*SPACE, "description"),
    "baseline": SPACE,
    "leaderboard": SPACE,
}
TAGS = {
    "dataset": (),
    "metric": ("evaluate", "metric"),
    "baseline": ("trace-baseline",),
    "leaderboard": ("leaderboard",),
}
SHORT = 60  # characters of a Space's short description


def split_card(text: str) -> tuple[dict[str, Any], str]:
    """Return a card's metadata and its body; a card without front matter has no metadata.

    Raises:
        UsageError: the front matter is not YAML, or no mapping.
    """
    import yaml

    match = re.match(r"---\r?\n(.*?)\r?\n---(?:\r?\n|$)", text, flags=re.S)
    if match is None:
        return {}, text
    try:
        values = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 2}" if where is not None else ""
        raise UsageError(
            f"the front matter of README.md is not YAML{line}", do="mend what stands between the --- lines"
        ) from None
    if not isinstance(values, dict):
        raise UsageError("the front matter of README.md is no list of keys and values", do="write `key: value` lines")
    return values, text[match.end() :]


def heading(body: str, fallback: str) -> str:
    """Return the first heading of a card's body."""
    match = re.search(r"^# +(.+?) *$", body, flags=re.M)
    return match[1] if match else fallback


def short(text: str, limit: int = SHORT) -> str:
    """Return a text cut at a word so that it fits a Space's short description."""
    if len(text) <= limit:
        return text
    return text[: limit + 1].rsplit(" ", 1)[0].rstrip(" ,;:")


def with_metadata(card: str, extra: Mapping[str, Any]) -> str:
    """Return a card with keys of its front matter set; what a user wrote in a folder's README wins this way."""
    import yaml

    if not extra:
        return card
    values, body = split_card(card)
    text = yaml.safe_dump({**values, **extra}, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{text}---\n{body}"


def check_card(card: str, kind: str, paths: Collection[str]) -> None:
    """Raise one `UsageError` that names everything a card lacks or has wrong.

    What is required here is what the Hub reads: it fills the page, the filters and `list_evaluation_modules` from it. The
    Hub library parses the card too; the Hub's own validation follows when it is pushed.
    """
    from huggingface_hub import DatasetCardData, SpaceCardData
    from huggingface_hub.repocard_data import model_index_to_eval_results

    values, body = split_card(card)
    wrong = [f"{key} is missing" for key in REQUIRED[kind] if values.get(key) in (None, "", [])]
    wrong += [f"the tag {tag!r} is missing" for tag in TAGS[kind] if tag not in (values.get("tags") or [])]
    wrong += [
        f"{key} is none of {', '.join(COLOURS)}"
        for key in ("colorFrom", "colorTo")
        if values.get(key, "red") not in COLOURS
    ]
    if len(str(values.get("short_description", ""))) > SHORT:
        wrong.append(f"short_description is longer than {SHORT} characters")
    if "app_file" in values and values["app_file"] not in paths:
        wrong.append(f"app_file {values['app_file']!r} is not among the files")
    for config in values.get("configs") or []:
        wrong += [
            f"the data file {path!r} of a config is not among the files"
            for path in _data_files(config)
            if path not in paths
        ]
    if not body.strip():
        wrong.append("the card has no text")
    data_class = DatasetCardData if kind == "dataset" else SpaceCardData
    try:
        data_class(**values).to_yaml()
        if "model-index" in values:
            model_index_to_eval_results(values["model-index"])
    except (TypeError, ValueError, KeyError) as error:
        wrong.append(f"huggingface_hub does not read it ({type(error).__name__}: {error})")
    if wrong:
        raise UsageError(
            f"the card is not fit to be published: {'; '.join(wrong)}", do="mend the front matter of README.md"
        )


def _data_files(config: Any) -> list[str]:
    files = config.get("data_files") if isinstance(config, dict) else None
    if isinstance(files, str):
        return [files]
    return [item["path"] if isinstance(item, dict) else str(item) for item in files or []]
