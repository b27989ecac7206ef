"""BLEU-4 against NLTK and ROUGE-L against rouge_score, over 52,274 pairs, tokens given to all.

    python -m benchmarks.text [--pairs 52274] [--rounds 3]

Needs `pip install nltk rouge-score`. Beside that, both of ours from raw text, tokenising included.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence

from benchmarks.contest import contest
from trace_dataset.scoring.text import bleu4, bleu4_of_tokens, rouge_l, rouge_l_of_tokens

Tokens = list[str]


def make_pairs(n: int, seed: int = 9) -> tuple[list[Tokens], list[Tokens]]:
    """Return references of 8 to 59 tokens and hypotheses that share about half of them in order."""
    draw = random.Random(seed)
    vocabulary = [f"w{rank}" for rank in range(4000)]
    weights = [1 / (rank + 1) for rank in range(4000)]
    references, hypotheses = [], []
    for _ in range(n):
        reference = draw.choices(vocabulary, weights, k=draw.randint(8, 59))
        hypothesis = [token if draw.random() > 0.45 else draw.choice(vocabulary) for token in reference]
        if draw.random() < 0.5:
            start, end = sorted(draw.choices(range(len(hypothesis)), k=2))
            hypothesis = hypothesis[:start] + hypothesis[end:]
        references.append(reference)
        hypotheses.append(hypothesis if len(hypothesis) > 1 else reference[:4])
    return references, hypotheses


def nltk_bleu(references: Sequence[Tokens], hypotheses: Sequence[Tokens]) -> list[float]:
    """NLTK's sentence BLEU with the first smoothing."""
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    return [sentence_bleu([r], h, smoothing_function=smooth) for r, h in zip(references, hypotheses, strict=True)]


def library_rouge(references: Sequence[Tokens], hypotheses: Sequence[Tokens]) -> list[float]:
    """Google's ROUGE-L F1, with our tokens."""
    from rouge_score import rouge_scorer

    class Given:
        def tokenize(self, text: str) -> Tokens:
            return text.split()

    scorer = rouge_scorer.RougeScorer(["rougeL"], tokenizer=Given())
    texts = [(" ".join(r), " ".join(h)) for r, h in zip(references, hypotheses, strict=True)]
    return [scorer.score(reference, hypothesis)["rougeL"].fmeasure for reference, hypothesis in texts]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=52274)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    references, hypotheses = make_pairs(options.pairs)
    texts = [(" ".join(r), " ".join(h)) for r, h in zip(references, hypotheses, strict=True)]
    together = list(zip(references, hypotheses, strict=True))
    nltk_bleu(references[:9], hypotheses[:9])
    library_rouge(references[:9], hypotheses[:9])
    bleu = contest(
        "BLEU-4",
        "ours",
        {
            "ours": lambda: [bleu4_of_tokens(r, h) for r, h in together],
            "NLTK sentence_bleu, method 1": lambda: nltk_bleu(references, hypotheses),
            "ours, tokenising raw text": lambda: [bleu4(r, h) for r, h in texts],
        },
        options.rounds,
    )
    print(f"\nlargest difference: {_gap(bleu['ours'], bleu['NLTK sentence_bleu, method 1']):.1e}")
    rouge = contest(
        "ROUGE-L",
        "ours",
        {
            "ours": lambda: [rouge_l_of_tokens(r, h) for r, h in together],
            "rouge_score": lambda: library_rouge(references, hypotheses),
            "ours, tokenising raw text": lambda: [rouge_l(r, h) for r, h in texts],
        },
        options.rounds,
    )
    print(f"\nlargest difference: {_gap(rouge['ours'], rouge['rouge_score']):.1e}")


def _gap(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


if __name__ == "__main__":
    main()
