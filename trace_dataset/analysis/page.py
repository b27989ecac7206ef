"""One HTML page that a person can read, sort and send: tables, figures and dialogues in a single file, without a network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jinja2
import orjson

from trace_dataset.analysis.formats import Table
from trace_dataset.installed import hub_path
from trace_dataset.licence import META_TAG, NOTICE


@dataclass(frozen=True)
class Picture:
    """A figure by its SVG, with what it shows in words."""

    path: Path
    alt: str
    caption: str

    @property
    def data(self) -> str:
        """The SVG, ready for a data address."""
        return base64.b64encode(self.path.read_bytes()).decode()


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    id: str
    title: str
    tables: list[Table] = field(default_factory=list)
    figures: list[Picture] = field(default_factory=list)


def page(
    title: str,
    summary: str,
    sections: Sequence[Section],
    warnings: Sequence[str],
    viewer: Mapping[str, Any] | None,
    version: str,
) -> str:
    """Return the page.

    Args:
        viewer: what `Viewer.data` returned, which makes the page one of licensed text; None leaves the dialogues out.
    """
    folder = hub_path("cards")
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder)), undefined=jinja2.StrictUndefined, autoescape=True
    )
    licensed = viewer is not None
    about = ""
    if viewer is not None:
        about = (
            f"The first {len(viewer['dialogues']):,} of {viewer['total']:,} dialogues that all runs answered; "
            "more with --viewer N."
        )
    return environment.get_template("report.html.jinja").render(
        title=title,
        summary=summary,
        sections=sections,
        warnings=warnings,
        licensed=licensed,
        meta_tag=META_TAG,
        notice=NOTICE,
        viewer=script_json(viewer) if viewer is not None else "",
        viewer_about=about,
        version=version,
        style=(folder / "report.css").read_text(encoding="utf-8"),
        script=(folder / "report.js").read_text(encoding="utf-8"),
    )


def script_json(values: Any) -> str:
    """Return JSON in which nothing can end a script element.

    Example:
        >>> script_json("</script>")
        '"\\\\u003c/script>"'
    """
    return (
        orjson.dumps(values).decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    )
