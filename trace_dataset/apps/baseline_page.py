"""A baseline's Space: talk to it over invented places, refuse what it suggests, and check every quote."""

from __future__ import annotations

import importlib
import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.apps.baseline_view import View
from trace_dataset.apps.places import POOL_SIZES, pool_of, sample_places, types_of
from trace_dataset.apps.talk import LONGEST_MESSAGE, NOBODY, REFUSAL, Answer, Host, Talk
from trace_dataset.apps.widgets.card import Card, read_card
from trace_dataset.apps.widgets.looks import block, serve, wrong
from trace_dataset.baseline import Baseline, load_folder
from trace_dataset.kb import KnowledgeBase

WISHES = (
    "Somewhere quiet with kind staff, please",
    "Good coffee and free parking, not expensive",
    "A lively place close to the center",
)
ACTIONS = {"recommend": "recommend one", "compare": "compare two", "explain": "explain"}


def launch(folder: Path, name: str) -> Any:
    """Serve the Space of the baseline that stands in a folder."""
    card = read_card(folder / "README.md")
    return serve(build(lambda: with_model(load(folder, name)), sample_places(), card, name), card.title or name)


def load(folder: Path, name: str) -> Baseline:
    """Return the baseline of a folder; a Space's folder is not called like its module."""
    loader: Any = load_folder
    return loader(folder) if folder.name == name else loader(folder, name)  # type: ignore[no-any-return]


def with_model(baseline: Baseline) -> Baseline:
    """Return the baseline with the language model that TRACE_LM names, where it asks one.

    Raises:
        UsageError: it asks a language model, and none is configured.
    """
    if not getattr(baseline, "uses_lm", False):
        return baseline
    name, address = os.environ.get("TRACE_LM"), os.environ.get("TRACE_LM_API_BASE")
    if not name:
        raise UsageError(
            f"{baseline.name} asks a language model, and this Space has none configured",
            do="in the Space's settings set the variable TRACE_LM (such as openai/gpt-4o-mini, or local) and the "
            "provider's key as a secret; TRACE_LM_API_BASE is the address of a server of your own",
        )
    lm: Any = importlib.import_module("trace_dataset.lm")
    asking: Any = baseline
    asking.lm = lm.LmSettings(name, api_base=address or None)
    return baseline


class BaselinePage:
    """What happens behind the page: each handler takes the conversation and returns it with the pieces to draw."""

    def __init__(self, make: Callable[[], Baseline], kb: KnowledgeBase, title: str = "") -> None:
        self.kb, self.host = kb, Host(make, kb)
        self.view = View(self.host, title or self.host.name)

    def start(self, city: str, poi_type: str, pool: str, persona: str | None) -> tuple[Any, ...]:
        """Begin a new conversation over a pool."""
        persona = " ".join((persona or "").split())[:500] or NOBODY
        places = pool_of(self.kb, city, poi_type, pool)
        return self._drawn(Talk(uuid.uuid4().hex, city, poi_type, places, persona), "")

    def send(self, talk: Talk, text: str | None, action: str) -> tuple[Any, ...]:
        """Say something; the text stays in the box if there was no answer to it."""
        return self._said(talk, text or "", action, ())

    def refuse(self, talk: Talk, text: str | None) -> tuple[Any, ...]:
        """Refuse the places that the last answer named; the text says what is wanted instead."""
        if not talk.named:
            answer = Answer(
                talk.answer.ranking,
                talk.answer.response,
                "The last answer names no place to refuse",
                "Ask for one first.",
            )
            return self._drawn(replace(talk, answer=answer), text or "")
        return self._said(talk, (text or "").strip() or REFUSAL, "recommend", talk.named)

    def _said(self, talk: Talk, text: str, action: str, rejected: tuple[str, ...]) -> tuple[Any, ...]:
        talk = self.host.say(talk, text, action if action in ACTIONS else "recommend", rejected)
        kept = text[: LONGEST_MESSAGE + 1] if talk.answer.error else ""
        return self._drawn(talk, kept)

    def _drawn(self, talk: Talk, text: str) -> tuple[Any, ...]:
        view = self.view
        return talk, text, view.conversation(talk), view.ranking(talk), view.map(talk), view.sources(talk)


def build(make: Callable[[], Baseline], kb: KnowledgeBase, card: Card, name: str) -> Any:
    """Return the page of a baseline, not yet served.

    Args:
        make: returns a new instance, not yet prepared; if it raises, the page says why and stays.
    """
    import gradio as gr

    page = BaselinePage(make, kb, card.title or name)
    city = kb.cities[0]
    with gr.Blocks(title=card.title or name, analytics_enabled=False) as blocks:
        gr.HTML(block(f"<h1>{escape(card.title or name)}</h1>"))
        if card.lead:
            gr.Markdown(card.lead, elem_classes="trace")
        gr.HTML(
            block(
                f'<p class="quiet">{len(kb.pois):,} invented places with {len(kb.reviews):,} invented reviews; '
                "nothing here is a real business or a real review.</p>"
            )
        )
        if page.host.fault is not None:
            gr.HTML(wrong(*page.host.fault))
        talk = gr.State(None)
        with gr.Row(equal_height=False):
            with gr.Column(min_width=320):
                with gr.Row():
                    where = gr.Dropdown(list(kb.cities), value=city, label="City", min_width=140)
                    kind = gr.Radio(
                        types_of(kb, city), value=types_of(kb, city)[0], label="Type of place", min_width=220
                    )
                pool = gr.Radio(list(POOL_SIZES), value="8", label="Pool", info="How many places it may choose from.")
                with gr.Accordion("Who is travelling", open=False):
                    who = gr.Textbox(
                        label="About you", info="Some baselines read it. Press Start over to use it.", lines=2
                    )
                conversation = gr.HTML()
                text = gr.Textbox(label="Your message", lines=2, max_lines=6, placeholder=WISHES[0])
                action = gr.Radio(
                    [(label, key) for key, label in ACTIONS.items()], value="recommend", label="Ask it to"
                )
                with gr.Row():
                    send = gr.Button("Send", variant="primary", min_width=90)
                    refuse = gr.Button("Not this one", min_width=110)
                    again = gr.Button("Start over", min_width=100)
                with gr.Row():
                    wishes = [gr.Button(wish, size="sm", elem_classes="small") for wish in WISHES]
            with gr.Column(min_width=320):
                ranking = gr.HTML()
                chart = gr.HTML()
        sources = gr.HTML()
        outputs = [talk, text, conversation, ranking, chart, sources]
        setting = [where, kind, pool, who]
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
        gr.on([send.click, text.submit], page.send, [talk, text, action], outputs, **quiet)
        refuse.click(page.refuse, [talk, text], outputs, **quiet)
        for button, wish in zip(wishes, WISHES, strict=True):
            button.click(
                lambda talk, action, wish=wish: page.send(talk, wish, action), [talk, action], outputs, **quiet
            )
        gr.on([again.click, blocks.load, kind.input, pool.input], page.start, setting, outputs, **quiet)
        where.input(lambda city: _types(gr, kb, city), where, kind, **quiet).then(page.start, setting, outputs, **quiet)
    return blocks


def _types(gr: Any, kb: KnowledgeBase, city: str) -> Any:
    kinds = types_of(kb, city)
    return gr.Radio(kinds, value=kinds[0])
