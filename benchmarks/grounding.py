"""Quote grounding of 52,274 turns against a loop of `max(partial_ratio)`, and what `evaluate` adds to it.

    python -m benchmarks.grounding [--turns 52274] [--rounds 3] [--evaluate]

80 % of the quotes are verbatim, 15 % altered, 5 % invented; one to three reviews are cited a turn. All contestants must reach
the same verdict on every quote. Beside that, a whole `score_turns` (GS, CD, PC and CGS from raw text) is timed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

from rapidfuzz import fuzz

from benchmarks.contest import contest
from trace_dataset.scoring.grounding import match_quotes, score_turns
from trace_dataset.scoring.text import normalize_text

Turn = tuple[list[str], list[str]]
COMMON = (
    "the and a to was of it is for in my that with we you this but they had on not have so are at be as food service good "
    "place great time just very there our out from when would back staff all up about will chicken pizza coffee bar menu price"
).split()
SYLLABLES = (
    "ba be bo ca co da de di fa fi go ha he la le li lo ma me mi mo na ne no pa pe po ra re ri ro sa se so ta".split()
)


def make_turns(n: int, seed: int = 5) -> list[Turn]:
    """Return quotes and cited reviews of n turns, over 34,208 reviews of about 500 characters."""
    draw = random.Random(seed)
    rare = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(8000)]
    vocabulary = COMMON + rare
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]
    reviews = []
    for _ in range(34208):
        text = " ".join(draw.choices(vocabulary, weights, k=max(15, int(draw.lognormvariate(4.45, 0.45)))))
        reviews.append(f"{text.capitalize()}.")
    turns = []
    for _ in range(n):
        cited = draw.choices(reviews, k=draw.randint(1, 3))
        turns.append(([_quote(draw, cited, vocabulary, weights) for _ in range(draw.randint(0, 3))], cited))
    return turns


def _quote(draw: random.Random, cited: Sequence[str], vocabulary: Sequence[str], weights: Sequence[float]) -> str:
    kind = draw.random()
    if kind >= 0.95:
        return " ".join(draw.choices(vocabulary, weights, k=draw.randint(5, 13)))
    source, length = draw.choice(cited), draw.randint(20, 90)
    start = draw.randint(0, max(0, len(source) - length))
    quote = source[start : start + length].strip()
    if kind < 0.80:
        return quote
    letters = list(quote)
    for _ in range(max(1, len(letters) // 18)):
        at = draw.randrange(len(letters))
        letters[at : at + 1] = draw.choice([["x"], ["'", letters[at]], []])
    return "".join(letters)


def matched(turns: Sequence[Turn]) -> list[list[bool]]:
    """Our verdicts; also the target of `../shared/peers/peer_grounding.py --target`."""
    return match_quotes([quotes for quotes, _ in turns], [reviews for _, reviews in turns])


def loop(turns: Sequence[Turn]) -> list[list[bool]]:
    """What a researcher would write: the best partial ratio over the cited reviews, on normal forms made beforehand."""
    return [[max(_guarded(quote, review) for review in reviews) >= 80 for quote in quotes] for quotes, reviews in turns]


def _guarded(quote: str, review: str) -> float:
    return fuzz.partial_ratio(quote, review) if len(quote) <= len(review) else fuzz.ratio(quote, review)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=52274)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--evaluate", action="store_true", help="time the evaluate module too")
    options = parser.parse_args()
    turns = make_turns(options.turns)
    plain = [([normalize_text(q) for q in quotes], [normalize_text(r) for r in reviews]) for quotes, reviews in turns]
    print(f"{len(turns)} turns, {sum(len(quotes) for quotes, _ in turns)} quotes")
    found = contest(
        "Quote grounding",
        "match_quotes, normal forms included",
        {
            "match_quotes, normal forms included": lambda: matched(turns),
            "loop of max(partial_ratio), normal forms given": lambda: loop(plain),
        },
        options.rounds,
    )
    verdicts = list(found.values())
    print(f"\nsame verdict on every quote: {verdicts[0] == verdicts[1]}")
    texts = ["We like it. " + " ".join(f'They say "{q}" [R1].' for q in quotes) for quotes, _ in turns]
    reviews = [review for _, cited in turns for review in cited]
    offsets = [0]
    for _, cited in turns:
        offsets.append(offsets[-1] + len(cited))
    contestants = {"score_turns": lambda: score_turns(texts, reviews, offsets, [True] * len(texts))}
    if options.evaluate:
        contestants["evaluate module cgs"] = lambda: _through_evaluate(texts, turns)
    contest("GS, CD, PC and CGS from raw text", "score_turns", contestants, options.rounds)


def _through_evaluate(texts: Sequence[str], turns: Sequence[Turn]) -> object:
    import evaluate

    metric = evaluate.load("metrics/cgs")
    labelled = [[{"label": f"R{at}", "text": text} for at, text in enumerate(cited, start=1)] for _, cited in turns]
    return metric.compute(predictions=[{"text": text, "recommends": True} for text in texts], references=labelled)


if __name__ == "__main__":
    main()
