"""Which runs may stand in one table, under which names, and what must be said where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.analysis.formats import Table, count, words
from trace_dataset.analysis.swept import swept
from trace_dataset.evaluation.bootstrap import RESAMPLES, SEED
from trace_dataset.evaluation.results import Estimate, Results, estimate_all
from trace_dataset.lm_baseline import RETRIEVERS
from trace_dataset.release.generator import TRACE_TEMPLATE

CONTROL_MARK = " †"
# what makes numbers incomparable, and how a reader knows it
DIFFERENCES = {
    "content_digest": "benchmark (content digest)",
    "bundle_fingerprint": "Yelp bundle",
    "version": "version of the code that built and ran them",
    "scores": "version of the metrics",
    "split": "split",
    "limit": "number of dialogues",
}

DIGESTS = ("content_digest", "bundle_fingerprint", "version", "code")


@dataclass(frozen=True)
class Corpus:
    """Runs over one pool, each with a name of its own; the rows of a table, in order, controls last."""

    results: tuple[Results, ...]
    resamples: int = RESAMPLES

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The rows' names: the baseline's, with what tells runs of one baseline apart, and a mark on controls."""
        return row_names(self.results)

    @cached_property
    def estimates(self) -> list[dict[str, Estimate]]:
        """Every run's estimates, with intervals from shared draws."""
        return estimate_all(self.results, self.resamples, SEED)

    @cached_property
    def swept(self) -> list[dict[str, Estimate]]:
        """Every run's means of the columns that only sensitivity tables speak of, with intervals from shared draws."""
        return swept(self.results, self.resamples, SEED)

    @cached_property
    def warnings(self) -> list[str]:
        """What a reader must be told before comparing rows; empty where the runs belong together."""
        return differences(self.results)

    @property
    def systems(self) -> list[int]:
        """Positions of the rows that are no controls."""
        return [at for at, result in enumerate(self.results) if not result.control]

    @property
    def groups(self) -> dict[str, list[int]]:
        """Positions of the systems that ask no language model, and of those that do; only what is there."""
        found: dict[str, list[int]] = {"systems without a language model": [], "systems with a language model": []}
        for at in self.systems:
            found[list(found)[model_of(self.results[at]) is not None]].append(at)
        return {title: places for title, places in found.items() if places}

    @property
    def intervals(self) -> str:
        """What an interval of a table is, for notes."""
        return f"[low, high]: 95 % bootstrap interval over dialogues, {self.resamples:,} resamples, seed {SEED}"

    @property
    def sources(self) -> list[list[str]]:
        """For each row the key of its run."""
        return [[run_key(result)] for result in self.results]

    @property
    def pool(self) -> str:
        """The candidate pool that all runs share."""
        return str(self.results[0].settings["pool"])

    @property
    def described(self) -> str:
        """The corpus in a line, for notes."""
        settings = self.results[0].settings
        sizes = sorted({len(result.dialogues["dialogue_id"]) for result in self.results})
        return (
            f"{' or '.join(f'{size:,}' for size in sizes)} dialogues, pool {self.pool}, split {settings['split']}, benchmark "
            f"{settings['content_digest'][:12]}, bundle {settings['bundle_fingerprint'][:12]}"
        )

    @property
    def comparable(self) -> list[list[int]]:
        """Positions of runs over the same dialogues of the same benchmark, group by group, for paired comparisons."""
        groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for at, result in enumerate(self.results):
            key = (str(result.settings["content_digest"]), tuple(result.dialogues["dialogue_id"]))
            groups.setdefault(key, []).append(at)
        return list(groups.values())


def corpora(results: Sequence[Results], resamples: int = RESAMPLES) -> dict[str, Corpus]:
    """Return the runs by pool, in the order closed, 16, 32, open.

    Raises:
        UsageError: no run, one run twice, or runs over dialogues that a grammar wrote beside such that a model wrote.
    """
    if not results:
        raise UsageError("there are no runs to report", do="run a baseline first: trace-dataset run tfidf --yelp …")
    twice = [key for key, times in Counter(map(run_key, results)).items() if times > 1]
    if twice:
        raise UsageError(f"run {twice[0]} was given more than once", do="name each run folder once")
    writers = sorted({writer_of(result) for result in results})
    if len(writers) > 1:
        raise UsageError(
            f"these runs are over dialogues of {' and of '.join(writers)}: what a grammar wrote and what a language model "
            "wrote are never compared in one table",
            do="report them apart",
        )
    order = {"closed": 0, "16": 1, "32": 2, "open": 3}
    pools = sorted({str(result.settings["pool"]) for result in results}, key=lambda pool: order.get(pool, 9))
    return {
        pool: Corpus(
            tuple(
                sorted((item for item in results if str(item.settings["pool"]) == pool), key=lambda item: item.control)
            ),
            resamples,
        )
        for pool in pools
    }


