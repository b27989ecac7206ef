"""The leaderboard's Space: one data file of scores that were computed again from responses, and the page that shows it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

import trace_dataset
from hydrate.errors import TraceError, UsageError
from trace_dataset.evaluation.evaluate import as_benchmark
from trace_dataset.evaluation.results import Estimate, Results, estimate_tables
from trace_dataset.hub.files import PublishedFile
from trace_dataset.hub.guard import Guard
from trace_dataset.hub.metrics import GRADIO, widgets
from trace_dataset.hub.publication import MARKER, Publication, Push, assemble, stored_token
from trace_dataset.hub.submission import Submission, verify_submission
from trace_dataset.hub.upload import Options, push
from trace_dataset.installed import render
from trace_dataset.release import Benchmark
from trace_dataset.release.local import Progress
from trace_dataset.remote import HubError, check_repo_id, fetch
from trace_dataset.schema import TIERS

DATA = "leaderboard.json"
FORMAT = 1


def push_leaderboard(
    results: Sequence[str | Path | Submission],
    repo_id: str,
    *,
    benchmark: Any,
    families: Mapping[str, str] | None = None,
    dry_run: bool = False,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Push:
    """Add submissions to the leaderboard's Space; each is scored again from its responses before it gets a row.

    Rows that stand there already stay; a row of the same system, origin, benchmark, pool and split is replaced.

    Args:
        results: run folders, or what `verify_submission` returned. Scores without responses are not taken.
        repo_id: `owner/name`.
        benchmark: what the submissions were made on, with its bundle: a `Benchmark`, or what `load_dataset` returned.
        families: system to family, for the page's filter; by default `control`, `language model` or `retrieval`.
        dry_run: verify everything and return what would go up, and send nothing.
        private, revision, token, replace: see `trace_dataset.hub.upload.Options`; `replace` starts from an empty table.

    Raises:
        UsageError: something else than responses was given, or the table on the Hub was changed by hand.
        BundleError, HydrationError: a submission does not hold; see `verify_submission`.
        HubError: the Hub refused or could not be reached.

    Example:
        >>> push_leaderboard(["runs/tfidf-closed"], "org/trace-leaderboard", benchmark=ds)  # doctest: +SKIP
    """
    check_repo_id(repo_id)
    whole, _ = as_benchmark(benchmark)
    verified = [_verified(item, whole, progress) for item in results]
    there = {} if replace else published_table(repo_id, revision, token)
    table = merged(there, verified, whole, families or {})
    publication = _publication(repo_id, table, whole, token, progress, len(verified))
    return push(publication, Options(dry_run, private, revision, token, replace))


def merged(
    there: Mapping[str, Any], verified: Sequence[Submission], benchmark: Benchmark, families: Mapping[str, str]
) -> dict[str, Any]:
    """Return the leaderboard's data with rows for the submissions; the rest of it stays."""
    rows = {_key(row): row for row in there.get("rows", ())}
    benchmarks = dict(there.get("benchmarks", {}))
    for submission in verified:
        row = row_of(submission, families.get(submission.results.name))
        rows[_key(row)] = row
        benchmarks[row["benchmark"]] = _described(benchmark)
    return {"format": FORMAT, "benchmarks": benchmarks, "rows": [rows[key] for key in sorted(rows)]}


def row_of(submission: Submission, family: str | None = None) -> dict[str, Any]:
    """Return the leaderboard's row of a verified submission."""
    results = submission.results
    settings = results.settings
    tiers = np.array(results.dialogues["difficulty"])
    present = [tier for tier in TIERS if (tiers == tier).any()]
    sums = results.cluster_sums
    whole, *parts = estimate_tables([sums, *(sums.take(tiers == tier) for tier in present)])
    return {
        "system": results.name,
        "family": family or _family(settings),
        "origin": settings.get("origin"),
        "control": results.control,
        "benchmark": settings["content_digest"],
        "pool": settings["pool"],
        "split": settings["split"],
        "limit": settings["limit"],
        "dialogues": len(tiers),
        "turns": len(results.turns["failed"]),
        "failed": results.n_failed,
        "scores": _scores(whole),
        "tiers": {
            tier: {"dialogues": int((tiers == tier).sum()), "scores": _scores(part)}
            for tier, part in zip(present, parts, strict=True)
        },
        "corrected": dict(submission.corrected),
        "submission": submission.digest,
        "scores_version": ".".join(str(value) for value in results.versions.values()),
        "trace_dataset": trace_dataset.__version__,
    }


