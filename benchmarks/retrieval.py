"""TF-IDF over closed pools against scikit-learn; documents are indexed before the clock starts.

    python -m benchmarks.retrieval [--dialogues 10000] [--rounds 3]

Needs scikit-learn. Sentence embeddings are measured by `benchmarks/dense.py`.
"""

from __future__ import annotations

import argparse
import random

import numpy as np

from benchmarks.contest import contest
from trace_dataset.retrieval import TfidfIndex
from trace_dataset.retrieval.sparse import STOP_WORDS

PLACES, TURNS, POOL = 2400, 5, 8
SYLLABLES = "ba be bo ca co da de di fa fi go ha he la le li lo ma me mi mo na ne no pa pe po ra re ri".split()
COMMON = (
    "great good food service place time friendly staff chicken pizza coffee bar menu price wait minutes dinner patio quiet "
    "view river music parking kids brunch fresh slow loud clean cozy late night weekend table room pool beach museum garden"
).split()
OURS = "ours: one product for all turns, at the pool's entries only"


def make_texts(dialogues: int, seed: int = 3) -> tuple[list[str], list[str], np.ndarray]:
    """Return documents of about 1,130 words, queries of 8 to 27 words, and the positions of each turn's pool of eight."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    words = dict.fromkeys(COMMON)
    while len(words) < 40_000:
        words["".join(draw.choices(SYLLABLES, k=draw.randint(2, 5)))] = None
    vocabulary = np.array(list(words), dtype=object)
    chances = np.cumsum(1 / np.arange(1, len(vocabulary) + 1))
    chances /= chances[-1]

    def text(length: int) -> str:
        return " ".join(vocabulary[np.searchsorted(chances, numbers.random(length))])

    documents = [text(1130) for _ in range(PLACES)]
    pools = np.stack([numbers.choice(PLACES, POOL, replace=False) for _ in range(dialogues)])
    queries = [text(int(numbers.integers(8, 28))) + "?" for _ in range(dialogues * TURNS)]
    return documents, queries, np.repeat(pools, TURNS, axis=0)


def sparse(dialogues: int, rounds: int) -> None:
    """Print TF-IDF's figures."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents, queries, pools = make_texts(dialogues)
    index = TfidfIndex({f"{number:05d}": text for number, text in enumerate(documents)})
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words=sorted(STOP_WORDS), token_pattern=r"(?u)\b\w+\b")
    matrix = vectorizer.fit_transform(documents)
    turned = matrix.T.tocsr()

    def a_turn() -> np.ndarray:
        rows = [
            (matrix[pool] @ vectorizer.transform([query]).T).toarray().ravel()
            for query, pool in zip(queries, pools, strict=True)
        ]
        return np.array(rows)

    def all_documents() -> np.ndarray:
        coded = vectorizer.transform(queries)
        blocks = range(0, len(queries), 2000)
        parts = [
            np.take_along_axis((coded[at : at + 2000] @ turned).toarray(), pools[at : at + 2000], 1) for at in blocks
        ]
        return np.concatenate(parts)

    found = contest(
        f"TF-IDF, {len(queries):,} turns over pools of {POOL} of {PLACES:,} documents",
        OURS,
        {
            OURS: lambda: index.score_pools(queries, pools),
            "scikit-learn, one product with all documents": all_documents,
            "scikit-learn, transform a turn, documents cached": a_turn,
        },
        rounds,
    )
    for name, scores in found.items():
        if name != OURS:
            print(f"largest difference to {name}: {np.abs(scores - found[OURS]).max():.1e}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    sparse(options.dialogues, options.rounds)


if __name__ == "__main__":
    main()
