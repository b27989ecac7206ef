"""What the dialogue viewer shows: turns in pieces, each quote with its status and the review it was looked for in.

Verified: the quote stands in a cited review as it is. Fuzzy: at 80 % similarity. Unsupported: in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from hydrate.errors import UsageError
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.stored import restore_text
from trace_dataset.release import Benchmark
from trace_dataset.schema import Citation, Dialogue, Turn
from trace_dataset.scoring.grounding import THRESHOLD
from trace_dataset.scoring.matching import NormalForms, cutoff_of, stands_in
from trace_dataset.scoring.text import label_positions, parse_citations, quote_spans

STATUSES = ("verified", "fuzzy", "unsupported")
SHOWN = ("recall_at_1", "gs", "cd", "pc")
Piece = dict[str, Any]


class Viewer:
    """Collects dialogues for the page, with only the reviews and places that they need."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.reviews: dict[str, str] = {}
        self.places: dict[str, dict[str, Any]] = {}
        self._plain = NormalForms()

    def data(self, runs: Sequence[tuple[str, str, RunFolder, Results]], most: int) -> dict[str, Any]:
        """Return everything the page needs, as JSON values.

        Args:
            runs: key, name, folder and results of each run, all over dialogues of the benchmark.
            most: how many dialogues, the first of those that all runs answered.
        """
        shared = self._shared(runs)
        chosen = shared[:most]
        answers = {key: _answers(run, result, {item.dialogue_id for item in chosen}) for key, _, run, result in runs}
        figures = {key: _figures(result) for key, _, _, result in runs}
        rows = [self._dialogue(item, answers, figures) for item in chosen]
        return {
            "systems": [{"key": key, "name": name} for key, name, _, _ in runs],
            "dialogues": rows,
            "reviews": self.reviews,
            "places": self.places,
            "total": len(shared),
        }

    def _shared(self, runs: Sequence[tuple[str, str, RunFolder, Results]]) -> list[Dialogue]:
        shared = (
            set.intersection(*(set(result.dialogues["dialogue_id"]) for _, _, _, result in runs)) if runs else set()
        )
        return [item for item in self.benchmark.dialogues if item.dialogue_id in shared]

    def _dialogue(
        self,
        dialogue: Dialogue,
        answers: Mapping[str, Mapping[tuple[str, int], StoredResponse]],
        figures: Mapping[str, Mapping[tuple[str, int], Mapping[str, float | None]]],
    ) -> dict[str, Any]:
        for place in dialogue.candidates:
            self._place(place)
        turns = []
        for turn in dialogue.turns:
            key = (dialogue.dialogue_id, turn.index)
            row = self._turn(turn)
            if turn.role == "system":
                row["answers"] = {
                    run: self._answer(found[key], figures[run].get(key, {}))
                    for run, found in answers.items()
                    if key in found
                }
            turns.append(row)
        return {
            "id": dialogue.dialogue_id,
            "about": [
                dialogue.city,
                dialogue.poi_type,
                dialogue.difficulty,
                dialogue.persona,
                self.benchmark.split_of[dialogue.dialogue_id],
            ],
            "persona": dialogue.persona_description,
            "candidates": list(dialogue.candidates),
            "turns": turns,
        }

    def _turn(self, turn: Turn) -> dict[str, Any]:
        return {
            "role": turn.role,
            "action": turn.action,
            "text": self._pieces(turn.text, turn.citations),
            "places": self._named(turn.poi_ids),
            "rejected": self._named(turn.rejected_poi_ids),
            "gold": self._named(turn.gold_poi_ids),
            "alternatives": self._named(turn.alternative_poi_ids),
        }

    def _answer(self, response: StoredResponse, figures: Mapping[str, float | None]) -> dict[str, Any]:
        text = restore_text(response.text, self.benchmark.texts)
        return {
            "text": self._pieces(text, response.citations),
            "places": self._named(response.poi_ids),
            "error": response.error,
            "scores": {name: figures.get(name) for name in SHOWN},
        }

    def _named(self, places: Sequence[str]) -> list[str]:
        for place in places:
            self._place(place)
        return list(places)

    def _place(self, place: str) -> None:
        if place not in self.places:
            poi = self.benchmark.kb.pois[place]
            self.places[place] = {"name": poi.name, "at": [poi.latitude, poi.longitude]}

    def _pieces(self, text: str, citations: Sequence[Citation]) -> list[Piece]:
        texts = self.benchmark.texts
        by_number = {int(item.label[1:]): item for item in citations}
        standing = set(parse_citations(text))
        cited = [item.review_id for n, item in by_number.items() if n in standing and item.review_id in texts]
        marks = sorted(
            [*self._quotes(text, list(dict.fromkeys(cited))), *_labels(text, by_number)], key=lambda mark: mark[0]
        )
        pieces: list[Piece] = []
        at = 0
        for start, end, piece in marks:
            if start < at:  # a label inside a quote belongs to the quote
                continue
            if start > at:
                pieces.append({"t": text[at:start]})
            pieces.append({"t": text[start:end], **piece})
            self.reviews |= {review: texts[review] for review in piece.get("reviews", ()) if review in texts}
            at = end
        if at < len(text):
            pieces.append({"t": text[at:]})
        return pieces

    def _quotes(self, text: str, cited: Sequence[str]) -> Iterator[tuple[int, int, Piece]]:
        for start, end, _ in quote_spans(text):
            status, review = self._status(text[start:end], cited)
            yield start, end, {"status": status, "reviews": [review] if review else list(cited[:1])}

    def _status(self, quote: str, cited: Sequence[str]) -> tuple[str, str | None]:
        for status, threshold in (("verified", "exact"), ("fuzzy", THRESHOLD)):
            for review in cited:
                if stands_in(quote, [self.benchmark.texts[review]], cutoff_of(threshold), self._plain):
                    return status, review
        return "unsupported", None


def licensed(data: Mapping[str, Any]) -> bool:
    """Return whether a viewer's data hold review text or places of a bundle."""
    return bool(data.get("dialogues"))


def _labels(text: str, by_number: Mapping[int, Citation]) -> Iterator[tuple[int, int, Piece]]:
    for start, numbers in label_positions(text):
        end = text.find("]", start) + 1
        found = [by_number[n].review_id for n in numbers if n in by_number]
        yield start, end, {"label": True, "reviews": found}


def _answers(run: RunFolder, result: Results, wanted: set[str]) -> dict[tuple[str, int], StoredResponse]:
    """Return the responses to some dialogues, reading no more shards than needed."""
    found: dict[tuple[str, int], StoredResponse] = {}
    left = set(wanted)
    for number in count():
        if not left or number >= int(run.settings["shards"]):
            break
        for item in run.shard_responses(number):
            if item.dialogue_id in wanted:
                found[item.dialogue_id, item.turn_index] = item
                left.discard(item.dialogue_id)
    if left:
        raise UsageError(f"{run.folder} has no responses to {len(left)} dialogues", do="run it again")
    return found


def _figures(result: Results) -> dict[tuple[str, int], dict[str, float | None]]:
    keys = zip(result.turns["dialogue_id"], result.turns["turn_index"], strict=True)
    return {key: {name: result.turns[name][at] for name in SHOWN} for at, key in enumerate(keys)}
