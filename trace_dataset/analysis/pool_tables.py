"""What other golds and wider pools change: multi-reference lift, open-set drop, pool-size curve, retriever ablation."""

from __future__ import annotations

from collections.abc import Mapping

from trace_dataset.analysis.corpus import Corpus, differences, retriever_of
from trace_dataset.analysis.formats import Cell, Table, count, estimate, number, points, words
from trace_dataset.evaluation.bootstrap import compare
from trace_dataset.evaluation.results import Results
from trace_dataset.lm_baseline import RETRIEVERS
from trace_dataset.scoring.aggregate import summarize

POOL_NOTE = "a pool of 16 or 32 holds no more places than its city and type: with fewer, wider pools are the same"
POOL_SIZES = {"closed": "8", "16": "16", "32": "32", "open": "open (the whole city and type)"}


def multi_reference_table(corpus: Corpus) -> Table:
    """Return R@1 against the gold and against gold or alternatives, over all turns and over those with alternatives."""
    header = ["system", "R@1", "R@1 multi", "lift, points", "turns n"]
    header += ["R@1 there", "R@1 multi there", "lift there, points", "turns with alternatives"]
    rows = []
    for at, name in enumerate(corpus.names):
        whole, found = corpus.estimates[at], corpus.swept[at]
        rows.append(
            [
                words(name),
                *(estimate(whole[metric]) for metric in ("recall_at_1", "recall_at_1_multi")),
                points(found["lift"]),
                count(whole["recall_at_1"].n),
                *(estimate(found[column]) for column in ("recall_there", "multi_there")),
                points(found["lift_there"]),
                count(found["recall_there"].n),
            ]
        )
    notes = [
        corpus.described,
        corpus.intervals,
        "alternatives: candidates that the reference marks as also satisfying what was asked so far",
    ]
    return Table(
        f"multi-reference-{corpus.pool}",
        f"Multi-reference lift, pool {corpus.pool}",
        header,
        rows,
        notes,
        corpus.warnings,
        corpus.sources,
    )


def pool_table(corpora: Mapping[str, Corpus]) -> Table | None:
    """Return R@1 by pool, with the drop from the closed pool to the widest; None with a single pool."""
    if len(corpora) < 2:
        return None
    lines = pool_lines(corpora)
    rows, sources = [], []
    for name, found in lines.items():
        cells = [
            estimate(found[pool][0].estimates[found[pool][1]]["recall_at_1"]) if pool in found else Cell("-", None)
            for pool in corpora
        ]
        rows.append([words(name), *cells, *_drop(found)])
        sources.append([key for corpus, at in found.values() for key in corpus.sources[at]])
    every = [result for corpus in corpora.values() for result in corpus.results]
    header = [
        "system",
        *(f"pool {POOL_SIZES.get(pool, pool)}" for pool in corpora),
        *("drop, points", "drop, relative", "95 % interval of the drop", "dialogues shared"),
    ]
    note = (
        "drop: from the smallest to the widest pool of a system, over the same dialogues; paired cluster bootstrap, "
        f"{next(iter(corpora.values())).resamples:,} resamples, seed 42"
    )
    return Table("pools", "R@1 by candidate pool", header, rows, [note, POOL_NOTE], differences(every), sources)


def pool_lines(corpora: Mapping[str, Corpus]) -> dict[str, dict[str, tuple[Corpus, int]]]:
    """Return for each system its run over each pool, as a corpus and a position in it."""
    lines: dict[str, dict[str, tuple[Corpus, int]]] = {}
    for pool, corpus in corpora.items():
        for at, name in enumerate(corpus.names):
            lines.setdefault(name, {})[pool] = (corpus, at)
    return lines


def ablation_table(opened: Corpus | None) -> Table | None:
    """Return the counterpart of Table 25: what a prefilter of 16 leaves of the open pool, and what systems make of it.

    Recall@16 of a retriever's own ranking bounds the R@1 of every system that is shown its best 16. A system that asks a
    model says in its parameters which retriever chose for it. None without a retriever's run over the open pool.
    """
    chosen = [at for at, item in enumerate(opened.results) if _retriever(item)] if opened is not None else []
    if opened is None or not chosen:
        return None
    rows = [
        [
            words(opened.names[at]),
            words(_retriever(opened.results[at])),
            *(estimate(opened.estimates[at][metric]) for metric in ("recall_at_1", "cd", "gs")),
            estimate(opened.swept[at]["ranking_recall_at_16"]),
            count(opened.swept[at]["ranking_recall_at_16"].n),
        ]
        for at in chosen
    ]
    return Table(
        "table-25",
        "Retrievers over the open pool (paper: Table 25)",
        ["system", "retriever", "R@1", "CD", "GS", "Recall@16 of the ranking", "turns n"],
        rows,
        [
            opened.described,
            opened.intervals,
            "Recall@16 of a retriever's ranking bounds R@1 of a system that is shown its best 16",
        ],
        opened.warnings,
        [opened.sources[at] for at in chosen],
    )


def _retriever(result: Results) -> str | None:
    return result.name if result.name in RETRIEVERS else retriever_of(result)


def _drop(found: Mapping[str, tuple[Corpus, int]]) -> list[Cell]:
    pools = list(found)
    first, last = (found[pool][0].results[found[pool][1]] for pool in (pools[0], pools[-1]))
    shared = set(first.dialogues["dialogue_id"]) & set(last.dialogues["dialogue_id"])
    if len(pools) < 2 or not shared or first.settings["content_digest"] != last.settings["content_digest"]:
        return [Cell("-", None)] * 4
    first, last = first.among(shared), last.among(shared)
    start, end = (summarize(item.turns["recall_at_1"]).mean for item in (first, last))
    difference = compare(_by_dialogue(last), _by_dialogue(first), found[pools[0]][0].resamples)
    if start is None or end is None or difference is None:
        return [Cell("-", None)] * 4
    interval = f"[{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"
    return [
        number(100 * (end - start), 1, sign=True),
        words(f"{(end - start) / start:+.1%}" if start else "-"),
        Cell(interval, interval),
        count(len(shared)),
    ]


def _by_dialogue(result: Results) -> list[list[float | None]]:
    rows: list[list[float | None]] = [[] for _ in result.dialogues["dialogue_id"]]
    for owner, value in zip(result.owner, result.turns["recall_at_1"], strict=True):
        rows[owner].append(value)
    return rows
