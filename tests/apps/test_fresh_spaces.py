"""A Space as its owner builds it: an empty environment, `pip install -r requirements.txt`, `python app.py`."""

import subprocess
import sys

import pytest
from apps.boards import board
from apps.spaces import baseline_space, leaderboard_space, metric_space, serve_one

from trace_dataset.hub.wheel import own_wheel
from trace_dataset.installed import hub_path

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def installed(tmp_path, folder):
    """Return the Python of an empty environment after the Space's requirements were installed into it."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    done = subprocess.run(
        [python, "-m", "pip", "install", "-q", "-r", "requirements.txt"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return python


def test_a_metrics_space_runs_in_an_empty_environment(browser, visit, tmp_path):
    folder = metric_space(tmp_path / "app", "cgs")
    served = serve_one(tmp_path, folder, installed(tmp_path, folder))
    try:
        one = visit(served.addresses["app"])
        one.page.wait_for_selector(".score strong")
        one.click("A slip and an invention")
        one.see("for every guest", ".unsupported")
        one.see("cosy and quiett", ".fuzzy")
        one.close()
        assert served.reached() == []
    finally:
        served.stop()


def test_a_baselines_space_runs_in_an_empty_environment(browser, visit, tmp_path):
    wheel = own_wheel()
    folder = baseline_space(tmp_path / "app", hub_path("baselines", "tfidf"), f"./{wheel.path}[app]")
    (folder / wheel.path).write_bytes(wheel.read())
    served = serve_one(tmp_path, folder, installed(tmp_path, folder), ours=None)
    try:
        one = visit(served.addresses["app"])
        one.click("Somewhere quiet with kind staff, please")
        one.page.wait_for_selector("li.system")
        one.see("✓ verified")
        one.close()
        assert served.reached() == []
    finally:
        served.stop()


def test_the_leaderboards_space_runs_in_an_empty_environment(browser, visit, tmp_path):
    folder = leaderboard_space(tmp_path / "app", board())
    served = serve_one(tmp_path, folder, installed(tmp_path, folder))
    try:
        one = visit(served.addresses["app"])
        one.see("multi_review_synthesis", "table")
        assert one.page.locator("svg.figure").count() == 1
        one.close()
        assert served.reached() == []
    finally:
        served.stop()
