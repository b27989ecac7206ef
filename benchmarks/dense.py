"""Sentence embeddings of queries and places against `SentenceTransformer.encode` at its defaults, on this processor.

    python -m benchmarks.dense [--queries 1500] [--rounds 2] [--places 240]

Needs the `local` extra. Both embed the same texts without any cache; ours computes in bfloat16 where the processor does. The
least cosine of any text to float32 is printed beside the times: faster and not the same would be no gain.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.contest import contest
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.release import Source, open_benchmark
from trace_dataset.retrieval.dense import place_summary
from trace_dataset.retrieval.embeddings import Encoder, best_dtype
from trace_dataset.sample import write_sample


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("--places", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bundle = write_sample(Path(scratch) / "yelp", places=options.places)
        benchmark = open_benchmark(Source(yelp_path=str(bundle), n_dialogues=max(options.queries // 4, 240)))
        cells = benchmark.kb.cells
        queries = [
            context.query
            for dialogue in benchmark.dialogues
            for _, context in turn_contexts(dialogue, cells, "closed", 42, "benchmark")
        ]
        texts = list(dict.fromkeys([*(place_summary(benchmark.kb, place) for place in benchmark.kb.pois), *queries]))
    texts = texts[: options.places + options.queries]
    ours, exact = Encoder(cache=False), Encoder(dtype="float32", cache=False)
    peer = exact._model  # the library's own object, with the same weights
    for warm in (ours.encode, exact.encode, peer.encode):
        warm(texts[:64])
    contestants = {
        f"ours, {best_dtype()}": lambda: ours.encode(texts),
        "ours, float32": lambda: exact.encode(texts),
        "SentenceTransformer.encode": lambda: peer.encode(texts),
    }
    found = contest(f"{len(texts):,} texts", f"ours, {best_dtype()}", contestants, options.rounds)
    wanted = found["SentenceTransformer.encode"].astype(float)
    for name in list(contestants)[:2]:
        vectors = found[name].astype(float)
        cosines = (vectors * wanted).sum(1) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(wanted, axis=1)
        print(f"\nleast cosine of {name} to SentenceTransformer in float32: {cosines.min():.6f}")


if __name__ == "__main__":
    main()
