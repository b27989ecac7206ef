"""An LLM judge rates stored responses on five scales (M17 to M21): asked through DSPy, checked strictly, resumable.

The judge sees the conversation, the response and the reviews it cites, never which system wrote it. A rating that is missing
or not a whole number from 1 to 5 is null, and so are all five where the service failed; no default stands in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trace_dataset.evaluation.columns import turn_columns
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.lm import SERVICE, Answer, Journal, LanguageModel, LmStopped, Number, Usage
from trace_dataset.release import Benchmark
from trace_dataset.schema import Dialogue
from trace_dataset.scoring.aggregate import Summary
from trace_dataset.scoring.judge import HIGHEST, LOWEST, SCALES, judge_parse, judge_summaries
from trace_dataset.streams import digest

TRIES = 2  # of a reply that is no set of ratings
PATIENCE = 5  # responses in a row that the service failed; then the judging is stopped
VERSION = 1  # part of a journal's settings: another prompt is another judging
ABOUT: Mapping[str, str] = {
    "relevance": "does the response address what the user needs?",
    "informativeness": "is it specific, and can one act on it?",
    "grounding_quality": "is what it claims backed by the reviews it cites?",
    "natural_flow": "does it read like a person in conversation?",
    "justification": "is the recommendation well argued?",
}
INSTRUCTIONS = (
    "Rate the assistant's response to the conversation on five scales from 1 (very poor) to 5 (excellent). Rate the response "
    "as it stands; the cited reviews are the only evidence."
)
FIELDS = {scale: Number(ABOUT[scale], LOWEST, HIGHEST) for scale in SCALES}
Ratings = dict[str, int | None]


@dataclass(frozen=True, slots=True)
class JudgeItem:
    """What a judge sees of one response."""

    conversation: str
    response: str
    cited_reviews: tuple[str, ...] = ()

    @property
    def inputs(self) -> dict[str, str]:
        """The inputs of the question."""
        cited = "\n".join(f"- {' '.join(text.split())}" for text in self.cited_reviews)
        return {"conversation": self.conversation, "response": self.response, "cited_reviews": cited or "none"}


@dataclass(frozen=True)
class Judgement:
    """Ratings, one set an item.

    Attributes:
        turns: (dialogue id, turn index) of each item, where they come from a run.
        ratings: by scale 1 to 5, or None.
        failures: items without five ratings, by reason (a key of `trace_dataset.lm.REASONS`).
        usage: tokens and cost of this judging; what a journal held already is not in it.
    """

    ratings: list[Ratings]
    failures: Mapping[str, int]
    usage: Usage
    turns: list[tuple[str, int]] = field(default_factory=list)

    def summaries(self) -> dict[str, Summary]:
        """Return for each scale the mean of the valid ratings, with how many there are and how many are null."""
        return judge_summaries(self.ratings)


def judge_items(
    lm: LanguageModel,
    items: Sequence[JudgeItem],
    *,
    journal: Journal | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Rate responses one by one.

    Args:
        lm: the judge, from `trace_dataset.lm.open_lm`.
        journal: ratings that were paid for, by the hash of what the judge saw; a second judging takes them from there. Open it
            with `judge_settings(lm)`.

    Raises:
        LmStopped: the budget is spent, the key refused, or the service failed several items in a row.

    Example:
        >>> with open_lm("local") as lm:  # doctest: +SKIP
        ...     judge_items(lm, [JudgeItem("traveller: tacos?", "Try Blue Door.")]).summaries()["relevance"]
    """
    ratings: list[Ratings] = []
    failures: Counter[str] = Counter()
    usage, failed_in_a_row = Usage(), 0
    for number, item in enumerate(items, 1):
        key = digest(*item.inputs.values()).hex()
        known = journal.records(key) if journal is not None else []
        if known:
            found, reason = dict(known[-1]["ratings"]), known[-1]["reason"]
        else:
            found, reason, detail, spent = _rate(lm, item)
            usage = usage + spent
            unavailable = reason in SERVICE
            failed_in_a_row = failed_in_a_row + 1 if unavailable else 0
            if reason == "authentication" or failed_in_a_row >= PATIENCE:
                raise LmStopped(
                    f"the judge is unavailable: {reason} {detail}".strip(), do="see to it, and judge again to go on"
                )
            if journal is not None and not unavailable:
                journal.append(key, {"ratings": found, "reason": reason})
        ratings.append(found)
        if reason is not None:
            failures[reason] += 1
        if progress is not None:
            progress(number, len(items))
    return Judgement(ratings, dict(failures), usage)


def judge_run(
    lm: LanguageModel,
    run: RunFolder,
    benchmark: Benchmark,
    *,
    limit: int | None = None,
    journal: Journal | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Judgement:
    """Rate the responses of a run, turn by turn; turns that failed hold no response and are left out.

    Args:
        limit: only the first dialogues.
        journal, progress: see `judge_items`.
    """
    split = None if run.settings["split"] == "all" else str(run.settings["split"])
    dialogues = benchmark.split(split)[: run.settings["limit"]][:limit]
    wanted = {dialogue.dialogue_id for dialogue in dialogues}
    responses = [item for item in run.responses() if item.dialogue_id in wanted]
    columns = turn_columns(dialogues, responses, benchmark.texts)
    by_id = {dialogue.dialogue_id: dialogue for dialogue in dialogues}
    items, turns = [], []
    for row, (identifier, index) in enumerate(zip(columns.dialogue_ids, columns.turn_indexes, strict=True)):
        if columns.failed[row]:
            continue
        cited = columns.cited_reviews[columns.offsets[row] : columns.offsets[row + 1]]
        items.append(JudgeItem(_conversation(by_id[identifier], index), columns.texts[row], tuple(cited)))
        turns.append((identifier, index))
    found = judge_items(lm, items, journal=journal, progress=progress)
    return Judgement(found.ratings, found.failures, found.usage, turns)


def judge_settings(lm: LanguageModel) -> dict[str, Any]:
    """Return what ratings depend on besides what is rated: the settings of a journal of them."""
    return {"judge": lm.signature, "prompt": digest(VERSION, INSTRUCTIONS, *ABOUT.values()).hex()[:16], "tries": TRIES}


def _rate(lm: LanguageModel, item: JudgeItem) -> tuple[Ratings, str | None, str, Usage]:
    """Return the ratings of one response, why some are missing, and what it took; the reply with most ratings is kept."""
    best: Ratings = dict.fromkeys(SCALES)
    usage = Usage()
    reason, detail = None, ""
    for number in range(TRIES):
        outcome = lm.ask(INSTRUCTIONS, item.inputs, FIELDS, variation=number)
        usage = usage + outcome.usage
        if isinstance(outcome, Answer):
            return {scale: int(outcome.values[scale]) for scale in SCALES}, None, "", usage
        if outcome.reason == "budget":
            raise LmStopped(f"the budget is spent: {outcome.detail}", do="give a larger one, and judge again to go on")
        reason, detail = outcome.reason, outcome.detail
        if reason in SERVICE:
            break
        found = judge_parse(outcome.raw)
        if _valid(found) > _valid(best):
            best = found
    return best, reason, detail, usage


def _valid(ratings: Ratings) -> int:
    return sum(value is not None for value in ratings.values())


def _conversation(dialogue: Dialogue, index: int) -> str:
    said = [turn for turn in dialogue.turns if turn.index < index]
    return "\n".join(
        f"{'user' if turn.role == 'user' else 'assistant'}: {' '.join(turn.text.split())}" for turn in said
    )
