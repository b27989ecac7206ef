"""A cross-encoder for entailment: any NLI classifier of `transformers`, by Hub name or folder.

`torch` and `transformers` are loaded when a model is, not before. The class order is read from the model's own label names. A
premise that does not fit is read in overlapping windows, and the best one counts: what stands at the end of a long review
must count as much as its start. Scores are kept in a file that holds hashes and numbers, never text.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .checks import UsageError, check_choice, kind
from .entailment import Pair
from .text import without_surrogates

DEFAULT_MODEL = "cross-encoder/nli-deberta-v3-base"
TOKEN_BUDGET = 2048  # padded tokens a batch; small batches beat large ones on a CPU
SMALLEST_WINDOW = 64  # tokens of a premise that must fit beside a claim; neighbouring windows share half of them
SCHEME = 1  # rises when windows or inputs are formed differently
DTYPES = ("float32", "bfloat16")


class NliModel:
    """Scores pairs with a sequence classifier; see `trace_dataset.scoring.entailment.EntailmentModel`.

    Args:
        name: a model on the Hub, or a folder.
        revision: a commit of the Hub's model; pin one for numbers that are published.
        device: "cpu", "cuda" or "mps"; by default the best there is.
        dtype: "float32", or "bfloat16", which is faster where the processor has it (probabilities within 0.02).
        cache: the file that remembers scores; False for none, None for one in the cache folder.

    Raises:
        UsageError: the libraries or the model are missing, or its labels do not say which one is entailment.
    """

    def __init__(
        self,
        name: str = DEFAULT_MODEL,
        revision: str | None = None,
        device: str | None = None,
        dtype: str = "float32",
        cache: str | Path | bool | None = None,
    ) -> None:
        check_choice(dtype, "dtype", DTYPES)
        self._torch, self._tokenizer, self._model = _load(name, revision, dtype)
        self._entailment = entailment_index(self._model.config.id2label)
        self._device = device or _best_device(self._torch)
        self._model.to(self._device).eval()
        self._limit = _limit(self._tokenizer, self._model)
        self.revision = _identity(name, self._model)
        self.name = f"{name}@{self.revision[:12]}:{dtype}"
        self._cache = ScoreCache(cache, f"{name}|{self.revision}|{dtype}|{SCHEME}") if cache is not False else None
        self.n_windows = 0  # windows scored so far; above the number of pairs where premises were long

    def probabilities(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the probability of entailment for each (premise, claim); 0.0 for a claim too long for the model."""
        pairs = [(without_surrogates(premise), without_surrogates(claim)) for premise, claim in pairs]
        unique = list(dict.fromkeys(pairs))
        known = self._cache.read(unique) if self._cache else {}
        missing = [pair for pair in unique if pair not in known]
        if missing:
            new = dict(zip(missing, self._score(missing), strict=True))
            if self._cache:
                self._cache.write(new)
            known |= new
        return [known[pair] for pair in pairs]

    def _score(self, pairs: Sequence[Pair]) -> list[float]:
        owners, windows = self._windows(pairs)
        best = [0.0] * len(pairs)
        for batch in _batches([len(ids) for ids in windows["input_ids"]]):
            scores = self._forward({name: [rows[at] for at in batch] for name, rows in windows.items()})
            for at, score in zip(batch, scores, strict=True):
                best[owners[at]] = max(best[owners[at]], score)
        self.n_windows += len(owners)
        return best

    def _windows(self, pairs: Sequence[Pair]) -> tuple[list[int], dict[str, list[list[int]]]]:
        """Return the model's inputs, and the pair each belongs to: several where a premise does not fit beside its claim."""
        room = self._limit - self._tokenizer.num_special_tokens_to_add(pair=True) - SMALLEST_WINDOW
        lengths = [
            len(ids) for ids in self._tokenizer([claim for _, claim in pairs], add_special_tokens=False).input_ids
        ]
        fitting = [at for at, length in enumerate(lengths) if length <= room]
        if not fitting:
            return [], {"input_ids": []}
        coded = self._tokenizer(
            [pairs[at][0] for at in fitting],
            [pairs[at][1] for at in fitting],
            truncation="only_first",
            max_length=self._limit,
            stride=SMALLEST_WINDOW // 2,
            return_overflowing_tokens=True,
        )
        owners = [fitting[at] for at in coded["overflow_to_sample_mapping"]]
        return owners, {name: coded[name] for name in self._tokenizer.model_input_names if name in coded}

    def _forward(self, windows: dict[str, list[list[int]]]) -> list[float]:
        torch = self._torch
        inputs = self._tokenizer.pad(windows, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            logits = self._model(**inputs).logits.float()
        if not bool(torch.isfinite(logits).all()):
            raise UsageError(f"{self.name} gave a score that is not a number", do='use dtype="float32"')
        scores: list[float] = torch.softmax(logits, dim=-1)[:, self._entailment].tolist()
        return scores


def nli_model(model: Any = DEFAULT_MODEL, **options: Any) -> Any:
    """Return a model that scores pairs: one that does already, or the classifier of that name, loaded once a process."""
    if hasattr(model, "probabilities"):
        return model
    if not isinstance(model, str):
        raise UsageError(
            f"model is {kind(model)}", do="name one of the Hub or a folder, or pass an object with probabilities(pairs)"
        )
    return _loaded(model, tuple(sorted(options.items())))


@functools.lru_cache(maxsize=2)
def _loaded(name: str, options: tuple[tuple[str, Any], ...]) -> NliModel:
    return NliModel(name, **dict(options))


class ScoreCache:
    """Probabilities by the hash of model, revision, options and texts; holds no text.

    Args:
        where: a file, or None or True for `nli.sqlite` in `TRACE_CACHE` or the user's cache folder.
        model: what the scores depend on besides the texts.
    """

    def __init__(self, where: str | Path | bool | None, model: str) -> None:
        path = _cache_file() if where is None or isinstance(where, bool) else Path(where)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._base.execute("create table if not exists scores (key blob primary key, score real) without rowid")
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the score cache {path} cannot be used: {error}", do="pass cache=False") from error
        self._model = model

    def read(self, pairs: Sequence[Pair]) -> dict[Pair, float]:
        """Return the pairs that are known, with their probabilities."""
        found = {}
        for pair in pairs:
            row = self._base.execute("select score from scores where key = ?", (self._key(pair),)).fetchone()
            if row is not None:
                found[pair] = float(row[0])
        return found

    def write(self, scores: dict[Pair, float]) -> None:
        """Remember probabilities, all or none of them."""
        rows = [(self._key(pair), score) for pair, score in scores.items()]
        with self._base:
            self._base.execute("begin immediate")
            self._base.executemany("insert or replace into scores values (?, ?)", rows)

    def _key(self, pair: Pair) -> bytes:
        parts = (part.encode("utf-8", "surrogatepass") for part in (self._model, *pair))
        return hashlib.sha256(b"".join(len(part).to_bytes(8, "big") + part for part in parts)).digest()


def entailment_index(id2label: dict[int, str]) -> int:
    """Return which class of a model is entailment, by name; raises `UsageError` where the names do not say."""
    found = [int(index) for index, label in id2label.items() if str(label).strip().lower() == "entailment"]
    if len(found) != 1:
        raise UsageError(
            f"the model's labels are {', '.join(map(str, id2label.values()))}: none of them is called entailment",
            do="use an NLI classifier whose config names its classes",
        )
    return found[0]


def _load(name: str, revision: str | None, dtype: str) -> tuple[Any, Any, Any]:
    try:
        torch = importlib.import_module("torch")
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise UsageError(
            f"entailment needs {error.name}, which is not installed", do='pip install "trace-dataset[models]"'
        ) from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name, revision=revision)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            name, revision=revision, dtype=getattr(torch, dtype)
        )
    except (OSError, ValueError, ImportError) as error:
        raise UsageError(
            f"the entailment model {name!r} cannot be loaded ({type(error).__name__})",
            do=f"while online, run `hf download {name}`, or name a folder that holds a copy; DeBERTa's tokenizer also "
            'needs `pip install "trace-dataset[models]"`',
        ) from error
    return torch, tokenizer, model


def _limit(tokenizer: Any, model: Any) -> int:
    positions = getattr(model.config, "max_position_embeddings", 0) or 512
    return int(min(tokenizer.model_max_length, positions, 512))


def _best_device(torch: Any) -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _identity(name: str, model: Any) -> str:
    """Return the commit of a model of the Hub, or a digest of the files of one in a folder."""
    folder = Path(name)
    if not folder.is_dir():
        return str(getattr(model.config, "_commit_hash", None) or "unknown")
    total = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        with path.open("rb") as file:
            total.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield positions, shortest first, in runs whose padded size stays within the token budget."""
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[at] > TOKEN_BUDGET:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch


def _cache_file() -> Path:
    chosen = os.environ.get("TRACE_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "nli.sqlite"
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser()
    return base / "trace-dataset" / "nli.sqlite"
