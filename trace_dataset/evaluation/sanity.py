"""Is a benchmark sound? Bounds that must hold, orders that must come out, shortcuts that must not pay.

Every figure comes with a 95 % interval from the spread between dialogues. An order is a verdict only where the interval of
the difference leaves out 0; on a small bundle many do not, and the check then says so and neither passes nor fails. The
dialogues of a cell share its places, so on a bundle of few cells no order is a verdict, whatever the interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.evaluation.controls import control
from trace_dataset.evaluation.evaluate import evaluate_baseline
from trace_dataset.evaluation.evidence_checks import evidence_checks
from trace_dataset.evaluation.shortcuts import Ranker, Skeleton, at_position, shortcuts
from trace_dataset.evaluation.spread import USUAL, Mean, difference
from trace_dataset.installed import hub_names
from trace_dataset.pools import POOLS
from trace_dataset.release import Benchmark
from trace_dataset.schema import RECOMMENDING, Dialogue, Turn
from trace_dataset.scoring.recovery import recovery_counts
from trace_dataset.turns import PastTurn, TurnContext

__all__ = ["Check", "check_benchmark"]

MOST_DIALOGUES = 2_000  # looked at; the first ids, which are spread evenly over cells and personas
PIPELINE_DIALOGUES = 100  # run through the runner and all metrics, for the oracle
FEWEST_CELLS = 12  # half of the paper's; with fewer, a handful of places may decide an order (decisions, item 26)
STRICT = 3.29  # standard errors: 1 in 1,000, for what must hold whatever the seed
RANKERS = ("popularity", "tfidf", "aspect")  # those of them that are installed; they need no model
SEED = 42
Progress = Callable[[str, int, int], None]  # stage, done, total


@dataclass(frozen=True)
class Check:
    """One check: what was found, what it is held against, and whether it holds; None where the data cannot tell.

    A control has no bound and so no verdict: it stands beside the others so that they can be read.
    """

    name: str
    value: str
    bound: str
    passed: bool | None
    n: int

    def __str__(self) -> str:
        mark = {True: "ok", False: "FAILS", None: "-"}[self.passed]
        return f"{mark:<6} {self.name:<58} {self.value:<46} {self.bound} (n {self.n:,})"


def check_benchmark(benchmark: Benchmark, progress: Progress | None = None) -> list[Check]:
    """Return the checks of a hydrated benchmark; about ten seconds for 1,000 dialogues.

    Args:
        benchmark: with review text; at most its first 2,000 dialogues by id are looked at.
        progress: called with stage, checks done and checks in all.

    Example:
        >>> [check.name for check in check_benchmark(benchmark) if check.passed is False]  # doctest: +SKIP
        []
    """
    trial = _Trial(benchmark)
    parts: list[Callable[[], list[Check]]] = [
        trial.oracle,
        trial.no_rejections,
        trial.chance,
        trial.orders,
        trial.wider_pools,
        trial.new_wish,
        trial.shortcuts,
        trial.skeleton,
        trial.controls,
        lambda: [Check(*row) for row in evidence_checks(benchmark, trial.dialogues)],
    ]
    checks: list[Check] = []
    for done, part in enumerate(parts, 1):
        found = part()
        checks += [_undecided(check, trial.cells) for check in found] if part in trial.by_places else found
        if progress is not None:
            progress("checking", done, len(parts))
    return checks


class _Trial:
    """Rankings of everything that is compared, each made once."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.dialogues = sorted(benchmark.dialogues, key=lambda item: item.dialogue_id)[:MOST_DIALOGUES]
        self.baselines: dict[str, Baseline] = {
            name: load_baseline(name) for name in RANKERS if name in hub_names("baselines")
        }
        self.baselines |= {name: control(name, []) for name in ("random", "random_unseen", "parrot")}
        for baseline in self.baselines.values():
            baseline.prepare(benchmark.kb)
        self.cells = len({(item.city, item.poi_type) for item in self.dialogues})
        self.by_places = (self.orders, self.wider_pools, self.new_wish, self.shortcuts, self.skeleton, self.controls)
        self._hits: dict[tuple[str, str], Mean] = {}
        self.size = Mean.of([[len(item.candidates) for _ in _golds(item)] for item in self.dialogues]).value or 8.0

    def hits(self, name: str, pool: str = "closed", rank: Ranker | None = None) -> Mean:
        """Return R@1 of a ranker over all recommending turns."""
        if (name, pool) not in self._hits:
            rank = rank or self.baselines[name].rank
            rows = [
                [float(rank(context)[0] == turn.gold_poi_ids[0]) for turn, context in self._turns(item, pool, name)]
                for item in self.dialogues
            ]
            self._hits[name, pool] = Mean.of(rows)
        return self._hits[name, pool]

    def _turns(self, dialogue: Dialogue, pool: str, use: str) -> list[tuple[Turn, TurnContext]]:
        found = turn_contexts(dialogue, self.benchmark.kb.cells, pool, SEED, use)
        return [(dialogue.turns[index], context) for index, context in found if dialogue.turns[index].gold_poi_ids]

    def oracle(self) -> list[Check]:
        """Someone who knows the answers scores 1 on every count, through the runner and the metrics as they are."""
        found = evaluate_baseline("oracle", self.benchmark, limit=PIPELINE_DIALOGUES).estimates(resamples=1)
        names = ("recall_at_1", "tsr", "rejection_recovery")
        values = [found[name].value for name in names]
        shown = ", ".join("-" if value is None else f"{value:.3f}" for value in values)
        whole = all(value is None or value == 1.0 for value in values) and values[0] is not None
        return [Check("oracle: R@1, success, recovery", shown, "= 1", whole, found["recall_at_1"].n)]

    def no_rejections(self) -> list[Check]:
        """Where nobody rejects anything, recovery has no value; it is neither 0 nor 1 (decisions, item 23)."""
        quiet = [
            replace(
                item, turns=tuple(replace(turn, action=_quiet(turn.action), rejected_poi_ids=()) for turn in item.turns)
            )
            for item in self.dialogues[:10]
        ]
        other = replace(self.benchmark, dialogues=quiet)
        other.finder = self.benchmark.finder  # over the same texts
        found = evaluate_baseline("oracle", other).estimates(resamples=1)["rejection_recovery"]
        value = f"{'null' if found.value is None else found.value}, n = {found.n}"
        return [
            Check(
                "recovery without rejections", value, "= null, n = 0", found.value is None and not found.n, len(quiet)
            )
        ]

    def chance(self) -> list[Check]:
        """A random order hits one in as many as the pool holds."""
        hits = self.hits("random")
        low, high = hits.interval(STRICT)
        bound = 1 / self.size
        return [Check("random: R@1", str(hits), f"= 1/pool = {bound:.3f}", low <= bound <= high, hits.n)]

    def orders(self) -> list[Check]:
        """Popularity below TF-IDF below an oracle."""
        tfidf = self.hits("tfidf")
        return [
            _order("R@1: popularity < tfidf", self.hits("popularity"), tfidf),
            Check("R@1: tfidf < oracle", str(tfidf), "< 1", tfidf.interval(STRICT)[1] < 1, tfidf.n),
        ]

    def wider_pools(self) -> list[Check]:
        """Every ranker finds it harder among all places of the cell than among eight."""
        checks = []
        for name in [*(name for name in RANKERS if name in self.baselines), "random"]:
            wide, closed = self.hits(name, POOLS[-1]), self.hits(name)
            checks.append(_order(f"R@1 of {name}: open < closed", wide, closed))
        return checks

    def new_wish(self) -> list[Check]:
        """TF-IDF does worse on the turn after a rejection when it is not told what the user asked for instead."""
        rank = self.baselines["tfidf"].rank
        told: list[list[float]] = []
        untold: list[list[float]] = []
        for item in self.dialogues:
            told.append([])
            untold.append([])
            for turn, context in self._turns(item, "closed", "tfidf"):
                last = context.history[-1]
                if last.action != "reject_and_refine":
                    continue
                deaf = replace(context, history=(*context.history[:-1], _silent(last)))
                told[-1].append(float(rank(context)[0] == turn.gold_poi_ids[0]))
                untold[-1].append(float(rank(deaf)[0] == turn.gold_poi_ids[0]))
        return [_order("R@1 of tfidf after a rejection: new wish deleted < told", Mean.of(untold), Mean.of(told))]

    def shortcuts(self) -> list[Check]:
        """Rankers that look at nothing that matters stay at the level of chance or of popularity."""
        bound = max(1 / self.size, self.hits("popularity").interval()[1])
        pois = self.benchmark.kb.pois
        places = min(len(item.candidates) for item in self.dialogues)
        positions = [self.hits(f"position {k + 1}", rank=at_position(k)) for k in range(places)]
        best = max(range(places), key=lambda k: (positions[k].value or 0.0, -k))
        found = {
            f"position {best + 1} of the candidates, the best of {places}": positions[best],
            "last place named (parrot)": self.hits("parrot"),
            "any place not named before": self.hits("random_unseen"),
        }
        found |= {name: self.hits(name, rank=rank) for name, rank in shortcuts(pois).items()}
        wanted = f"<= {bound:.3f}, chance or popularity"
        checks = []
        for name, hits in found.items():
            passed = _not_above(hits, bound, STRICT if "position" in name else USUAL)
            doubt = ": no verdict, the interval holds it" if passed is None else ""
            checks.append(Check(f"shortcut: {name}", str(hits), wanted + doubt, passed, hits.n))
        return checks

    def skeleton(self) -> list[Check]:
        """The order of actions and names alone says less than the wishes do; learned on every other dialogue."""
        learned = Skeleton()
        for item in self.dialogues[::2]:
            for turn, context in self._turns(item, "closed", "skeleton"):
                learned.learn(context, turn.gold_poi_ids[0])
        rest = Mean.of(
            [
                [float(learned.rank(context)[0] == turn.gold_poi_ids[0]) for turn, context in turns]
                for turns in (self._turns(item, "closed", "skeleton") for item in self.dialogues[1::2])
            ]
        )
        tfidf = self.hits("tfidf")
        told = Mean(tfidf.sums[1::2], tfidf.counts[1::2])
        return [_order("R@1: best rule from actions and names alone < tfidf", rest, told)]

    def controls(self) -> list[Check]:
        """Figures without a bound, to read the others by (decisions, items 14 and 23)."""
        checks = [
            _order("R@1: parrot < tfidf", self.hits("parrot"), self.hits("tfidf")),
        ]
        unseen = self._recovery("random_unseen")
        checks.append(Check("control: recovery of random_unseen", str(unseen), "", None, unseen.n))
        for name in [*(name for name in RANKERS if name in self.baselines), "parrot"]:
            found = self._recovery(name)
            above = difference(unseen, found)[1] > 0
            checks.append(
                Check(
                    f"control: recovery of {name}", str(found), "" if above else "no better than chance", None, found.n
                )
            )
        return checks

    def _recovery(self, name: str) -> Mean:
        """Return rejection recovery of a ranker that names one place when recommending and two when comparing."""
        sums, counts = [], []
        for item in self.dialogues:
            named = {
                len(context.history): self.baselines[name].rank(context)[: 2 if context.action == "compare" else 1]
                for _, context in self._turns(item, "closed", name)
            }
            turns = [
                {
                    "role": turn.role,
                    "action": turn.action,
                    "pred": named.get(turn.index, []),
                    "rejected": turn.rejected_poi_ids,
                }
                for turn in item.turns
            ]
            golds = {place for turn in item.turns if turn.action in RECOMMENDING for place in turn.poi_ids}
            recovered, rejections = recovery_counts(turns, golds)
            sums.append(float(recovered))
            counts.append(float(rejections))
        return Mean(tuple(sums), tuple(counts))