def published_table(repo_id: str, revision: str | None = None, token: str | None = None) -> dict[str, Any]:
    """Return the data of the leaderboard that is published; empty where there is none yet.

    Raises:
        UsageError: the file is not what this publisher put there.
    """
    try:
        found = fetch(repo_id, "space", revision, token=token or stored_token(), only=[DATA, MARKER])
    except HubError as error:
        if error.status in (401, 404) and "no such re" in error.what:
            return {}
        raise
    if not (found.folder / MARKER).is_file():
        return {}
    table = _as_published(found.folder)
    if table is None:
        raise UsageError(
            f"{DATA} in {repo_id} is not what was published there, so its rows are not known to be verified",
            do="restore it on the Hub, or start a new table with replace=True (--replace) and all submissions",
        )
    return table


def _as_published(folder: Path) -> dict[str, Any] | None:
    """Return the table of a repository, None where it is not the one that the marker names."""
    try:
        marker = orjson.loads((folder / MARKER).read_bytes())
        content = PublishedFile(DATA, (folder / DATA).read_bytes())
        if marker["kind"] != "leaderboard" or marker["files"][DATA] != content.sha256:
            return None
        values: dict[str, Any] = orjson.loads(content.read())
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        return None
    return values


def _verified(item: Any, benchmark: Benchmark, progress: Progress | None) -> Submission:
    if isinstance(item, Submission):
        return item
    if isinstance(item, Results):
        raise UsageError(
            "scores alone are not taken: a row is computed from responses",
            do="give the run folder (out=… of evaluate_baseline, or what `trace-dataset run` wrote)",
        )
    try:
        return verify_submission(item, benchmark, progress)
    except TraceError as error:
        raise type(error)(f"{item}: {error.what}", do=error.do) from error


def _publication(
    repo_id: str, table: Mapping[str, Any], benchmark: Benchmark, token: str | None, progress: Progress | None, new: int
) -> Publication:
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    values = {"repo_id": repo_id, "gradio": GRADIO, "version": trace_dataset.__version__, "rows": len(table["rows"])}
    texts = {
        "README.md": render("leaderboard_card.md.jinja", **values),
        "app.py": render("leaderboard_app.py.jinja", **values),
        "requirements.txt": render("leaderboard_requirements.txt.jinja", **values),
        **widgets(),
    }
    files = [PublishedFile(path, text.encode()) for path, text in texts.items()]
    files.append(PublishedFile(DATA, orjson.dumps(table, option=options)))
    fingerprint = benchmark.release.manifest.bundle_fingerprint[:12]
    return assemble(
        "leaderboard",
        repo_id,
        "leaderboard",
        files,
        guard=Guard(benchmark.texts, f"bundle {fingerprint}"),
        checks=(f"{new} submissions scored again from their responses; {len(table['rows'])} rows",),
        token=token,
        progress=progress,
    )


def _scores(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: dataclasses.asdict(value) for name, value in sorted(estimates.items())}


def _key(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in ("benchmark", "pool", "split", "limit", "system", "origin"))


def _family(settings: Mapping[str, Any]) -> str:
    if settings.get("control"):
        return "control"
    return "language model" if (settings.get("parameters") or {}).get("lm") else "retrieval"


def _described(benchmark: Benchmark) -> dict[str, Any]:
    manifest = benchmark.release.manifest
    return {
        "bundle_fingerprint": manifest.bundle_fingerprint,
        "generator": manifest.generator,
        "counts": dict(manifest.counts),
        "seed": manifest.seed,
        "release": None,
    }
