"""From stored results to a folder: tables as Markdown, LaTeX and CSV, figures as PNG and SVG, one HTML page, one manifest.

report.md, report.html, report.json    everything to read, and what it rests on
tables/NAME.md, .tex, .csv             one table each
figures/NAME.png, .svg                 one figure each
LICENSED-TEXT.json                     only where the page holds review text: `push` refuses such a folder
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

import trace_dataset
from hydrate.errors import StorageError
from trace_dataset.analysis import comparison_figures, comparisons, figures, pool_tables, sensitivity, tables
from trace_dataset.analysis.catalogue import COMPARED
from trace_dataset.analysis.corpus import Corpus, corpora, differences, run_key, sources_table
from trace_dataset.analysis.entailment_tables import entailment_tables
from trace_dataset.analysis.formats import Table
from trace_dataset.analysis.maps import dialogue_map
from trace_dataset.analysis.missing import missing
from trace_dataset.analysis.orderings import orderings_table
from trace_dataset.analysis.page import Picture, Section, page
from trace_dataset.analysis.viewer import Viewer
from trace_dataset.evaluation.bootstrap import RESAMPLES
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder, write_whole
from trace_dataset.licence import MARKER_FILE, write_marker
from trace_dataset.release import Benchmark

MANIFEST = "report.json"
FORMAT = "trace-report/1"
SENSITIVITY_TABLES: tuple[Callable[[Corpus], Table], ...] = (
    sensitivity.threshold_table,
    sensitivity.window_table,
    sensitivity.spatial_table,
    sensitivity.gaming_table,
    sensitivity.formula_table,
    sensitivity.independence_table,
    sensitivity.sentences_table,
    pool_tables.multi_reference_table,
)
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Report:
    """What was written: the folder, its tables and files, and whether it holds licensed text; and the runs by pool."""

    folder: Path
    tables: list[Table]
    files: list[Path]
    licensed: bool
    by_pool: Mapping[str, Corpus]


def write_report(
    runs: Sequence[RunFolder],
    results: Sequence[Results],
    folder: Path,
    benchmark: Benchmark | None = None,
    *,
    dialogues: int = 40,
    resamples: int = RESAMPLES,
    metrics: Sequence[str] = COMPARED,
    progress: Progress | None = None,
) -> Report:
    """Write the report of scored runs; only numbers that are stored are used.

    Args:
        runs, results: the folders, and the scores in them, in the same order.
        benchmark: hydrated; adds the dialogue viewer and a map, and so licensed text. None leaves them out.
        dialogues: how many the viewer holds.
        resamples: of every bootstrap in the main tables.
        metrics: those that pairs of systems are compared on.

    Raises:
        UsageError: no run, or one run twice.
        StorageError: the folder cannot be written.
    """
    by_pool = corpora(results, resamples)
    steps = _Steps(progress, 8 * len(by_pool) + 3)
    _clear(folder)
    sections = [_section(pool, by_pool, folder, metrics, steps) for pool in by_pool]
    across = _across(by_pool, results, folder, steps)
    rests = Section("rests-on", "What it rests on", [sources_table(results)])
    viewer = (
        _viewer(runs, results, benchmark, dialogues, folder, across) if benchmark is not None and dialogues else None
    )
    steps("dialogues")
    rests.tables.extend(missing(by_pool, viewer is not None))
    sections = [*sections, *([across] if across.tables or across.figures else []), rests]
    found = [table for section in sections for table in section.tables]
    warnings = differences(results) if len(by_pool) == 1 else []
    files = _write_tables(found, folder)
    systems = sum(not result.control for result in results)
    summary = (
        f"{len(results)} runs ({systems} of systems, {len(results) - systems} of controls) over "
        f"{', '.join(f'pool {pool}' for pool in by_pool)}. Point at a number for its interval and n; "
        "every row names the runs it rests on."
    )
    drawn = [figure.path for section in sections for figure in section.figures]
    files += sorted(path.with_suffix(suffix) for path in drawn for suffix in (".png", ".svg"))
    if viewer is not None and benchmark is not None:  # the mark first: a page without it must never stand there
        marked = ["report.html", *(path.relative_to(folder).as_posix() for path in files if path.stem == "map")]
        files.append(write_marker(folder, marked, benchmark.release.manifest.bundle_fingerprint))
    text = page("TRACE report", summary, sections, warnings, viewer, trace_dataset.__version__)
    files.append(folder / "report.html")
    write_whole(files[-1], text.encode())
    files.append(_manifest(folder, results, found, files, viewer is not None))
    steps("page")
    return Report(folder, found, files, viewer is not None, by_pool)


def _section(pool: str, by_pool: Mapping[str, Corpus], folder: Path, metrics: Sequence[str], steps: _Steps) -> Section:
    corpus = by_pool[pool]
    section = Section(f"pool-{pool}", f"Pool {pool}")
    steps("estimates")
    section.tables.append(tables.main_table(corpus))
    section.tables.append(tables.stress_table(corpus, by_pool.get("open")))
    steps("main tables")
    section.tables.extend(tables.breakdowns(corpus))
    steps("breakdowns")
    section.tables.extend(comparisons.bootstrap_table(corpus, metrics))
    steps("paired bootstrap")
    section.tables.extend(comparisons.paired_tests_table(corpus, metrics))
    section.tables.append(comparisons.spread_table(corpus))
    steps("paired tests")
    section.tables.extend(make(corpus) for make in SENSITIVITY_TABLES)
    section.tables.extend(entailment_tables(corpus))
    steps("sensitivity")
    section.figures.extend(_pictures(corpus, folder / "figures"))
    steps("figures")
    return section


def _pictures(corpus: Corpus, folder: Path) -> list[Picture]:
    pool, names = corpus.pool, ", ".join(corpus.names)
    drawn = {
        "The three competencies": (
            figures.bars(corpus, folder, f"competencies-{pool}"),
            f"Bars of R@1, CGS and rejection recovery for {names}; the numbers stand in the tables.",
        ),
        "The gap between the competencies": (
            figures.radars(corpus, folder, f"radar-{pool}"),
            f"One radar of R@1, CGS and rejection recovery for each of {names}.",
        ),
        "Accuracy against grounding, recovery as size": (
            figures.gap(corpus, folder, f"gap-{pool}"),
            f"R@1 against CGS for {names}; the area of a mark is rejection recovery.",
        ),
        "Differences with intervals": (
            comparison_figures.forest(corpus, folder, f"forest-{pool}"),
            "Differences to one system with 95 % intervals, as in Table 21.",
        ),
        "How far the components of CGS can be relied on": (
            comparison_figures.reliability(corpus, folder, f"components-{pool}"),
            f"GS, CD, PC and CGS for {names}, and the part of each that measures nothing.",
        ),
    }
    return [Picture(paths[1], alt, caption) for caption, (paths, alt) in drawn.items() if paths]


def _across(by_pool: Mapping[str, Corpus], results: Sequence[Results], folder: Path, steps: _Steps) -> Section:
    section = Section("pools", "Across pools")
    closed, opened = (by_pool[pool].results if pool in by_pool else () for pool in ("closed", "open"))
    claims = orderings_table(closed, opened, max(corpus.resamples for corpus in by_pool.values()))
    for table in (pool_tables.pool_table(by_pool), pool_tables.ablation_table(by_pool.get("open")), claims):
        if table is not None:
            every = [key for corpus in by_pool.values() for keys in corpus.sources for key in keys]
            section.tables.append(table if table.sources else replace(table, sources=[every] * len(table.rows)))
    if len(by_pool) > 1:
        paths = comparison_figures.pool_curves(by_pool, folder / "figures", "pools")
        section.figures.append(
            Picture(paths[1], "R@1 by pool size, one line a system; the table has the numbers.", "Wider pools")
        )
    steps("pools")
    return section


def _viewer(
    runs: Sequence[RunFolder],
    results: Sequence[Results],
    benchmark: Benchmark,
    dialogues: int,
    folder: Path,
    section: Section,
) -> dict[str, Any] | None:
    """Return the viewer's data for the runs over this benchmark, and draw the map of its first dialogue."""
    digest = benchmark.release.manifest.content_digest
    chosen = [
        (run_key(result), f"{result.name}, pool {result.settings['pool']}", run, result)
        for run, result in zip(runs, results, strict=True)
        if result.settings["content_digest"] == digest
    ]
    # the page opens with the first three, and the map shows them: systems before controls, the closed pool before wider ones
    chosen.sort(key=lambda run: (run[3].control, str(run[3].settings["pool"]) != "closed"))
    data = Viewer(benchmark).data(chosen, dialogues) if chosen else None
    if data is None or not data["dialogues"]:
        return None
    first = data["dialogues"][0]
    named = {
        name: [place for turn in first["turns"] for place in turn.get("answers", {}).get(key, {}).get("places", ())]
        for key, name, _, result in chosen
        if not result.control
    }
    dialogue = next(item for item in benchmark.dialogues if item.dialogue_id == first["id"])
    paths = dialogue_map(dialogue, benchmark.kb, dict(list(named.items())[:3]), folder / "figures", "map")
    if paths is not None:
        section.figures.append(
            Picture(paths[1], "Map of the first dialogue's places; the viewer lists them.", "Places of a dialogue")
        )
    return data


