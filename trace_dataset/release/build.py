"""From a bundle to a release folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hydrate.errors import TraceError, UsageError
from trace_dataset.dialogues import BuildReport, Writer, build_dialogues, default_dialogue_count
from trace_dataset.dialogues.lm_writer import LmWriter
from trace_dataset.kb import KnowledgeBase, build_knowledge_base, collect_evidence
from trace_dataset.lm import Budget
from trace_dataset.release.folder import Release, vacant, write_release
from trace_dataset.release.generator import Generator
from trace_dataset.release.source import Source
from trace_dataset.schema import SPLITS
from trace_dataset.splits import assign_splits

Progress = Callable[[str, int, int], None]  # stage, done, total
MOST_WORKERS, MANY_DIALOGUES = 4, 2_000


def build_release(
    yelp_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    n_dialogues: int | None = None,
    seed: int = 42,
    max_places: int = 100,
    min_pois: int | None = None,
    open_only: bool = False,
    generator: Any = "template",
    api_base: str | None = None,
    journal: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    lm_options: Mapping[str, Any] | None = None,
    workers: int | None = 1,
    progress: Progress | None = None,
) -> Release:
    """Build a benchmark from a Yelp bundle and write it as a release folder.

    Args:
        yelp_path: a folder, `.tar`, `.tgz`, `.zip`, or Yelp's zip.
        out: the folder to write; must not exist or be empty.
        n_dialogues: how many; None gives the paper's ratio, 25 for every 6 places, at most 10,000.
        max_places: most places in a cell of city and type.
        min_pois: a cell with fewer usable places is an error rather than a note in the report.
        generator: who writes: `template` (no model, the same words for the same seed), a `dspy.LM`, or the name of a language
            model: `local`, `openai/NAME` (with `api_base` for any endpoint of that interface), `anthropic/NAME`, ….
        journal: a file of what the model was paid for, so that a run that was killed or stopped goes on from there; None
            puts it beside `out`, as `OUT.journal.jsonl`.
        budget: the most that the model may cost: `Budget(usd=…, tokens=…)`.
        lm_options: further options of `trace_dataset.dialogues.lm_writer.open_lm_writer`.
        workers: processes that write dialogues; the bytes are the same for any number. None takes one a core, at most
            four, where there are 2,000 dialogues or more. With more than one, a script needs the usual
            `if __name__ == "__main__":`.

    Raises:
        BundleError: the bundle is missing, damaged, or too small for a benchmark.
        StorageError: the disk is full or read-only.
        TraceError: the budget was spent before the end; what was written is in the journal, and no release is made.

    Example:
        >>> build_release("~/Yelp-JSON.zip", "trace-release")  # doctest: +SKIP
        >>> build_release("~/Yelp-JSON.zip", "trace-lm", generator="local", n_dialogues=240)  # doctest: +SKIP
    """
    target = vacant(out)
    source = Source(
        yelp_path=os.fspath(yelp_path),
        n_dialogues=n_dialogues,
        seed=seed,
        max_places=max_places,
        min_pois=min_pois,
        open_only=open_only,
        generator=Generator(generator, api_base, journal, budget, dict(lm_options or {})),
    )
    release, _ = build_from(source, target, progress, workers, journal=Path(f"{target}.journal.jsonl"))
    return release


def build_from(
    source: Source, out: Path, progress: Progress | None, workers: int | None = 1, *, journal: Path
) -> tuple[Release, KnowledgeBase]:
    """Build what a source describes and write it; returns the release and the knowledge base with its text.

    Args:
        journal: where a language model's record goes if the source names no other file.
    """
    with source.generator.open(journal) as writer:  # first, so that a model that cannot be had is told at once
        return _build(source, out, progress, workers, writer, source.generator.journal_path(journal))


def _build(
    source: Source, out: Path, progress: Progress | None, workers: int | None, writer: str | Writer, journal: Path
) -> tuple[Release, KnowledgeBase]:
    def stage(name: str) -> Callable[[int, int], None] | None:
        return None if progress is None else lambda done, total: progress(name, done, total)

    fingerprint = source.bundle.fingerprint(progress=stage("checking the bundle"))
    kb, kb_report = build_knowledge_base(
        source.bundle,
        seed=source.seed,
        max_places=source.max_places,
        open_only=source.open_only,
        min_pois=source.min_pois,
        progress=stage("reading places and reviews"),
    )
    evidence = collect_evidence(kb)
    count = default_dialogue_count(len(kb.pois)) if source.n_dialogues is None else source.n_dialogues
    if workers is None:  # a process costs a second or two to start
        workers = min(os.cpu_count() or 1, MOST_WORKERS) if count >= MANY_DIALOGUES else 1
    dialogues, report = build_dialogues(
        kb,
        evidence,
        n_dialogues=count,
        seed=source.seed,
        writer=writer,
        workers=workers,
        progress=stage("writing dialogues"),
    )
    parameters = {**source.parameters(), "n_dialogues": count}
    written: dict[str, Any] = {}
    if isinstance(writer, LmWriter):
        written = writer.report().to_json()
        parameters["generator"] = {**writer.settings, "name": source.generator.name, "model": writer.lm.name}
    if report.stops:
        _stop(report, journal)
    split_of = assign_splits(((item.dialogue_id, (item.city, item.poi_type)) for item in dialogues), source.seed)
    empty = [split for split in SPLITS if split not in split_of.values()]
    if empty:
        raise UsageError(
            f"{len(dialogues)} dialogues leave the split {empty[0]!r} without any",
            do="ask for more with n_dialogues=… (10 for each city and type is enough)",
        )
    release = write_release(
        out,
        dialogues,
        list(kb.pois.values()),
        list(kb.reviews.values()),
        split_of,
        bundle_fingerprint=fingerprint.digest,
        seed=source.seed,
        parameters=parameters,
        generator=source.generator.name,
        writer=written,
        report={**report.to_json(), "kb": kb_report.to_json()},
    )
    return release, kb


def _stop(report: BuildReport, journal: Path) -> None:
    """End a build whose writer stopped: half a benchmark is not published, and nothing that was paid for is lost."""
    reasons = "; ".join(report.stops)
    raise TraceError(
        f"{reasons}: {report.dialogues:,} of {report.requested:,} dialogues are written; they are kept in {journal}",
        do="raise the budget and give the same command again: it goes on from there and pays for nothing twice",
    )
