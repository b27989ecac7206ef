"""The journal of paid work: it goes on after a kill, and refuses what does not belong together."""

import json
import subprocess
import sys

import pytest

from hydrate.errors import StorageError, UsageError
from trace_dataset.lm import Journal

SETTINGS = {"model": "a", "options": {"seed": 7}}


def test_records_come_back_by_key_in_order(tmp_path):
    with Journal(tmp_path / "run.jsonl", SETTINGS) as journal:
        journal.append("one", {"step": 1})
        journal.append("two", {"text": "Zoë\u2028\ud83c"})
        journal.append("one", {"step": 2})
    with Journal(tmp_path / "run.jsonl", SETTINGS) as journal:
        assert journal.records("one") == [{"step": 1}, {"step": 2}]
        assert journal.records("two") == [{"text": "Zoë\u2028\ud83c"}]
        assert journal.records("three") == []
        assert not journal.repaired


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_a_torn_last_line_is_cut_off_and_written_again(tmp_path, cut):
    path = tmp_path / "run.jsonl"
    with Journal(path, SETTINGS) as journal:
        journal.append("one", {"step": 1})
        journal.append("two", {"step": 2})
    path.write_bytes(path.read_bytes()[:-cut])
    with Journal(path, SETTINGS) as journal:
        assert journal.repaired
        assert (journal.records("one"), journal.records("two")) == ([{"step": 1}], [])
        journal.append("two", {"step": 3})
    with Journal(path, SETTINGS) as journal:
        assert journal.records("two") == [{"step": 3}]


def test_a_torn_first_line_is_begun_again(tmp_path):
    (tmp_path / "run.jsonl").write_text('{"trace_jour')
    with Journal(tmp_path / "run.jsonl", SETTINGS) as journal:
        journal.append("one", {"step": 1})
    with Journal(tmp_path / "run.jsonl", SETTINGS) as journal:
        assert journal.records("one") == [{"step": 1}]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"model": "b", "options": {"seed": 7}}, "model"),
        ({"model": "a", "options": {"seed": 8}}, "options"),
        ({"model": "a"}, "options"),
        ({**SETTINGS, "prompt": "x"}, "prompt"),
    ],
)
def test_other_settings_are_refused_by_name(tmp_path, settings, named):
    with Journal(tmp_path / "run.jsonl", SETTINGS):
        pass
    with pytest.raises(UsageError, match=f"{named} differ"):
        Journal(tmp_path / "run.jsonl", settings)
    with Journal(tmp_path / "run.jsonl", SETTINGS):
        pass  # and the refusal left no lock


def test_two_runs_do_not_write_one_journal(tmp_path):
    with Journal(tmp_path / "run.jsonl", SETTINGS), pytest.raises(UsageError, match="another run"):
        Journal(tmp_path / "run.jsonl", SETTINGS)


def test_damage_in_the_middle_and_files_of_another_kind_are_named(tmp_path):
    path = tmp_path / "run.jsonl"
    with Journal(path, SETTINGS) as journal:
        journal.append("one", {"step": 1})
        journal.append("two", {"step": 2})
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], b"{broken\n", lines[2]]))
    with pytest.raises(StorageError, match="line 2"):
        Journal(path, SETTINGS)
    (tmp_path / "other.jsonl").write_text(json.dumps({"name": "x"}) + "\n")
    with pytest.raises(StorageError, match="no journal"):
        Journal(tmp_path / "other.jsonl", SETTINGS)
    with pytest.raises(StorageError, match="cannot be written"):
        Journal(tmp_path / "other.jsonl" / "run.jsonl", SETTINGS)


def test_a_killed_process_leaves_every_record_that_it_wrote(tmp_path):
    script = (
        "import os, sys; from trace_dataset.lm import Journal\n"
        "journal = Journal(sys.argv[1], {'model': 'a'})\n"
        "for number in range(5): journal.append('one', {'step': number})\n"
        "os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run.jsonl")], check=False, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.returncode == -9
    with Journal(tmp_path / "run.jsonl", {"model": "a"}) as journal:
        assert [record["step"] for record in journal.records("one")] == [0, 1, 2, 3, 4]