def _write_tables(found: Sequence[Table], folder: Path) -> list[Path]:
    files = []
    for table in found:
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex()), (".csv", table.csv())):
            files.append(folder / "tables" / f"{table.name}{suffix}")
            write_whole(files[-1], text.encode())
    files.append(folder / "report.md")
    write_whole(files[-1], "\n".join(table.markdown() for table in found).encode())
    return files


def _manifest(
    folder: Path, results: Sequence[Results], found: Sequence[Table], files: Sequence[Path], licensed: bool
) -> Path:
    content = {
        "format": FORMAT,
        "version": trace_dataset.__version__,
        "licensed_text": licensed,
        "runs": {
            run_key(item): {
                "fingerprint": item.fingerprint,
                "settings": dict(item.settings),
                "scores": dict(item.versions),
            }
            for item in results
        },
        "tables": [
            {
                "name": table.name,
                "title": table.title,
                "warnings": list(table.warnings),
                "header": list(table.header),
                "rows": [[cell.value for cell in row] for row in table.rows],
                "runs": [list(keys) for keys in table.sources],
            }
            for table in found
        ],
        "files": sorted(path.relative_to(folder).as_posix() for path in files),
    }
    path = folder / MANIFEST
    write_whole(path, orjson.dumps(content, option=orjson.OPT_INDENT_2))
    return path


def _clear(folder: Path) -> None:
    """Remove the files of an earlier report from a folder, and nothing else."""
    path = folder / MANIFEST
    try:
        listed = orjson.loads(path.read_bytes()) if path.is_file() else {}
        if isinstance(listed, dict) and listed.get("format") == FORMAT:
            for name in [*listed.get("files", ()), MANIFEST, MARKER_FILE]:
                old = (folder / str(name)).resolve()
                if old.is_relative_to(folder.resolve()):
                    old.unlink(missing_ok=True)
    except (OSError, orjson.JSONDecodeError) as error:
        raise StorageError(f"{folder} holds a report that cannot be replaced", do="choose another --out") from error


class _Steps:
    """Counts the steps of a report for a progress bar."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self.progress, self.total, self.done = progress, total, 0

    def __call__(self, stage: str) -> None:
        self.done = min(self.done + 1, self.total)
        if self.progress is not None:
            self.progress("report", self.done, self.total)
