"""A baseline's Space: talk to it over invented places, refuse what it suggests, and check every quote."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.apps.baseline_view import View
from trace_dataset.apps.places import POOL_SIZES, pool_of, sample_places, types_of
from trace_dataset.apps.talk import LONGEST_MESSAGE, NOBODY, REFUSAL, Host, Talk
from trace_dataset.apps.widgets.card import Card, read_card
from trace_dataset.apps.widgets.looks import block, import_gradio, serve, wrong
from trace_dataset.baseline import Baseline, load_folder
from trace_dataset.kb import KnowledgeBase
from trace_dataset.lm import LmSettings

WISHES = (
    "Somewhere quiet with kind staff, please",
    "Good coffee and free parking, not expensive",
    "A lively place close to the center",
)
ACTIONS = {"recommend": "recommend one", "compare": "compare two", "explain": "explain"}


def launch(folder: Path, name: str) -> Any:
    """Serve the Space of the baseline that stands in a folder."""
    card = read_card(folder / "README.md")
    return serve(build(lambda: with_model(load_folder(folder, name)), sample_places(), card, name), card.title or name)


def with_model(baseline: Baseline) -> Baseline:
    """Return the baseline with the language model that TRACE_LM names, where it asks one.

    Raises:
        UsageError: it asks a language model, and none is configured.
    """
    if not baseline.uses_lm:
        return baseline
    name, address = os.environ.get("TRACE_LM"), os.environ.get("TRACE_LM_API_BASE")
    if not name:
        raise UsageError(
            f"{baseline.name} asks a language model, and this Space has none configured",
            do="In the Space's settings set the variable TRACE_LM (such as openai/gpt-4o-mini, or local) and the "
            "provider's key as a secret; TRACE_LM_API_BASE is the address of a server of your own",
        )
    baseline.lm = LmSettings(name, api_base=address or None)
    return baseline


class BaselinePage:
    """What happens behind the page: each handler takes the conversation and returns it with the pieces to draw."""

    def __init__(self, make: Callable[[], Baseline], kb: KnowledgeBase, title: str = "") -> None:
        self.kb, self.host = kb, Host(make, kb)
        self.view = View(self.host, title or self.host.name)

    def start(self, city: str, poi_type: str, pool: str, persona: str | None) -> tuple[Any, ...]:
        """Begin a new conversation over a pool; returns it with its pieces, and leaves the message box as it is."""
        talk, _, *pieces = self._drawn(self._new(city, poi_type, pool, persona or ""), "")
        return talk, *pieces

    def send(self, talk: Talk | None, text: str | None, action: str, *setting: str) -> tuple[Any, ...]:
        """Say something; the text stays in the box if there was no answer to it.

        A conversation that the server no longer has begins anew with the page's settings.
        """
        return self._said(talk or self._new(*setting), text or "", action, ())

    def refuse(self, talk: Talk | None, text: str | None, *setting: str) -> tuple[Any, ...]:
        """Refuse the places that the last answer named; the text says what is wanted instead."""
        talk = talk or self._new(*setting)
        if not talk.named:
            answer = replace(talk.answer, error="The last answer names no place to refuse", advice="Ask for one first.")
            return self._drawn(replace(talk, answer=answer), text or "")
        return self._said(talk, (text or "").strip() or REFUSAL, "recommend", talk.named)

    def _new(self, city: str, poi_type: str, pool: str, persona: str) -> Talk:
        persona = " ".join((persona or "").split())[:500] or NOBODY
        return Talk(uuid.uuid4().hex, city, poi_type, pool_of(self.kb, city, poi_type, pool), persona)

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
    gr = import_gradio()
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
        setting, but_text = [where, kind, pool, who], [talk, *outputs[2:]]
        quiet: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal"}
        gr.on([send.click, text.submit], page.send, [talk, text, action, *setting], outputs, **quiet)
        refuse.click(page.refuse, [talk, text, *setting], outputs, **quiet)
        for button, wish in zip(wishes, WISHES, strict=True):
            said = partial(_send_wish, page, wish)
            button.click(said, [talk, action, *setting], outputs, **quiet)
        gr.on([again.click, blocks.load, kind.input, pool.input], page.start, setting, but_text, **quiet)
        where.input(lambda city: _types(gr, kb, city), where, kind, **quiet).then(
            page.start, setting, but_text, **quiet
        )
    return blocks


def _send_wish(page: BaselinePage, wish: str, talk: Talk | None, action: str, *setting: str) -> tuple[Any, ...]:
    return page.send(talk, wish, action, *setting)


def _types(gr: Any, kb: KnowledgeBase, city: str) -> Any:
    kinds = types_of(kb, city)
    return gr.Radio(kinds, value=kinds[0])
