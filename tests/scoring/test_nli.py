"""The entailment model: a small DeBERTa-v2 classifier, built on disk, goes through the code that loads the real one."""

from __future__ import annotations

import functools
import random
from pathlib import Path

import pytest

from hydrate.errors import TraceError
from trace_dataset.scoring.entailment import score_entailment

pytestmark = pytest.mark.models
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

transformers.utils.logging.disable_progress_bar()

WORDS = "we had a great dinner the staff were friendly and pasta was fresh although parking is hard to find".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier of two layers whose classes stand in another order than usual."""
    return build(tmp_path_factory.mktemp("nli"), {0: "contradiction", 1: "entailment", 2: "neutral"})


def build(path: Path, labels: dict[int, str]) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {token: at for at, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *dict.fromkeys(WORDS)])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=512,
    ).save_pretrained(path)
    torch.manual_seed(3)
    model = transformers.DebertaV2ForSequenceClassification(
        transformers.DebertaV2Config(
            vocab_size=len(vocabulary),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=512,
            type_vocab_size=0,
            relative_attention=True,
            position_buckets=64,
            pos_att_type=["p2c", "c2p"],
            position_biased_input=False,
            id2label=labels,
            label2id={label: at for at, label in labels.items()},
            initializer_range=0.3,
        )
    )
    with torch.no_grad():
        model.classifier.weight.mul_(2)  # spread the scores, so that agreement means something
    model.save_pretrained(path)
    return path


def pairs(n: int, seed: int = 3, longest: int = 300) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    text = lambda k: " ".join(draw.choice(WORDS) for _ in range(k))  # noqa: E731
    return [(text(draw.randint(5, longest)), text(draw.randint(4, 20))) for _ in range(n)]


@functools.cache
def loaded(folder: Path):
    return (
        transformers.AutoTokenizer.from_pretrained(folder),
        transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval(),
    )


def by_hand(folder: Path, premise: str, claim: str) -> float:
    tokenizer, model = loaded(folder)
    with torch.inference_mode():
        logits = model(**tokenizer(premise, claim, return_tensors="pt")).logits
    return float(torch.softmax(logits, dim=-1)[0, 1])


def test_batches_give_what_one_pair_at_a_time_gives(folder: Path, tmp_path: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    model = NliModel(str(folder), cache=tmp_path / "scores.sqlite")
    wanted = pairs(30)
    found = model.probabilities([*wanted, *wanted[:10]])
    assert found[:10] == found[30:]
    assert found[:30] == pytest.approx([by_hand(folder, *pair) for pair in wanted], abs=1e-4)
    share = sum(value >= 0.5 for value in found[:30]) / 30
    assert 0.2 <= share <= 0.8  # the classifier decides something


def test_scores_come_back_from_the_cache_and_only_for_the_same_model(folder: Path, tmp_path: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    file = tmp_path / "scores.sqlite"
    first = NliModel(str(folder), cache=file)
    wanted = pairs(5)
    scores = first.probabilities(wanted)
    second = NliModel(str(folder), cache=file)
    assert second.probabilities(wanted) == scores
    assert second.n_windows == 0
    assert first.n_windows == 5
    other = NliModel(str(folder), cache=file, dtype="bfloat16")
    other.probabilities(wanted)
    assert other.n_windows == 5
    assert WORDS[4].encode() not in file.read_bytes()


def test_the_end_of_a_long_premise_counts(folder: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    model = NliModel(str(folder), cache=False)
    draw = random.Random(5)
    long = " ".join(draw.choice(WORDS) for _ in range(1500))
    claim = "parking is hard"
    best = model.probabilities([(long, claim)])[0]
    assert model.n_windows > 1
    words = long.split()
    room = 512 - 3 - len(claim.split())
    step = room - 32
    parts = [" ".join(words[at : at + room]) for at in range(0, len(words) - 32, step)]
    assert best == pytest.approx(max(by_hand(folder, part, claim) for part in parts), abs=1e-4)


def test_bfloat16_agrees_away_from_the_threshold(folder: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    wanted = pairs(60, longest=80)
    full = NliModel(str(folder), cache=False).probabilities(wanted)
    half = NliModel(str(folder), cache=False, dtype="bfloat16").probabilities(wanted)
    assert 0.2 <= sum(value >= 0.5 for value in full) / 60 <= 0.8
    assert half == pytest.approx(full, abs=0.02)
    outside = [(one, other) for one, other in zip(full, half, strict=True) if abs(one - 0.5) > 0.02]
    assert all((one >= 0.5) == (other >= 0.5) for one, other in outside)
    assert len(outside) > 50


def test_a_claim_too_long_for_the_model_is_unsupported(folder: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    model = NliModel(str(folder), cache=False)
    assert model.probabilities([("we had dinner", "pasta " * 600)]) == [0.0]


def test_grounding_through_the_model(folder: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    model = NliModel(str(folder), cache=False)
    texts = ["The staff were friendly [R1]. Parking is hard to find.", "Hello [R1].", "[R1]", "No premise here."]
    premises = ["the staff were friendly and pasta was fresh", "parking is hard to find", "we had a great dinner"]
    columns = score_entailment(texts, premises, [0, 2, 3, 3, 3], model)
    assert columns.values[2] is None
    assert columns.values[3] == 0.0
    assert [len(group) for group in columns.claims] == [2, 1, 0, 1]
    assert all(value is None or 0 <= value <= 1 for value in columns.values)


def test_labels_that_name_no_entailment_are_an_error(tmp_path: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    build(tmp_path, {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"})
    with pytest.raises(TraceError, match="none of them is called entailment"):
        NliModel(str(tmp_path), cache=False)


def test_a_model_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    from trace_dataset.scoring.nli import NliModel

    with pytest.raises(TraceError, match="cannot be loaded"):
        NliModel(str(tmp_path / "nothing"), cache=False)
