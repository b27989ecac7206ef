"""The paper's tables beside ours: a locked configuration for each, what they print, and what it costs to make them again."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from hydrate.errors import UsageError
from trace_dataset.analysis.catalogue import METRICS
from trace_dataset.analysis.comparisons import contrasts
from trace_dataset.analysis.corpus import CONTROL_MARK, Corpus, corpora, retriever_of
from trace_dataset.analysis.entailment_tables import entailment_label
from trace_dataset.analysis.formats import Cell, Table, count, estimate, number, words
from trace_dataset.analysis.statistics import complete_pairs, pearson
from trace_dataset.analysis.swept import IN_USE, Pair, correlations, numbers
from trace_dataset.evaluation.bootstrap import SEED
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.evaluation.results import Estimate, Results
from trace_dataset.lm_baseline import RETRIEVERS
from trace_dataset.scoring.aggregate import turn_sd

PAPER = Path(__file__).with_name("paper.json")
ASKING = ("llm_zero_shot", "dst", "rag_citation", "multi_review_synthesis", "memory_augmented", "itinerary_llm")
ENTAILMENT = {"entailment": IN_USE, "cgs_ent": "cgs_ent"}  # columns that need stored claims
CALLS = {"dst": 2}  # questions a turn; one for the others
READ, WRITTEN = 2_500, 150  # tokens that a question takes, about: eight cards with three reviews, and the conversation


@dataclass(frozen=True)
class PlannedRun:
    """Runs of a plan's systems: the pool, the first so many dialogues, and who chooses what a model is shown of the pool.

    Systems that have no such retriever are left out of a run that names one.
    """

    pool: str
    limit: int | None = None
    retriever: str | None = None


@dataclass(frozen=True)
class Plan:
    """The locked configuration of one table: which systems, over which pools and how many dialogues, and what is printed."""

    name: str
    title: str
    runs: tuple[PlannedRun, ...]
    columns: Mapping[str, Mapping[str, str]]
    printed: Mapping[str, Mapping[str, float | None]]
    contrasts: tuple[Mapping[str, Any], ...]
    most: int | None = None  # dialogues, where it was shortened

    def shortened(self, most: int) -> Plan:
        """Return the plan over no more than the first dialogues, which its table then says."""
        if most < 1:
            raise UsageError(f"--limit {most} leaves nothing to run", do="give 1 or more, or leave it out")
        runs = tuple(replace(run, limit=min(run.limit or most, most)) for run in self.runs)
        return replace(self, runs=runs, most=most)

    @property
    def systems(self) -> list[str]:
        """The baselines that the table needs, in the paper's order."""
        names = [*self.printed, *(item[side] for item in self.contrasts for side in ("a", "b"))]
        return list(dict.fromkeys(names))


@functools.cache
def plans() -> dict[str, Plan]:
    """Return the plans of all tables by name, such as `table-5`."""
    content = orjson.loads(PAPER.read_bytes())
    return {
        name: Plan(
            name,
            table["title"],
            tuple(PlannedRun(**run) for run in table["runs"]),
            table.get("columns", {}),
            table.get("printed", {}),
            tuple(table.get("contrasts", ())),
        )
        for name, table in content["tables"].items()
    }


def plan(name: str) -> Plan:
    """Return the plan of a table; `5`, `table-5` and `Table 5` name the same. Raises `UsageError` for any other."""
    wanted = f"table-{name.lower().replace('table', '').strip(' -')}"
    if wanted not in plans():
        raise UsageError(f"there is no plan for {name!r}", do=f"use one of: {', '.join(plans())}")
    return plans()[wanted]


def cost(wanted: Plan, dialogues: int, turns: int, price: tuple[float, float] | None) -> tuple[int, float | None]:
    """Return about how many questions the systems that ask a model need, and what they cost in USD; None without a price.

    Args:
        dialogues, turns: of the benchmark; turns are the system's.
        price: USD for a million tokens read, and written.
    """
    each = turns / max(dialogues, 1)
    asked = sum(
        round(min(run.limit or dialogues, dialogues) * each) * CALLS.get(name, 1)
        for name in wanted.systems
        if name in ASKING
        for run in wanted.runs
    )
    return asked, None if price is None else asked * (READ * price[0] + WRITTEN * price[1]) / 1e6


def beside(wanted: Plan, results: Sequence[Results], missing: Mapping[str, str], resamples: int) -> Table:
    """Return ours, the paper's, and the difference, for every system and column of a table.

    Args:
        results: the runs that the plan needs, as far as they were made; controls stand below without a paper's value.
        missing: why a system has no run.
    """
    found = corpora(results, resamples)
    if wanted.contrasts:
        return _contrast_table(wanted, found["closed"], missing)
    closed, opened = found.get("closed"), found.get("open")
    labels = _labels(wanted, results)
    header = ["system", *(label + part for label in labels for part in ("", " n", " paper", " difference"))]
    rows, sources = [], []
    shown = [*wanted.systems, *(name for name in CONTROLS if _run(closed, name) is not None)]
    for name in shown:
        cells = [words(name + (CONTROL_MARK if name in CONTROLS else ""))]
        for key, column in wanted.columns.items():
            own = _value(closed, opened, name, column["ours"])
            printed = wanted.printed.get(name, {}).get(key)
            gap = None if own is None or own.value is None or printed is None else own.value - printed
            cells += [number(None) if own is None else estimate(own), count(own.n if own else 0)]
            cells += [number(printed), number(gap, sign=True)]
        rows.append(cells)
        sources.append([key for corpus in (closed, opened) if corpus for key in _keys(corpus, name)])
    groups = dict.fromkeys(labels, 4)
    warnings = [*(closed.warnings if closed else []), *(opened.warnings if opened else [])]
    title = f"{wanted.title}: ours beside the paper's {wanted.name.replace('-', ' ').title()}"
    notes = [*_notes(wanted, found, missing), *_unasked(wanted, results)]
    return Table(f"{wanted.name}-beside-paper", title, header, rows, notes, warnings, sources, groups)


