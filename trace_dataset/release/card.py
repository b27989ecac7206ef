"""The dataset card of a release, rendered from `cards/dataset_card.md.jinja` with the release's own figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jinja2

from trace_dataset.installed import hub_path
from trace_dataset.release.manifest import Manifest


def release_card(manifest: Manifest, report: Mapping[str, Any]) -> str:
    """Return `README.md` of a release: front matter with configs, counts, licence, how to hydrate."""
    loader = jinja2.FileSystemLoader(str(hub_path("cards")))
    environment = jinja2.Environment(
        loader=loader,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    template = environment.get_template("dataset_card.md.jinja")
    size = manifest.counts["dialogues"]
    category = "n<1K" if size < 1_000 else "1K<n<10K" if size < 10_000 else "10K<n<100K"
    return template.render(manifest=manifest, report=report, size_category=category)
