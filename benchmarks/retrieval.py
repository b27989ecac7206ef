"""TF-IDF over closed pools against scikit-learn, and sentence embeddings against SentenceTransformer.encode.

    python -m benchmarks.retrieval [--dialogues 10000] [--rounds 3] [--only sparse|dense]

Needs the extras `models` and `local`; scikit-learn comes with them. Documents are indexed before the clock starts.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

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


def dense(rounds: int) -> None:
    """Print the embeddings' figures."""
    from sentence_transformers import SentenceTransformer

    from trace_dataset.retrieval.embeddings import ENCODER, PACKAGE, Encoder

    found_package = importlib.util.find_spec(PACKAGE)
    assert found_package is not None
    assert found_package.origin is not None
    texts = english_texts(2500, 8, 30, seed=1) + english_texts(500, 60, 140, seed=2)
    usual = SentenceTransformer(str(Path(found_package.origin).parent / "model"), device="cpu")
    ours = Encoder(cache=False)
    name = f"ours: by length, {ours.dtype}"
    found = contest(
        f"{ENCODER}, {len(texts):,} texts",
        name,
        {name: lambda: ours.encode(texts), "SentenceTransformer.encode": lambda: usual.encode(texts)},
        rounds,
    )
    print(f"lowest cosine to float32: {lowest_cosine(found[name], found['SentenceTransformer.encode']):.5f}")


def english_texts(count: int, shortest: int, longest: int, seed: int) -> list[str]:
    """Return texts of common words, of so many words each."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(COMMON, k=draw.randint(shortest, longest))) for _ in range(count)]


def lowest_cosine(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Return the lowest cosine of two vectors of the same text."""
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / lengths).min())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dialogues", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("sparse", "dense"))
    options = parser.parse_args()
    if options.only != "dense":
        sparse(options.dialogues, options.rounds)
    if options.only != "sparse":
        dense(options.rounds)


if __name__ == "__main__":
    main()