def _labels(wanted: Plan, results: Sequence[Results]) -> list[str]:
    entailed = entailment_label(results).removeprefix("entailment")
    return [
        column["label"] + (entailed if column["ours"].split(":")[-1] in ENTAILMENT else "")
        for column in wanted.columns.values()
    ]


def _unasked(wanted: Plan, results: Sequence[Results]) -> list[str]:
    """Return what to do where a column of entailment stays empty because nobody asked a model about the claims."""
    if not any(column["ours"].split(":")[-1] in ENTAILMENT for column in wanted.columns.values()):
        return []
    lacking = sorted({item.name for item in results if not item.entailment and not item.control})
    done = "score the claims of the closed runs with `trace-dataset entail RUN … --yelp …`, and give this command again"
    return [f"no entailment of {', '.join(lacking)}: {done}"] if lacking else []


def _notes(wanted: Plan, found: Mapping[str, Corpus], missing: Mapping[str, str]) -> list[str]:
    notes = [corpus.described for corpus in found.values()]
    notes += list(dict.fromkeys(corpus.intervals for corpus in found.values()))
    if wanted.most is not None:
        notes.append(f"shortened: the locked configuration is run on no more than {wanted.most:,} dialogues here")
    notes.append(
        "the paper's corpus is another one: orders that follow from the mechanism should agree, values need not"
    )
    notes.append(
        "RejRec literal is the paper's rule, which gives 1.000 to whoever repeats the place last named (parrot)"
    )
    return [*notes, *(f"no run of {name}: {reason}" for name, reason in missing.items())]


def _contrast_table(wanted: Plan, corpus: Corpus, missing: Mapping[str, str]) -> Table:
    at = {result.name: place for place, result in enumerate(corpus.results)}
    rows, sources = [], []
    for item in wanted.contrasts:
        known = item["a"] in at and item["b"] in at
        pair = [(at[item["a"]], at[item["b"]])] if known else []
        own = contrasts(corpus.results, [item["metric"]], pair, corpus.resamples) if known else []
        one = own[0].found if own else None
        shown = "-" if one is None else f"{one.delta:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
        rows.append(
            [
                words(f"{item['a']} - {item['b']}"),
                words(METRICS[item["metric"]].label),
                Cell(shown, one.delta if one else None, one.low if one else None, one.high if one else None),
                Cell(
                    f"{item['delta']:+.3f} [{item['low']:+.3f}, {item['high']:+.3f}]",
                    item["delta"],
                    item["low"],
                    item["high"],
                ),
                number(None if one is None else one.delta - item["delta"], sign=True),
                count(one.n_dialogues if one else 0),
                count(one.n_turns if one else 0),
                words("-" if one is None else "yes" if one.significant else "no"),
                words("yes" if item["significant"] else "no"),
            ]
        )
        sources.append([key for side in ("a", "b") for key in _keys(corpus, item[side])])
    header = [
        "A - B",
        "metric",
        "ours",
        "paper",
        "difference",
        "dialogues",
        "turns n",
        "0 outside, ours",
        "0 outside, paper",
    ]
    title = f"{wanted.title}: ours beside the paper's {wanted.name.replace('-', ' ').title()}"
    notes = _notes(wanted, {"closed": corpus}, missing)
    return Table(f"{wanted.name}-beside-paper", title, header, rows, notes, corpus.warnings, sources)


def _value(closed: Corpus | None, opened: Corpus | None, name: str, ours: str) -> Estimate | None:
    """Return what a column says of a system: `ours` is `[open:][retriever:][turns:|dialogues:|sd:]column`."""
    *before, rest = ours.split(":")
    corpus = opened if before[:1] == ["open"] else closed
    at = _run(corpus, name, next((part for part in before if part in RETRIEVERS[1:]), None))
    if corpus is None or at is None:
        return None
    result = corpus.results[at]
    if "turns" in before or "dialogues" in before:
        return corpus.swept[at][rest]
    if "sd" in before:
        mean = corpus.estimates[at][rest]
        return Estimate(turn_sd([result.turns[rest]]), mean.n, mean.n_null)
    if rest == "pearson":
        return _pearson(result, corpus.resamples)
    if rest in ENTAILMENT:
        return corpus.swept[at].get(ENTAILMENT[rest])
    return corpus.estimates[at][rest]


def _pearson(result: Results, resamples: int) -> Estimate:
    cd, gs = result.turns["cd"], result.turns["gs"]
    pair = Pair(result.owner, len(result.dialogues["dialogue_id"]), numbers(cd), numbers(gs))
    [(low, high)] = correlations([pair], resamples, SEED)
    ends = (None, None) if low != low else (low, high)
    return Estimate(pearson(cd, gs), len(complete_pairs(cd, gs)), 0, *ends)


def _run(corpus: Corpus | None, name: str, retriever: str | None = None) -> int | None:
    """Return the position of a system's run: that with a retriever other than the usual one if it is named, else not that."""
    for at, result in enumerate(corpus.results if corpus else ()):
        other = retriever_of(result) if retriever_of(result) in RETRIEVERS[1:] else None
        if result.name == name and other == retriever:
            return at
    return None


def _keys(corpus: Corpus, name: str) -> list[str]:
    found = [_run(corpus, name, retriever) for retriever in (None, *RETRIEVERS[1:])]
    return [key for at in found if at is not None for key in corpus.sources[at]]
