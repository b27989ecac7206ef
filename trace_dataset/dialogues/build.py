"""The five stages in a row: scenario, candidates, plan and words, validation, difficulty."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from hydrate import render
from hydrate.errors import BundleError, UsageError
from trace_dataset.dialogues.candidates import POOL_SIZE
from trace_dataset.dialogues.composing import Composer, WriterStopped, in_threads
from trace_dataset.dialogues.plan import make_plan
from trace_dataset.dialogues.planned import Plan, PlanFailure
from trace_dataset.dialogues.report import BuildReport, Effort, summarize
from trace_dataset.dialogues.scenario import draw_scenario
from trace_dataset.dialogues.template import TemplateWriter, Writer
from trace_dataset.dialogues.validation import system_text_failures, user_text_failures, validate_dialogue
from trace_dataset.dialogues.views import CellView
from trace_dataset.leaks import RunFinder
from trace_dataset.schema import Dialogue, Turn

if TYPE_CHECKING:
    from trace_dataset.kb import Evidence, KnowledgeBase

MOST_DIALOGUES = 10_000
MOST_ATTEMPTS = 3  # at words for one plan (definitions, 7.4)
MOST_SCENARIOS = 5  # draws for one dialogue id, each after the one before was discarded
LEAST_REJECTIONS = {"easy": 1, "medium": 1, "hard": 2, "expert": 3}
CHUNK = 50


def default_dialogue_count(n_places: int) -> int:
    """Return the paper's ratio, 25 dialogues for every 6 places, at most 10,000.

    Example:
        >>> default_dialogue_count(240), default_dialogue_count(2400)
        (1000, 10000)
    """
    return min(MOST_DIALOGUES, n_places * 25 // 6)


def build_dialogues(
    kb: KnowledgeBase,
    evidence: Evidence,
    *,
    n_dialogues: int,
    seed: int = 42,
    writer: str | Writer = "template",
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Dialogue], BuildReport]:
    """Return dialogues in release form (placeholders, escaped text) and the report of the build.

    Args:
        kb: places and reviews; every cell of city and type with at least eight quotable places is used.
        evidence: what the reviews of each place support.
        n_dialogues: how many; dialogue i is the same whatever this number is.
        seed: of every draw; streams are keyed by dialogue id and stage, so workers and order change nothing.
        writer: `template`, or an object with `name` and `write` (see `template.Writer`), or with `compose` (see `Composer`;
            such a one works in threads of its own, and where it stops, the dialogues that are done are returned).
        workers: processes.
        progress: called with dialogues done and wanted.

    Raises:
        BundleError: no cell has eight places that can be quoted.
        UsageError: a number that is not positive, or a writer that does not exist.

    Example:
        >>> dialogues, report = build_dialogues(kb, evidence, n_dialogues=1000)  # doctest: +SKIP
    """
    if n_dialogues < 1 or workers < 1:
        raise UsageError(
            f"n_dialogues={n_dialogues}, workers={workers}: both have to be 1 or more", do="ask for at least one"
        )
    maker = _Maker(kb, evidence, seed, _writer(writer))
    chunk = 1 if isinstance(maker.writer, Composer) else CHUNK
    chunks = [range(start, min(start + chunk, n_dialogues)) for start in range(0, n_dialogues, chunk)]
    dialogues: list[Dialogue] = []
    effort = Effort()
    for made, spent in _run(maker, chunks, workers):
        dialogues += made
        effort.add(spent)
        if progress is not None:
            progress(len(dialogues) + effort.missing + sum(effort.stops.values()), n_dialogues)
    return dialogues, summarize(dialogues, effort, n_dialogues)


class _Maker:
    """Makes single dialogues; holds the views of the cells, which are filled as they are needed."""

    def __init__(self, kb: KnowledgeBase, evidence: Evidence, seed: int, writer: Writer) -> None:
        self.kb, self.seed, self.writer = kb, seed, writer
        views = (CellView(kb, evidence, cell) for cell in kb.cells if len(kb.cells[cell]) >= POOL_SIZE)
        self.views = {view.cell: view for view in views if len(view.places) >= POOL_SIZE}
        self.cells = sorted(self.views)
        self.finder = RunFinder({review_id: review.text or "" for review_id, review in kb.reviews.items()})
        if not self.cells:
            largest = max((len(places) for places in kb.cells.values()), default=0)
            raise BundleError(
                f"no city and type has {POOL_SIZE} places with a sentence to quote; the largest has {largest}",
                do="use a larger bundle; `trace-dataset inspect` shows what this one holds",
            )

    def many(self, indices: Iterable[int]) -> tuple[list[Dialogue], Effort]:
        effort = Effort()
        found: list[Dialogue] = []
        for index in indices:
            try:
                dialogue = self.one(index, effort)
            except WriterStopped as stop:
                effort.stops[stop.reason] += 1
                continue
            found += [dialogue] if dialogue is not None else []
        return found, effort

    def one(self, index: int, effort: Effort) -> Dialogue | None:
        """Return dialogue `index`, or None where five scenarios in a row had to be discarded."""
        for draw in range(MOST_SCENARIOS):
            scenario = draw_scenario(self.seed, index, self.cells, draw)
            view = self.views[scenario.city, scenario.poi_type]
            plan = make_plan(view, scenario, self.seed, draw)
            effort.pool_redraws += plan.redraws
            effort.tier_falls += plan.falls
            if isinstance(plan, PlanFailure):
                effort.discards.update(plan.reasons)
                continue
            failing: list[str] = []
            if isinstance(self.writer, Composer):
                composed = self._compose(self.writer, plan, view, effort)
                if composed is not None:
                    return composed
                continue
            for attempt in range(1, MOST_ATTEMPTS + 1):
                dialogue = self._write(plan, draw, attempt)
                failing = self.failures(plan, dialogue, view)
                if not failing:
                    return dialogue
                effort.rewrites.update(failing)
            effort.discards["+".join(failing)] += 1
        effort.missing += 1
        return None

    def _write(self, plan: Plan, draw: int, attempt: int) -> Dialogue:
        texts = self.writer.write(plan, self._names(plan), self.seed, draw * MOST_ATTEMPTS + attempt)
        return self._dialogue(plan, texts, self.writer.name, attempt)

    def _compose(self, writer: Composer, plan: Plan, view: CellView, effort: Effort) -> Dialogue | None:
        """Return the dialogue of a writer that tries again by itself, or None where nothing that it has is sound."""

        def check(texts: Sequence[str]) -> list[str]:
            return self.failures(plan, self._dialogue(plan, texts, writer.name, 1), view)

        written = writer.compose(plan, self._names(plan), self.seed, check)
        if written is None:
            effort.discards["no_sound_text"] += 1
            return None
        effort.rewrites.update(written.complaints)
        return self._dialogue(plan, written.texts, written.generator, written.attempts, written.fallback)

    def _names(self, plan: Plan) -> dict[str, str]:
        return {business: self.kb.pois[business].name for business in plan.candidates}

    def _dialogue(
        self, plan: Plan, texts: Sequence[str], generator: str, attempts: int, fallback: bool = False
    ) -> Dialogue:
        turns = tuple(
            Turn(
                index,
                turn.role,
                turn.action,
                text,
                turn.places if turn.role == "system" else (),
                turn.golds,
                turn.alternatives,
                turn.rejected,
                tuple(item.quote for item in turn.quotes),
                turn.citations,
                turn.wishes if turn.role == "user" else (),
            )
            for index, (turn, text) in enumerate(zip(plan.turns, texts, strict=True))
        )
        scenario = plan.scenario
        return Dialogue(
            scenario.dialogue_id,
            scenario.city,
            scenario.poi_type,
            scenario.persona.key,
            scenario.persona.description,
            plan.tier,
            plan.candidates,
            turns,
            generator,
            attempts,
            fallback,
        )

    def failures(self, plan: Plan, dialogue: Dialogue, view: CellView) -> list[str]:
        """Return the checks that a dialogue fails once it is hydrated."""
        labels = self.kb.labels(plan.candidates)
        reviews = {label[1:]: self.kb.reviews[review_id].text or "" for review_id, label in labels.items()}
        names = {business: self.kb.pois[business].name for business in plan.candidates}
        rows: list[dict[str, Any]] = []
        failing: list[str] = []
        for turn, planned in zip(dialogue.turns, plan.turns, strict=True):
            text = render(turn.text, {item.quote.n: item.text for item in planned.quotes})
            rows.append({"role": turn.role, "action": turn.action, "pred": list(turn.poi_ids), "text": text})
            if self.finder.any_run(turn.text) is not None:  # our own words may happen to be a reviewer's
                failing.append("copied_words")
            if turn.role == "system":
                failing += system_text_failures(text, [names[business] for business in turn.poi_ids])
        wishes = [wish for turn in dialogue.turns for wish in turn.constraints]
        golds = {business for turn in dialogue.turns for business in turn.gold_poi_ids}
        failing += user_text_failures(
            [row["text"] for row in rows if row["role"] == "user"],
            list(names.values()),
            view.telling(sorted(golds), wishes),
        )
        failing += validate_dialogue(rows, plan.candidates, reviews, min_rejections=LEAST_REJECTIONS[plan.tier])
        return sorted(set(failing))


def _writer(writer: str | Writer) -> Writer:
    if not isinstance(writer, str):
        return writer
    if writer == "template":
        return TemplateWriter()
    raise UsageError(
        f"there is no writer called {writer!r}", do="use template, or hand over an object with name and write()"
    )


_maker: _Maker | None = None  # of a worker process


def _start(maker: _Maker) -> None:
    global _maker
    _maker = maker


def _work(indices: Sequence[int]) -> tuple[list[Dialogue], Effort]:
    assert _maker is not None
    return _maker.many(indices)


def _run(maker: _Maker, chunks: Sequence[range], workers: int) -> Iterable[tuple[list[Dialogue], Effort]]:
    if isinstance(maker.writer, Composer):
        yield from in_threads(maker.many, chunks, maker.writer.threads)
        return
    if workers == 1 or len(chunks) == 1:
        yield from (maker.many(chunk) for chunk in chunks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(chunks)), context, _start, (maker,)) as pool:
        yield from pool.map(_work, chunks)
