"""The sentences of a page come from the card beside it, so that page and card cannot differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Card:
    """A card's title, its first paragraphs, the section on limits, and what its outputs mean; empty where it says nothing."""

    title: str = ""
    lead: str = ""
    limits: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def read_card(path: Path) -> Card:
    """Return what a page shows of a `README.md`; an empty card where there is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return Card()
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    title = re.search(r"^# (.+)$", text, flags=re.MULTILINE)
    body = text[title.end() :] if title else text
    lead, *sections = re.split(r"^## ", body, flags=re.MULTILINE)
    by_title = {section.partition("\n")[0].strip().lower(): section.partition("\n")[2].strip() for section in sections}
    limits = next((section for name, section in by_title.items() if name.startswith("limits")), "")
    return Card(title.group(1).strip() if title else "", lead.strip(), limits, _outputs(by_title.get("outputs", "")))


def _outputs(section: str) -> dict[str, str]:
    """Return each output's meaning from the table of outputs."""
    found: dict[str, str] = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 3 and cells[0].startswith("`"):
            names, meanings = re.findall(r"`([^`]+)`", cells[0]), [part.strip() for part in cells[2].split(";")]
            for at, name in enumerate(names):
                found[name] = meanings[at] if len(meanings) == len(names) else cells[2]
    return found
