"""A metric's Space: type or paste, see the score and what it was made of."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from . import reading
from .card import Card, read_card
from .findings import show_outputs, show_score
from .forms import Field, Form, form_of
from .looks import LONGEST, block, import_gradio, serve, where_it_failed, wrong
from .scoring import Scoring

logger = logging.getLogger(__name__)


def launch(folder: Path, name: str) -> Any:
    """Serve the Space of the metric that stands in a folder."""
    card = read_card(folder / "README.md")
    return serve(build(load(folder, name), name, card), card.title or name)


def load(folder: Path, name: str) -> Any:
    """Return the metric of a folder as `evaluate.load` gives it; rows stay in memory, for they may be anybody's text."""
    import evaluate

    return evaluate.load(str(folder / f"{name}.py"), keep_in_memory=True)


class MetricPage:
    """What happens behind a metric's page: values in, two pieces of HTML out, whatever was typed."""

    def __init__(self, metric: Any, name: str, card: Card) -> None:
        self.metric, self.name, self.card = metric, name, card
        self.scoring = Scoring.beside(metric)
        self.form: Form | None = form_of(name, metric.features) if self.scoring else None

    def answer(self, *values: Any) -> tuple[str, str]:
        """Return the HTML of the score and of what was found, for the form's values in order."""
        assert self.form is not None
        named = {
            field.name: value if value is not None else field.value
            for field, value in zip(self.form.fields, values, strict=True)
        }
        form = self.form
        return self._answer(
            sum(len(value) for value in named.values() if isinstance(value, str)),
            lambda: form.read(named),
            lambda arguments: form.show(self.scoring, named, arguments),
        )

    def answer_rows(self, text: str | None) -> tuple[str, str]:
        """Return the same for rows given as JSON; nothing is marked in them."""
        return self._answer(len(text or ""), lambda: reading.rows(text or ""), lambda arguments: "")

    def _answer(self, size: int, read: Any, show: Any) -> tuple[str, str]:
        if size > LONGEST:
            return wrong(
                f"That is {size:,} characters, and this page takes {LONGEST:,}",
                "For more, use evaluate.load in Python.",
            ), ""
        started = time.monotonic()
        try:
            arguments = read()
            # an instance of its own for every request: one keeps rows after an error, and two requests must not mix theirs
            result = type(self.metric)(keep_in_memory=True).compute(**arguments)
            found = show(arguments)
        except ValueError as error:
            return wrong(str(getattr(error, "what", error)).split("\n")[0], getattr(error, "do", None)), ""
        except Exception as error:
            logger.error(
                "the metric %s failed: %s", self.name, where_it_failed(error)
            )  # not its text: it may be typed text
            return wrong(
                f"The metric stopped with {type(error).__name__}", "Check the shape of the rows against the card."
            ), ""
        seconds = f'<p class="quiet">computed in {time.monotonic() - started:.2f} s, in this Space; nothing is kept</p>'
        score = show_score(result, headline(self.name, result), self.card.outputs)
        return block(score, aria_live="polite"), block(found + show_outputs(result, self.card.outputs) + seconds)


def headline(name: str, result: Mapping[str, Any]) -> str:
    """Return the output that is shown large: the one called like the metric, else the first."""
    return name if name in result else next(iter(result))


def build(metric: Any, name: str, card: Card) -> Any:
    """Return the page of a loaded metric, not yet served."""
    gr = import_gradio()
    page = MetricPage(metric, name, card)
    with gr.Blocks(title=card.title or name, analytics_enabled=False) as blocks:
        gr.HTML(block(f"<h1>{escape(card.title or name)}</h1>"))
        if card.lead:
            gr.Markdown(card.lead, elem_classes="trace")
        with gr.Row(equal_height=False):
            with gr.Column(min_width=320):
                run, inputs, examples, rows, run_rows = _inputs(gr, page)
            with gr.Column(min_width=320):
                score = gr.HTML()
                found = gr.HTML()
        if card.limits:
            with gr.Accordion("Limits, and how it can be fooled", open=True):
                gr.Markdown(card.limits, elem_classes="trace")
        outputs = [score, found]
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
        if page.form is not None:
            gr.on(
                [run.click, *(field.submit for field in inputs if hasattr(field, "submit"))],
                page.answer,
                inputs,
                outputs,
                **quiet,
            )
            for button, values in examples:
                button.click(lambda values=values: list(values), None, inputs, **quiet).then(
                    page.answer, inputs, outputs, **quiet
                )
            blocks.load(page.answer, inputs, outputs, **quiet)
        run_rows.click(page.answer_rows, rows, outputs, **quiet)
    return blocks


def _inputs(gr: Any, page: MetricPage) -> tuple[Any, list[Any], list[tuple[Any, list[Any]]], Any, Any]:
    """Make the inputs of a page: the form with its examples where there is one, and rows as JSON."""
    run: Any = None
    inputs: list[Any] = []
    examples: list[tuple[Any, list[Any]]] = []
    if page.form is not None:
        inputs = [_component(gr, field) for field in page.form.fields]
        run = gr.Button("Compute", variant="primary")
        gr.HTML(block('<p class="quiet">Or look at an example:</p>'))
        with gr.Row():
            for title, values in page.form.examples.items():
                button = gr.Button(title, size="sm", elem_classes="small")
                examples.append((button, [values.get(field.name, field.value) for field in page.form.fields]))
    with gr.Accordion("Many rows, as JSON", open=page.form is None):
        shape = '{"predictions": […], "references": […]}'
        rows = gr.Textbox(label="Rows", info=f"What compute() takes: {shape}", lines=4, max_lines=12, value="")
        run_rows = gr.Button("Compute rows")
    return run, inputs, examples, rows, run_rows


def _component(gr: Any, field: Field) -> Any:
    if field.kind == "check":
        return gr.Checkbox(field.value, label=field.label, info=field.info or None)
    if field.kind == "number":
        return gr.Slider(
            field.low, field.high, value=field.value, step=0.05, label=field.label, info=field.info or None
        )
    if field.kind == "choice":
        return gr.Radio(list(field.choices), value=field.value, label=field.label, info=field.info or None)
    return gr.Textbox(
        field.value, label=field.label, info=field.info or None, lines=field.lines, max_lines=max(12, field.lines)
    )
