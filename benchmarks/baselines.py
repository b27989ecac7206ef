"""Run baselines and controls over a sample benchmark and print one row each: the figures of the baselines' cards.

    python benchmarks/baselines.py --places 2400 --dialogues 2000 --pool closed

Prints R@1, R@3, MRR, BLEU-4, ROUGE-L, CGS, GS, CD, PC, TSR, T2R, rejection recovery, spatial coherence, price alignment,
preference coverage, and seconds, as Markdown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

# the checkout first, and this folder not at all: its hydrate.py is not the package
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path[:] = [each for each in sys.path if Path(each or ".").resolve() != Path(__file__).parent.resolve()]

from trace_dataset.baseline import Baseline, load_baseline
from trace_dataset.evaluation import evaluate_baseline
from trace_dataset.evaluation.controls import CONTROLS
from trace_dataset.installed import hub_names
from trace_dataset.release import Source, open_benchmark
from trace_dataset.retrieval.embeddings import encoder_available
from trace_dataset.sample import write_sample

COLUMNS = {
    "R@1": "recall_at_1", "R@3": "recall_at_3", "MRR": "mrr", "multi": "recall_at_1_multi", "BLEU": "bleu4",
    "ROUGE": "rouge_l", "CGS": "cgs", "GS": "gs", "CD": "cd", "PC": "pc", "TSR": "tsr", "T2R": "t2r",
    "RejRec": "rejection_recovery", "Spatial": "spatial_coherence", "Price": "price_alignment",
    "Pref": "preference_coverage",
}  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--places", type=int, default=2400)
    parser.add_argument("--dialogues", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--pool", default="closed")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--lm", help="the language model of the baselines that ask one; without it they are left out")
    parser.add_argument("baseline", nargs="*", help="default: every installed one and the controls")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bundle = write_sample(Path(scratch) / "yelp", places=options.places, seed=options.seed)
        benchmark = open_benchmark(Source(yelp_path=str(bundle), n_dialogues=options.dialogues, seed=options.seed))
        manifest = benchmark.release.manifest
        size = f"{options.dialogues:,} dialogues over {options.places:,} places"
        print(f"{size}, pool {options.pool}, content digest {manifest.content_digest[:12]}\n")
        print(f"| system | {' | '.join(COLUMNS)} | s |\n|{' --- |' * (len(COLUMNS) + 2)}")
        for name in options.baseline or usable(options.lm):
            started = time.perf_counter()
            baseline = name if name in CONTROLS else load_baseline(name)
            if options.lm and isinstance(baseline, Baseline) and baseline.uses_lm:
                baseline.lm = options.lm
            found = evaluate_baseline(
                baseline, benchmark, pool=options.pool, workers=options.workers, strict=True
            ).estimates()
            cells = [f"{found[key].value:.3f}" if found[key].value is not None else "-" for key in COLUMNS.values()]
            print(f"| {name} | {' | '.join(cells)} | {time.perf_counter() - started:.0f} |", flush=True)


def usable(lm: str | None) -> list[str]:
    """Return the installed baselines that can run here, and the controls; say which are left out."""
    names = []
    for name in hub_names("baselines"):
        if load_baseline(name).uses_lm and not lm:
            print(f"left out: {name} asks a language model (--lm)", file=sys.stderr)
        elif name == "dense" and not encoder_available():
            print("left out: dense, whose encoder is not installed", file=sys.stderr)
        else:
            names.append(name)
    return [*names, *CONTROLS]


if __name__ == "__main__":
    main()
