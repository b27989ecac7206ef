"""Checks of a benchmark's own texts: who names whom, what the quotes say, and whether scores notice swapped evidence."""

from __future__ import annotations

from collections.abc import Sequence

from trace_dataset.evaluation.spread import Mean, difference
from trace_dataset.kb import Evidence, Span, collect_evidence
from trace_dataset.release import Benchmark
from trace_dataset.schema import RECOMMENDING, Constraint, Dialogue, Quote, Turn
from trace_dataset.scoring.grounding import score_turns
from trace_dataset.scoring.text import tokenize

QUOTES = 1_000  # looked at, for polarity
TURNS = 1_000  # scored twice, for swapped evidence
Row = tuple[str, str, str, bool | None, int]  # name, value, bound, passed, n


def evidence_checks(benchmark: Benchmark, dialogues: Sequence[Dialogue]) -> list[Row]:
    """Return the checks of texts and quotes; `dialogues` are hydrated."""
    return [swapped_evidence(benchmark, dialogues), unseen_names(benchmark, dialogues), polarity(benchmark, dialogues)]


def swapped_evidence(benchmark: Benchmark, dialogues: Sequence[Dialogue]) -> Row:
    """Citing the reviews of another candidate in place of the right one lowers CGS."""
    texts: list[str] = []
    right: list[str] = []
    wrong: list[str] = []
    offsets, owners = [0], []
    kb = benchmark.kb
    for number, item in enumerate(dialogues):
        for turn in item.turns:
            if turn.action not in RECOMMENDING or len(texts) >= TURNS:
                continue
            owners.append(number)
            texts.append(turn.text)
            for at, citation in enumerate(turn.citations):
                position = item.candidates.index(citation.business_id)
                others = kb.reviews_of[item.candidates[(position + 1) % len(item.candidates)]]
                right.append(benchmark.texts[citation.review_id])
                wrong.append(benchmark.texts[others[at % len(others)]])
            offsets.append(len(right))
    recommends = [True] * len(texts)
    true, swapped = (
        _by_dialogue(owners, score_turns(texts, reviews, offsets, recommends).cgs, len(dialogues))
        for reviews in (right, wrong)
    )
    delta, low, high = difference(swapped, true)
    value = f"{swapped.shown} < {true.shown}, apart {delta:+.3f} [{low:+.3f}, {high:+.3f}]"
    return "CGS of the references: evidence swapped < as it is", value, "apart > 0", low > 0, true.n


def unseen_names(benchmark: Benchmark, dialogues: Sequence[Dialogue]) -> Row:
    """No user names a candidate that the system has not named before."""
    wrong = total = 0
    for item in dialogues:
        names = {place: f" {' '.join(tokenize(benchmark.kb.pois[place].name))} " for place in item.candidates}
        named: set[str] = set()
        for turn in item.turns:
            if turn.role == "system":
                named.update(turn.poi_ids)
                continue
            said = f" {' '.join(tokenize(turn.text))} "
            wrong += any(name.strip() and name in said for place, name in names.items() if place not in named)
            total += 1
    return "user turns that name a place before the system did", str(wrong), "= 0", wrong == 0, total


def polarity(benchmark: Benchmark, dialogues: Sequence[Dialogue]) -> Row:
    """Quotes that stand for a recommendation praise: by the lexicon, on the first thousand."""
    evidence = collect_evidence(benchmark.kb)
    agree = total = 0
    for item in dialogues:
        asked: list[Constraint] = []
        for turn in item.turns:
            asked += turn.constraints
            for quote in _supporting(turn):
                if total < QUOTES:
                    total += 1
                    agree += praises(evidence, quote, asked)
    return "quotes whose polarity agrees with the claim", f"{agree:,} of {total:,}", "all", agree == total, total


def praises(evidence: Evidence, quote: Quote, asked: Sequence[Constraint]) -> bool:
    """Return whether a quote overlaps praise of its place, and no complaint about what was asked for and not praised there."""
    place = quote.business_id
    praised = [wish for wish in asked if any(_same(span, quote) for span in evidence.spans(place, wish, 1))]
    if not praised and not any(_same(span, quote) for span in evidence.any_spans(place)):
        return False
    blamed = [wish for wish in asked if any(_same(span, quote) for span in evidence.spans(place, wish, -1))]
    return bool(praised) or not blamed


def _supporting(turn: Turn) -> Sequence[Quote]:
    return turn.quotes if turn.action in RECOMMENDING else ()


def _same(span: Span, quote: Quote) -> bool:
    return span.review_id == quote.review_id and span.start < quote.end and quote.start < span.end


def _by_dialogue(owners: Sequence[int], values: Sequence[float | None], size: int) -> Mean:
    rows: list[list[float]] = [[] for _ in range(size)]
    for owner, value in zip(owners, values, strict=True):
        if value is not None:
            rows[owner].append(value)
    return Mean.of(rows)
