"""A submission is a run folder: dehydrated responses with their fingerprints. It is scored again from the responses alone.

Nothing that a submission says about its own quality is read: not `scores.json`, and of a response neither the places it
claims to name (they must stand in its text), nor a ranking outside the pool, nor a citation of a review that the pool has
not. What does not hold is put right and counted; what cannot be checked is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from hydrate.errors import BundleError, LicensedTextError, UsageError
from trace_dataset.evaluation.contexts import turn_contexts
from trace_dataset.evaluation.job import SEED
from trace_dataset.evaluation.mentions import scored_places
from trace_dataset.evaluation.responses import StoredResponse
from trace_dataset.evaluation.results import Results
from trace_dataset.evaluation.run_folder import RunFolder
from trace_dataset.evaluation.score import score_responses
from trace_dataset.evaluation.stored import restore_text
from trace_dataset.hub.files import collect
from trace_dataset.pools import pool_name
from trace_dataset.release import Benchmark
from trace_dataset.schema import Dialogue
from trace_dataset.turns import TurnContext

Progress = Callable[[str, int, int], None]
LONGEST_NAME = 80
CORRECTED = ("places", "rankings", "citations", "failures")


@dataclass(frozen=True)
class Submission:
    """A submission that was scored again.

    Attributes:
        results: the new scores.
        corrected: how many responses claimed places, rankings, citations or failures that did not hold.
        digest: SHA256 over the responses as they were handed in.
    """

    results: Results
    corrected: Mapping[str, int]
    digest: str

    def __str__(self) -> str:
        settings, estimates = self.results.settings, self.results.estimates()
        put_right = ", ".join(f"{count} {name}" for name, count in self.corrected.items() if count) or "nothing"
        shown = "  ".join(f"{name} {estimates[name]}" for name in ("recall_at_1", "cgs", "rejection_recovery"))
        return (
            f"{self.results.name}: {len(self.results.dialogues['dialogue_id']):,} dialogues, pool {settings['pool']}, "
            f"split {settings['split']}, {self.results.n_failed:,} failed turns, submission {self.digest[:12]}\n"
            f"  {shown}\n  put right: {put_right}"
        )


def verify_submission(folder: str | Path, benchmark: Benchmark, progress: Progress | None = None) -> Submission:
    """Score a submission again from its responses.

    Args:
        folder: a run folder, as `trace-dataset run` writes it; a stranger's, so only `run.json` and the responses are read.
        benchmark: hydrated with a bundle, the one that the submission was made on.

    Raises:
        BundleError: responses are missing, twice there, damaged, or of other turns.
        HydrationError: a response does not read as its SHA256 says.
        LicensedTextError: review text stands in the submission.
        UsageError: the submission was made on another benchmark, or describes itself wrongly.
    """
    if not benchmark.texts:
        raise UsageError(
            "a submission is scored with review text", do="name your Yelp bundle with yelp_path=… (--yelp)"
        )
    with tempfile.TemporaryDirectory() as scratch:
        run = _copy(Path(folder).expanduser(), Path(scratch))
        settings = _settings(run, benchmark)
        responses = run.responses()
    split = None if settings["split"] == "all" else settings["split"]
    dialogues = benchmark.split(split)[: settings["limit"]]
    _check_turns(responses, dialogues)
    checker = _Checker(benchmark, settings["pool"])
    by_dialogue: dict[str, list[StoredResponse]] = {}
    for response in responses:
        by_dialogue.setdefault(response.dialogue_id, []).append(response)
    checked: list[StoredResponse] = []
    for number, dialogue in enumerate(dialogues, 1):
        checked += checker.dialogue(dialogue, by_dialogue[dialogue.dialogue_id])
        if progress is not None:
            progress("checking responses", number, len(dialogues))
    results = score_responses(settings, dialogues, checked, benchmark)
    return Submission(results, {name: checker.corrected[name] for name in CORRECTED}, responses_digest(responses))


def responses_digest(responses: Sequence[StoredResponse]) -> str:
    """Return the SHA256 over responses, whatever shards they came in."""
    total = hashlib.sha256()
    for item in sorted(responses, key=lambda item: (item.dialogue_id, item.turn_index)):
        row = {**dataclasses.asdict(item), "usage": None}
        total.update(orjson.dumps(row, option=orjson.OPT_SORT_KEYS, default=str) + b"\n")
    return total.hexdigest()


class _Checker:
    """Holds each response against the dialogue's pool and its own text."""

    def __init__(self, benchmark: Benchmark, pool: str) -> None:
        self.benchmark, self.pool = benchmark, pool
        self.corrected: Counter[str] = Counter()

    def dialogue(self, dialogue: Dialogue, responses: Sequence[StoredResponse]) -> list[StoredResponse]:
        """Return the responses of a dialogue with what does not hold put right."""
        by_turn = {item.turn_index: item for item in responses}
        contexts = turn_contexts(dialogue, self.benchmark.kb.cells, self.pool, SEED, "verify")
        return [self._response(by_turn[index], context) for index, context in contexts]

    def _response(self, response: StoredResponse, context: TurnContext) -> StoredResponse:
        kb, pool = self.benchmark.kb, set(context.pool)
        if response.action != context.action:
            raise BundleError(
                f"dialogue {response.dialogue_id}, turn {response.turn_index} answers {response.action!r} where the benchmark "
                f"asks for {context.action!r}",
                do="run the baseline again on this benchmark",
            )
        text = restore_text(response.text, self.benchmark.texts)
        if self.benchmark.finder.any_run(response.text.template) is not None:
            raise LicensedTextError(
                f"review text stands in clear in dialogue {response.dialogue_id}, turn {response.turn_index}",
                do="hand in the run folder as `trace-dataset run` wrote it",
            )
        failed = response.error is not None or not text.strip()
        claimed = () if failed else response.poi_ids
        inside = [place for place in claimed if place in pool]
        named, _ = scored_places(text, inside, {place: kb.pois[place].name for place in inside})
        ranking = tuple(dict.fromkeys(place for place in response.ranking if place in pool))
        reviews = {review for place in context.pool for review in kb.reviews_of[place]}
        labels = Counter(item.label for item in response.citations)
        citations = tuple(
            item
            for item in response.citations
            if item.review_id in reviews
            and kb.reviews[item.review_id].business_id == item.business_id
            and labels[item.label] == 1
        )
        self.corrected["places"] += named != response.poi_ids
        self.corrected["rankings"] += ranking != response.ranking
        self.corrected["citations"] += citations != response.citations
        self.corrected["failures"] += failed and response.error is None
        error = response.error or ("the response is empty" if failed else None)
        return dataclasses.replace(response, poi_ids=named, ranking=ranking, citations=citations, error=error)