def row_names(results: Sequence[Results]) -> tuple[str, ...]:
    """Return one name a run: two runs of one baseline are told apart by their fingerprints."""
    shown = [", ".join([result.name, *told_apart(result)]) for result in results]
    times = Counter(shown)
    return tuple(
        (name if times[name] == 1 else f"{name} ({run_key(result)})") + (CONTROL_MARK if result.control else "")
        for name, result in zip(shown, results, strict=True)
    )


def writer_of(result: Results) -> str:
    """Return what kind of writer made the dialogues of a run: `trace-template` or `trace-lm`."""
    return str(result.settings.get("generator") or TRACE_TEMPLATE)  # runs of earlier versions had no other


def told_apart(result: Results) -> list[str]:
    """Return what tells runs of one baseline apart: the language model, and a retriever other than the usual."""
    model, retriever = model_of(result), retriever_of(result)
    return [part for part in (model, retriever if retriever in RETRIEVERS[1:] else None) if part]


def model_of(result: Results) -> str | None:
    """Return the name of the language model that a run asked; None for a run that asked none."""
    asked = _parameters(result).get("lm")
    return str(asked["name"]) if isinstance(asked, dict) and asked.get("name") else None


def retriever_of(result: Results) -> str | None:
    """Return what chose the places that the model of a run was shown; None for a run that asked none."""
    parameters = _parameters(result)
    return str(parameters.get("retriever") or RETRIEVERS[0]) if "lm" in parameters else None


def _parameters(result: Results) -> Mapping[str, Any]:
    parameters = result.settings.get("parameters")
    return parameters if isinstance(parameters, dict) else {}


def run_key(result: Results) -> str:
    """Return the short name of a run: the first eight digits of its fingerprint."""
    return result.fingerprint[:8]


def differences(results: Sequence[Results]) -> list[str]:
    """Return a warning for each thing that must be equal for rows to be compared, and is not."""
    found = []
    for key, what in DIFFERENCES.items():
        values: dict[str, list[str]] = {}
        for result, name in zip(results, row_names(results), strict=True):
            values.setdefault(_value(result, key), []).append(name)
        if len(values) > 1:
            most = 12 if key in DIGESTS else None  # the first of a digest say enough
            shown = "; ".join(f"{value[:most]}: {_few(names)}" for value, names in values.items())
            found.append(f"these rows differ in {what} and may not be compared ({shown})")
    return found


def sources_table(results: Sequence[Results]) -> Table:
    """Return what every number of a report rests on: one row a run, with fingerprints and versions."""
    header = [
        "run", "system", "pool", "split", "dialogues", "system turns", "failed turns", "benchmark", "bundle", "code",
        "baseline's code", "metrics", "seed",
    ]  # fmt: skip
    rows = [
        [
            words(run_key(item)),
            words(item.name + (CONTROL_MARK if item.control else "")),
            words(item.settings["pool"]),
            words(item.settings["split"]),
            count(len(item.dialogues["dialogue_id"])),
            count(len(item.turns["dialogue_id"])),
            count(item.n_failed),
            *(words(str(item.settings.get(key, "-"))[:16]) for key in DIGESTS),
            words(_value(item, "scores")),
            words(item.settings.get("seed", "-")),
        ]
        for item in results
    ]  # fmt: skip
    notes = [f"fingerprint in full, {run_key(item)}: {item.fingerprint}" for item in results]
    return Table(
        "runs", "What every number rests on", header, rows, [f"{CONTROL_MARK.strip()} control, not a system", *notes]
    )


def _value(result: Results, key: str) -> str:
    if key == "scores":
        return "/".join(f"{name} {value}" for name, value in sorted(result.versions.items())) or "unknown"
    value: Any = result.settings.get(key)
    if key == "limit":
        return f"{len(result.dialogues['dialogue_id'])} dialogues"
    return str(value)


def _few(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def by_key(results: Sequence[Results]) -> Mapping[str, Results]:
    """Return the runs by the key that tables name them with."""
    return {run_key(result): result for result in results}
