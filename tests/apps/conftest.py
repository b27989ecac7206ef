"""A headless Chromium, pages that note what goes wrong, and the Spaces in processes of their own."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from apps.boards import board
from apps.spaces import STRANGERS, Served, baseline_space, leaderboard_space, metric_space, serve_many, stranger

from trace_dataset.installed import hub_names, hub_path

CHROMIUM = os.environ.get("TRACE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
QUIET = (
    "--no-sandbox --disable-gpu --disable-dev-shm-usage --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
).split()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; skips with a reason where something is missing."""
    for module in ("gradio", "playwright"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed: pip install -e '.[app,browser]'")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or set TRACE_CHROMIUM to its path")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=QUIET)
        yield chromium
        chromium.close()


class Visit:
    """A page in a browser of its own that notes every request elsewhere and every error."""

    def __init__(self, browser: Any, address: str, width: int = 1200) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900})
        self.page = self.context.new_page()
        self.elsewhere: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.goto(address)
        self.page.wait_for_selector(".trace h1")

    def _note(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")):
            self.elsewhere.append(url)

    def click(self, name: str) -> None:
        """Press a button by its words."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def fill(self, label: str, text: str) -> None:
        """Write into a field by its label."""
        self.page.get_by_label(label).first.fill(text)

    def see(self, words: str, within: str = "body") -> None:
        """Wait until words stand in a part of the page."""
        self.page.locator(within, has_text=words).first.wait_for()

    def width(self) -> int:
        """Return how wide the page is; above the window's width it would have to be scrolled sideways."""
        return int(self.page.evaluate("document.documentElement.scrollWidth"))

    def close(self) -> None:
        """Close the page, before its server stops; it must have asked nobody else and raised nothing."""
        if not self.page.is_closed():
            self.context.close()
        assert self.elsewhere == []
        assert self.errors == []


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Open pages that are checked when the test ends."""
    opened: list[Visit] = []

    def open_page(address: str, width: int = 1200) -> Visit:
        opened.append(Visit(browser, address, width))
        return opened[-1]

    yield open_page
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def plain_spaces(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """All metrics' Spaces and the leaderboard, where this project cannot be imported."""
    home = tmp_path_factory.mktemp("plain")
    folders = [metric_space(home / "spaces" / name, name) for name in hub_names("metrics")]
    folders.append(leaderboard_space(home / "spaces" / "leaderboard", board()))
    served = serve_many(home, folders, ours=False)
    yield served
    served.stop()


@pytest.fixture(scope="session")
def baseline_spaces(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """All baselines' Spaces, a stranger's, one that raises and one that does not import."""
    home = tmp_path_factory.mktemp("ours")
    sources = [hub_path("baselines", name) for name in hub_names("baselines")]
    sources += [stranger(home / name, name, lines) for name, lines in STRANGERS.items()]
    folders = [baseline_space(home / "spaces" / source.name.replace("_", "-"), source) for source in sources]
    served = serve_many(home, folders, ours=True)
    yield served
    served.stop()
