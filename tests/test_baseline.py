"""Baselines load by name or by path, and a wrong folder is one clear error."""

import pytest

from hydrate import UsageError
from trace_dataset.baseline import load_baseline
from trace_dataset.retrieval import TfidfIndex, tfidf_scores

GOOD = """
from trace_dataset.baseline import Baseline

class Mine(Baseline):
    def rank(self, turn):
        return sorted(turn.pool)
"""


def write(folder, text):
    folder.mkdir()
    (folder / f"{folder.name}.py").write_text(text)
    return str(folder)


def test_a_folder_of_ones_own(tmp_path):
    assert load_baseline(write(tmp_path / "mine", GOOD)).name == "mine"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1", "it defines none"),
        (GOOD + GOOD.replace("Mine", "Second"), "Mine, Second"),
        ("import nothing_of_the_kind", "does not import"),
        ("raise SystemExit(5)", "does not import: SystemExit: 5"),
        (GOOD + "\n    def __init__(self):\n        raise OSError('no index')\n", "cannot be made: OSError: no index"),
        (GOOD + "\n    def __init__(self, weight):\n        self.weight = weight\n", "cannot be made: TypeError"),
    ],
)
def test_a_folder_that_will_not_do(tmp_path, text, says):
    with pytest.raises(UsageError, match=says):
        load_baseline(write(tmp_path / "bad", text))


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="popularity"):
        load_baseline(str(tmp_path / "nowhere"))


def test_a_bare_name_is_the_installed_one_even_beside_a_folder_of_that_name(tmp_path, monkeypatch):
    write(tmp_path / "tfidf", GOOD)
    monkeypatch.chdir(tmp_path)
    assert type(load_baseline("tfidf")).__name__ == "Tfidf"
    assert type(load_baseline("./tfidf")).__name__ == "Mine"


def test_tfidf_by_hand():
    """The worked case `tfidf_scores-02`."""
    scores = tfidf_scores("quiet taco", {"p": "taco taco salsa", "q": "quiet patio", "r": "taco patio"})
    assert scores == pytest.approx({"p": 0.478108, "q": 0.633553, "r": 0.428046}, abs=1e-6)


def test_a_query_without_known_words_scores_nothing():
    assert TfidfIndex({"p": "taco"}).scores("where is the xylophone", ["p"]) == {"p": 0.0}
