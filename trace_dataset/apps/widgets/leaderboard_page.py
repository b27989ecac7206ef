"""The leaderboard's Space: verified scores with intervals, the gap figure, and how to submit."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from .board import TIERS, Board, Entry, Score, Setting, read_published
from .gap_figure import COMPETENCIES, draw_gaps
from .looks import block, import_gradio, serve, table, wrong

TITLE = "TRACE leaderboard"
LEAD = (
    "A travel recommender should name the right place, prove what it says with reviews that it really quotes, and find another "
    "good place after a “no”. Most systems do one of the three. Every score here was computed again from the system's stored "
    "responses by a maintainer; what a submission claims about itself is never read."
)
COLUMNS = {
    "R@1": "recall_at_1",
    "R@3": "recall_at_3",
    "MRR": "mrr",
    "CGS": "cgs",
    "RejRec": "rejection_recovery",
    "TSR": "tsr",
}
MEANING = (
    "R@1, R@3, MRR: was the right place named, and how early. CGS: grounding, the product of quote accuracy, citation "
    "density and provenance. RejRec: share of refusals after which the next recommendation is right, refused places not "
    "counting. TSR: dialogues with a right place. [low, high]: 95 % bootstrap interval over dialogues; – no value. Controls "
    "are no systems: random and random_unseen show chance, parrot repetition, oracle the ceiling."
)
LOWER_IS_BETTER = ("t2r", "t2r_hits", "t2r_turn_index", "t2r_rec_turns")
SUBMIT = """
1. Run your system on the benchmark, with your own copy of the Yelp Open Dataset:
   `trace-dataset run ./my_idea --yelp ~/Yelp-JSON.zip --out runs`
2. Hand in the run folder (`run.json` and `responses/`), as a pull request to this Space or an issue of the project. It
   holds your responses without review text: quotes are stored as places in reviews.
3. A maintainer, who has the same bundle, scores it again:
   `trace-dataset verify-submission runs/my_idea-closed --yelp ~/Yelp-JSON.zip`. Only what comes out of that stands here.

To see first what your scores would be, run step 3 yourself. To score the answers of a system that is no folder of ours,
write them as `responses.jsonl` and see `trace-dataset score --help`.
"""


def launch(folder: Path) -> Any:
    """Serve the leaderboard whose data stand in a folder."""
    return serve(build(read_published(folder)), TITLE)


class LeaderboardPage:
    """What happens behind the page: choices in, HTML out; a choice that does not exist gives the nearest that does."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.settings: dict[str, Setting] = {board.describe(setting): setting for setting in board.settings()}

    def draw(self, named: str, pool: str, tier: str, families: Sequence[str] | None, by: str) -> tuple[str, str]:
        """Return the table and the gap figure of a choice, best first by a column."""
        setting = self.settings.get(named)
        if setting is None:
            return block("<p>No verified submission yet.</p>"), ""
        pools = self.board.pools(setting)
        pool = pool if pool in pools else pools[0]
        entries = self.board.entries(setting, pool, tier if tier in TIERS else "all", families)
        metric = COLUMNS.get(by, "recall_at_1")
        entries.sort(key=lambda entry: (entry.control, _order(entry, metric), entry.system))
        caption = escape(f"{named}; pool {pool}; difficulty {tier}")
        return self._table(entries, metric, caption), block(f"<h2>Three competencies</h2>{draw_gaps(entries)}")

    def choices(self, named: str, pool: str) -> tuple[list[str], str, list[str]]:
        """Return what can be chosen for a set of dialogues: pools, the pool to show, families."""
        setting = self.settings.get(named)
        if setting is None:
            return [], "", []
        pools = self.board.pools(setting)
        return pools, pool if pool in pools else pools[0], self.board.families(setting)

    def _table(self, entries: list[Entry], metric: str, caption: str) -> str:
        if not entries:
            return block("<p>No system of this choice has been verified yet.</p>")
        header = [
            "system",
            *(_heading(title, name == metric) for title, name in COLUMNS.items()),
            "dialogues",
            "failed turns",
        ]
        rows = []
        for entry in entries:
            cells = [_cell(entry.scores.get(name, Score())) for name in COLUMNS.values()]
            rows.append([_system(entry), *cells, f"{entry.dialogues:,}", f"{entry.failed:,}"])
        names = list(dict.fromkeys(name for entry in entries for name in entry.scores))
        every = [
            [_system(entry), *(_cell(entry.scores.get(name, Score()), n=True) for name in names)] for entry in entries
        ]
        wide = table(["system", *(f"<code>{escape(name)}</code>" for name in names)], every, label="all scores")
        more = f'<details class="first"><summary>All scores, with the number of units</summary>{wide}</details>'
        lower = [name for name in LOWER_IS_BETTER if name in names]
        note = f" Lower is better: {', '.join(lower)}." if lower else ""
        shown = table(header, rows, tuple(range(1, len(header))), caption, "leaderboard")
        return block(f'<div class="first">{shown}</div><p class="quiet">{MEANING}{note}</p>{more}')


