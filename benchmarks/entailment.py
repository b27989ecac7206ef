"""Entailment of (premise, claim) pairs, 30 % of them repeated, against a one-by-one `transformers` pipeline on the CPU.

    python -m benchmarks.entailment [--pairs 160] [--rounds 2] [--layers 12]

Needs the `models` extra. A DeBERTa-base-shaped classifier with random weights is built in a temporary folder: its speed is that
of the real one, and its scores are spread so that agreement means something.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.contest import contest
from trace_dataset.scoring.entailment import Pair
from trace_dataset.scoring.nli import NliModel

WORDS = (
    "we had a great dinner here the staff were friendly and pasta was fresh although parking is hard to find on weekends my "
    "kids loved patio with view of river i would come back again for brunch coffee strong service slow but worth it price fair"
).split()


def build_classifier(folder: Path, layers: int) -> None:
    """Write a tokenizer and a random classifier of DeBERTa-v3-base's shape."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import DebertaV2Config, DebertaV2ForSequenceClassification, PreTrainedTokenizerFast

    vocabulary = {token: at for at, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    specials = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **specials).save_pretrained(folder)
    torch.manual_seed(0)
    labels = {0: "contradiction", 1: "entailment", 2: "neutral"}
    model = DebertaV2ForSequenceClassification(
        DebertaV2Config(
            vocab_size=len(vocabulary),
            hidden_size=768,
            num_hidden_layers=layers,
            num_attention_heads=12,
            intermediate_size=3072,
            max_position_embeddings=512,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=256,
            pos_att_type=["p2c", "c2p"],
            share_att_key=True,
            norm_rel_ebd="layer_norm",
            position_biased_input=False,
            id2label=labels,
            label2id={label: at for at, label in labels.items()},
        )
    )
    spread_scores(model, tokenizer)
    model.save_pretrained(folder)


def spread_scores(model: Any, tokenizer: Any) -> None:
    """Scale and shift the last layer so that about half of all pairs are entailed."""
    import torch

    with torch.no_grad():
        coded = [tokenizer.encode(*pair).ids for pair in make_pairs(24, seed=1)]
        before = torch.cat([model.eval()(input_ids=torch.tensor([ids])).logits for ids in coded])
        others = before[:, [0, 2]]
        scale = 0.3 / float((before[:, 1] - others.max(dim=1).values).std())
        odds = scale * before[:, 1] - torch.logsumexp(scale * others, dim=1)
        model.classifier.weight.mul_(scale)
        model.classifier.bias.mul_(scale)
        model.classifier.bias[1] -= float(odds.median())


def make_pairs(n: int, seed: int = 4) -> list[Pair]:
    """Return n pairs, 30 % of them repeats, several claims to a premise; premises of about 115 words."""
    draw = random.Random(seed)
    distinct = round(n * 0.7)
    premises = [
        " ".join(draw.choices(WORDS, k=min(420, max(8, int(draw.lognormvariate(4.75, 0.5))))))
        for _ in range(max(1, distinct // 3))
    ]
    pairs = [
        (draw.choice(premises), " ".join(draw.choices(WORDS, k=max(4, int(draw.gauss(18, 5))))))
        for _ in range(distinct)
    ]
    pairs += draw.choices(pairs, k=n - distinct)
    draw.shuffle(pairs)
    return pairs


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--layers", type=int, default=12)
    options = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    pairs = make_pairs(options.pairs)
    with tempfile.TemporaryDirectory() as folder:
        build_classifier(Path(folder), options.layers)
        from transformers import pipeline

        full, half = (NliModel(folder, device="cpu", dtype=dtype, cache=False) for dtype in ("float32", "bfloat16"))
        one_by_one = pipeline("text-classification", model=folder, device="cpu", top_k=None)
        found = contest(
            f"Entailment of {len(pairs)} pairs",
            "ours, float32",
            {
                "ours, float32": lambda: full.probabilities(pairs),
                "ours, bfloat16": lambda: half.probabilities(pairs),
                "pipeline, one by one, float32": lambda: [
                    _entailment(one_by_one({"text": premise, "text_pair": claim})) for premise, claim in pairs
                ],
            },
            options.rounds,
        )
    ours, theirs = found["ours, float32"], found["pipeline, one by one, float32"]
    for name in ("ours, float32", "ours, bfloat16"):
        gap = max(abs(a - b) for a, b in zip(found[name], theirs, strict=True))
        same = sum((a >= 0.5) == (b >= 0.5) for a, b in zip(found[name], theirs, strict=True))
        print(f"{name}: largest difference {gap:.1e}, same verdict on {same} of {len(pairs)}")
    print(f"entailed: {sum(value >= 0.5 for value in ours) / len(pairs):.2f}")


def _entailment(scores: list[dict[str, object]]) -> float:
    return next(float(str(each["score"])) for each in scores if each["label"] == "entailment")


if __name__ == "__main__":
    main()
