"""Sentence embeddings: as good as float32, the same however texts are batched, kept on disk without their text."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from hydrate import UsageError
from trace_dataset.baseline import load_baseline
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.retrieval import embeddings
from trace_dataset.retrieval.dense import place_summary
from trace_dataset.retrieval.embeddings import Encoder, encoder_available

with_encoder = [
    pytest.mark.models,
    pytest.mark.skipif(not encoder_available(), reason="the sentence encoder is not installed"),
]
AWKWARD = ["", " ", "x" * 5000, "\ud800 a lone surrogate", "写真がきれい", "a " * 600]


@pytest.fixture(scope="module")
def texts(benchmark):
    places = [place_summary(benchmark.kb, place) for place in list(benchmark.kb.pois)[:30]]
    return [
        *places,
        *(turn.text for dialogue in benchmark.dialogues[:10] for turn in dialogue.turns if turn.role == "user"),
        *AWKWARD,
    ]


class TestWithTheEncoder:
    pytestmark = with_encoder

    def test_every_text_is_within_a_thousandth_of_sentence_transformers_in_float32(self, texts):
        encoder = Encoder(cache=False)
        found = encoder.encode(texts).astype(float)
        peer = Encoder(dtype="float32", cache=False)._model
        wanted = peer.encode([text.encode("utf-8", "replace").decode() for text in texts]).astype(float)
        cosines = (found * wanted).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wanted, axis=1)
        assert cosines.min() >= 0.999

    def test_a_vector_does_not_depend_on_its_neighbours(self, texts):
        encoder = Encoder(cache=False)
        together, backwards = encoder.encode(texts), encoder.encode(texts[::-1])[::-1]
        alone = np.stack([encoder.encode([text])[0] for text in texts[::7]])
        assert (together == backwards).all()
        assert (together[::7] == alone).all()

    def test_threads_change_no_vector_and_leave_the_setting_as_it_was(self, texts):
        import torch

        encoder, before = Encoder(cache=False), torch.get_num_threads()
        found = []
        try:
            for threads in (1, 3):
                torch.set_num_threads(threads)
                found.append(encoder.encode(texts))
                assert torch.get_num_threads() == threads
        finally:
            torch.set_num_threads(before)
        assert (found[0] == found[1]).all()

    def test_the_file_remembers_vectors_and_no_text(self, texts, tmp_path):
        path = tmp_path / "vectors.sqlite"
        first = Encoder(cache=path).encode(texts)
        again = Encoder(cache=path)
        again._embed = None  # nothing is embedded a second time
        assert (again.encode(texts) == first).all()
        assert texts[0][:30].encode() not in path.read_bytes()

    def test_dense_is_told_of_a_rejection(self, benchmark):
        dense = load_baseline("dense")
        dense.prepare(benchmark.kb)
        turned_down = [
            context
            for dialogue in benchmark.dialogues[:40]
            for _, context in turn_contexts(dialogue, benchmark.kb.cells, "closed", 42, "x")
            if context.rejected
        ]
        rankings = dense.rank_many(turned_down)
        for context, ranking in zip(turned_down, rankings, strict=True):
            left = len(ranking) - len(set(context.rejected))
            assert not set(ranking[:left]) & set(context.rejected)
        assert rankings[:10] == [dense.rank(context) for context in turned_down[:10]]

    def test_the_dense_ranker_joins_the_vote_and_the_parameters_say_so(self, benchmark):
        hybrid = load_baseline("hybrid_rrf")
        assert list(hybrid.parameters["rankers"]) == ["tfidf", "aspect", "dense"]
        assert hybrid.parameters["rankers"]["dense"]["encoder"] == "all-MiniLM-L6-v2"
        hybrid.prepare(benchmark.kb)
        contexts = [
            context for _, context in turn_contexts(benchmark.dialogues[0], benchmark.kb.cells, "closed", 42, "x")
        ]
        assert hybrid.rank_many(contexts) == [hybrid.rank(context) for context in contexts]

    def test_a_cache_that_cannot_be_written_costs_time_and_not_the_run(self, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("TRACE_CACHE", str(tmp_path / "file" / "cache"))
        embeddings._encoder_of.cache_clear()
        with pytest.warns(UserWarning, match="embeddings are not kept"):
            encoder = embeddings.default_encoder()
        assert encoder.encode(["quiet patio"]).shape == (1, 384)
        embeddings._encoder_of.cache_clear()

    def test_a_folder_that_holds_no_model_is_one_error(self, tmp_path):
        with pytest.raises(UsageError, match="cannot be loaded"):
            Encoder(str(tmp_path))


def test_without_the_encoder_hybrid_votes_with_three_and_the_parameters_say_so(benchmark, monkeypatch):
    monkeypatch.setattr(embeddings, "encoder_available", lambda: False)
    hybrid = load_baseline("hybrid_rrf")
    assert list(hybrid.parameters["rankers"]) == ["tfidf", "aspect"]
    hybrid.prepare(benchmark.kb)
    contexts = [context for _, context in turn_contexts(benchmark.dialogues[0], benchmark.kb.cells, "closed", 42, "x")]
    assert all(sorted(hybrid.rank(context)) == sorted(context.pool) for context in contexts)


def test_without_the_libraries_dense_names_the_pip_line(benchmark, monkeypatch):
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    embeddings.best_dtype.cache_clear()
    embeddings._encoder_of.cache_clear()
    dense = load_baseline("dense")
    for use in (lambda: dense.parameters, lambda: dense.prepare(benchmark.kb)):
        with pytest.raises(UsageError, match=r"pip install 'trace-dataset\[local\]'"):
            use()


def test_loading_a_baseline_imports_no_library_of_models():
    code = (
        "import sys; from trace_dataset.baseline import load_baseline; "
        "[load_baseline(name) for name in ('dense', 'hybrid_rrf', 'llm_zero_shot')]; "
        "sys.exit(bool({'torch', 'sentence_transformers', 'dspy'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