def build(board: Board) -> Any:
    """Return the leaderboard's page, not yet served."""
    gr = import_gradio()
    page = LeaderboardPage(board)
    names = list(page.settings)
    first = names[0] if names else ""
    pools, pool, families = page.choices(first, "closed")
    with gr.Blocks(title=TITLE, analytics_enabled=False) as blocks:
        gr.HTML(block(f'<h1>{TITLE}</h1><p class="lead">{LEAD}</p>'))
        if board.fault:
            gr.HTML(wrong(board.fault))
        if board.n_left_out:
            gr.HTML(
                block(
                    f'<p class="quiet">{board.n_left_out} rows are left out: they carry no digest of verified responses.</p>'
                )
            )
        chosen = gr.Dropdown(
            names,
            value=first or None,
            label="Set of dialogues",
            visible=bool(names),
            info="Sets that differ in who wrote the dialogues, the split or the scores' version are never mixed.",
        )
        with gr.Row(visible=bool(names)):
            pool_box = gr.Radio(
                pools, value=pool or None, label="Pool", info="How many places a system may choose from.", min_width=200
            )
            tier = gr.Radio(list(TIERS), value="all", label="Difficulty", min_width=240)
        with gr.Row(visible=bool(names)):
            family = gr.CheckboxGroup(
                families, value=families, label="Family", info="Controls always stay.", min_width=240
            )
            by = gr.Radio(list(COLUMNS), value="R@1", label="Order by", min_width=240)
        shown, figure = gr.HTML(), gr.HTML()
        with gr.Accordion("How to submit", open=True):
            gr.Markdown(SUBMIT, elem_classes="trace")
        inputs, outputs = [chosen, pool_box, tier, family, by], [shown, figure]
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}

        def changed(named: str, pool: str) -> tuple[Any, Any]:
            pools, pool, families = page.choices(named, pool)
            return gr.Radio(pools, value=pool or None), gr.CheckboxGroup(families, value=families)

        gr.on([blocks.load, pool_box.input, tier.input, family.input, by.input], page.draw, inputs, outputs, **quiet)
        chosen.input(changed, [chosen, pool_box], [pool_box, family], **quiet).then(page.draw, inputs, outputs, **quiet)
    return blocks


def _system(entry: Entry) -> str:
    name = f"<i>{escape(entry.system)}</i>" if entry.control else f"<b>{escape(entry.system)}</b>"
    space, _, commit = entry.origin.partition("@")
    origin = f'<br><span title="{escape(entry.origin)}">{escape(space)} {escape(commit[:8])}</span>' if space else ""
    about = "control" if entry.control else escape(entry.family)
    return f'{name}<br><span class="quiet">{about}{origin}</span>'


def _cell(score: Score, n: bool = False) -> str:
    if score.value is None:
        return '<span title="no value: nothing was measured">–</span>'
    interval = "" if score.low is None or score.high is None else f"[{score.low:.3f}, {score.high:.3f}]"
    count = f", n {score.n:,}" if n else ""
    return f'{score.value:.3f}<br><span class="quiet">{interval}{count}</span>'


def _heading(title: str, chosen: bool) -> str:
    arrow = ' <span aria-label="ordered by this">▼</span>' if chosen else ""
    kinds = {short: long for long, _, short in COMPETENCIES}
    return f'{title}{arrow}<br><span class="quiet">{kinds.get(title, "").lower()}</span>'


def _order(entry: Entry, metric: str) -> float:
    value = entry.scores.get(metric, Score()).value
    return float("inf") if value is None else -value