def _order(name: str, lower: Mean, higher: Mean) -> Check:
    """Hold one mean below another, by the interval of the difference over the same dialogues."""
    delta, low, high = difference(lower, higher)
    value = f"{lower.shown} < {higher.shown}, apart {delta:+.3f} [{low:+.3f}, {high:+.3f}]"
    passed = True if low > 0 else False if high < 0 else None
    return Check(
        name,
        value,
        "apart > 0" if passed is not None else "apart > 0: no verdict, the interval holds 0",
        passed,
        lower.n,
    )


def _not_above(found: Mean, bound: float, errors: float) -> bool | None:
    """Return True up to a bound, False clearly above it, None where the interval holds it."""
    if found.value is None or found.value <= bound:
        return True
    return False if found.interval(errors)[0] > bound else None


def _undecided(check: Check, cells: int) -> Check:
    """Take back a verdict that so few cells cannot carry."""
    if check.passed is None or cells >= FEWEST_CELLS:
        return check
    return replace(check, bound=f"{check.bound}: no verdict from {cells} cells", passed=None)


def _golds(dialogue: Dialogue) -> list[Turn]:
    return [turn for turn in dialogue.turns if turn.gold_poi_ids]


def _quiet(action: str) -> str:
    return "inform" if action == "reject_and_refine" else action


def _silent(turn: PastTurn) -> PastTurn:
    return replace(turn, text="")