def _copy(folder: Path, target: Path) -> RunFolder:
    """Copy what is read of a submission to a place of its own, so that its claimed scores are not there."""
    files, _ = collect(folder)
    if "run.json" not in files:
        raise BundleError(
            f"{folder} holds no run: run.json is missing", do="give a folder that `trace-dataset run` wrote"
        )
    here = target / (folder.resolve().name or "submission")
    for path, file in files.items():
        if path == "run.json" or (path.startswith("responses/") and path.endswith(".parquet")):
            destination = here / path
            destination.parent.mkdir(parents=True, exist_ok=True)
            assert isinstance(file.source, Path)
            shutil.copyfile(file.source, destination)
    return RunFolder.open(here)


def _settings(run: RunFolder, benchmark: Benchmark) -> dict[str, Any]:
    """Return the settings that count, each checked; raises `UsageError` for a submission to another benchmark."""
    settings = dict(run.settings)
    name, digest = settings.get("baseline"), settings.get("content_digest")
    if not isinstance(name, str) or not name.isprintable() or not 0 < len(name) <= LONGEST_NAME:
        raise UsageError("the submission has no usable name of a system", do="hand in the run folder as it was written")
    ours = benchmark.release.manifest
    if digest != ours.content_digest:
        raise UsageError(
            f"the submission was made on benchmark {str(digest)[:12]}, and this one is {ours.content_digest[:12]}",
            do="name the bundle, release, seed and size that it was made with",
        )
    limit = settings.get("limit")
    if limit is not None and (type(limit) is not int or limit < 1):
        raise UsageError(f"the submission has limit={limit!r}", do="hand in the run folder as it was written")
    split = settings.get("split")
    benchmark.split(None if split == "all" else str(split))
    return {
        **settings,
        "pool": pool_name(str(settings.get("pool"))),
        "split": split,
        "limit": limit,
        "bundle_fingerprint": ours.bundle_fingerprint,
    }


def _check_turns(responses: Sequence[StoredResponse], dialogues: Sequence[Dialogue]) -> None:
    wanted = {(item.dialogue_id, turn.index) for item in dialogues for turn in item.turns if turn.role == "system"}
    counts = Counter((item.dialogue_id, item.turn_index) for item in responses)
    missing, strange = wanted - set(counts), set(counts) - wanted
    twice = [key for key, count in counts.items() if count > 1]
    for what, keys in (("has no response for", missing), ("answers", strange), ("answers more than once", twice)):
        if keys:
            dialogue, turn = min(keys)
            raise BundleError(
                f"the submission {what} {len(keys):,} turns{' that are not in the benchmark' if keys is strange else ''}, "
                f"first dialogue {dialogue}, turn {turn}",
                do="run the baseline again over the same split, and hand in the whole folder",
            )
