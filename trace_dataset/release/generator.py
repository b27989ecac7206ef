"""Who writes the dialogues of a build: the template, or a language model with its journal and its budget."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.dialogues import Writer
from trace_dataset.dialogues.lm_writer import open_lm_writer
from trace_dataset.lm import Budget

TRACE_TEMPLATE, TRACE_LM = "trace-template", "trace-lm"  # never in one table (decisions, item 22)
UNSAID = ("api_key", "sleep")  # options that say nothing of the texts, the first of them a secret


@dataclass(frozen=True)
class Generator:
    """The writer of a build.

    Attributes:
        model: `template`, the name of a language model (see `trace_dataset.lm.open_lm`), or a `dspy.LM`.
        api_base: the address of an endpoint with OpenAI's interface.
        journal: a file of what was paid for, so that a killed run goes on; None puts it beside the release.
        budget: the most that may be spent; None sets no limit.
        options: of `trace_dataset.dialogues.lm_writer.open_lm_writer`: `tries`, `threads`, `temperature`, `prices`, …
    """

    model: Any = "template"
    api_base: str | None = None
    journal: str | os.PathLike[str] | None = None
    budget: Budget | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what does not go together; raises `UsageError`."""
        if isinstance(self.model, str) and not self.model.strip():
            raise UsageError("the language model's name is empty", do="give openai/NAME, local, or template")
        given = [name for name in ("api_base", "journal", "budget") if getattr(self, name) is not None]
        given += sorted(self.options)
        if self.is_template and given:
            raise UsageError(f"{given[0]} is an option of a language model", do="name one, or leave the option out")

    @property
    def is_template(self) -> bool:
        """Whether no language model takes part."""
        return isinstance(self.model, str) and self.model == "template"

    @property
    def name(self) -> str:
        """The name that sets of this kind go by: `trace-template` or `trace-lm`."""
        return TRACE_TEMPLATE if self.is_template else TRACE_LM

    def parameters(self) -> dict[str, Any]:
        """Return what the texts depend on besides the plans, as JSON values; nothing for the template. Keys stay out."""
        if self.is_template:
            return {}
        settings = getattr(self.model, "kwargs", {})  # of a dspy.LM
        said = {**settings, **self.options}
        return {
            "generator": {
                "name": self.name,
                "model": str(getattr(self.model, "model", self.model)),
                "api_base": self.api_base or settings.get("api_base"),
                "options": {key: _plain(said[key]) for key in sorted(said) if key not in (*UNSAID, "api_base")},
            }
        }

    @contextmanager
    def open(self, journal: Path) -> Iterator[str | Writer]:
        """Give the writer for `build_dialogues`; `journal` is where the record goes if no other file was named."""
        if self.is_template:
            yield "template"
            return
        path = self.journal_path(journal)
        with open_lm_writer(
            self.model, self.api_base, journal=path, budget=self.budget, **dict(self.options)
        ) as writer:
            yield writer

    def journal_path(self, default: Path) -> Path:
        """Return where the journal is kept."""
        return default if self.journal is None else Path(self.journal).expanduser()


TEMPLATE = Generator()


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
