"""The LM writer with a model that is played: what is accepted, sent back, given to the template, paid once."""

import itertools
import re
import threading

import pytest

import hydrate
from hydrate.errors import UsageError
from tests.lm.echo import echoed, notes_of
from trace_dataset.dialogues import TemplateWriter, build_dialogues
from trace_dataset.dialogues.lm_slots import loops, speaks_of, tidy
from trace_dataset.dialogues.lm_writer import LmWriter, open_lm_writer
from trace_dataset.dialogues.wishes import wording
from trace_dataset.kb.lexicon import catalogue
from trace_dataset.lm import Answer, Budget, Failed, Journal, Meter, Usage
from trace_dataset.schema import Constraint, dialogue_row

N = 6


class Played:
    """A model whose answers a function makes of the number of the call, what it is told, and the fields."""

    name, local = "played", False

    def __init__(self, answer=lambda number, inputs, fields: echoed(inputs, fields), budget=None):
        self.answer, self.meter = answer, Meter(budget or Budget())
        self.signature = {"name": self.name, "options": {}}
        self.asked = []
        self._lock = threading.Lock()

    def ask(self, instructions, inputs, fields, variation=0):
        spent = self.meter.spent()
        if spent:
            return Failed("budget", spent)
        with self._lock:
            self.asked.append((dict(inputs), tuple(fields)))
            number = len(self.asked)
        found = self.answer(number, inputs, fields)
        usage = Usage(1, 100, 20, 0.001)
        self.meter.add(usage)
        return found if isinstance(found, Failed) else Answer(found, "played", usage)


@pytest.fixture
def place(town):
    return town([["quiet", "parking", "wifi"]] * 4 + [["quiet", "wifi"]] * 4)


def build(place, model, n=N, **options):
    options.setdefault("threads", 1)
    kb, evidence = place
    writer = LmWriter(model, **options)
    dialogues, report = build_dialogues(kb, evidence, n_dialogues=n, writer=writer)
    return dialogues, report, writer


def template_texts(place, n=N):
    kb, evidence = place
    return [[turn.text for turn in item.turns] for item in build_dialogues(kb, evidence, n_dialogues=n)[0]]


def texts(dialogue):
    return [turn.text for turn in dialogue.turns]


def changed(name, change, only=lambda number: True):
    """Answer by the notes, with one turn changed."""

    def answer(number, inputs, fields):
        values = echoed(inputs, fields)
        if name in values and only(number):
            values[name] = change(values[name])
        return values

    return answer


def test_sound_texts_are_taken_as_they_are(place):
    model = Played()
    dialogues, report, writer = build(place, model)
    assert {(item.generator, item.attempts, item.fallback) for item in dialogues} == {("lm:played", 1, False)}
    assert len(model.asked) == N  # the whole dialogue in one call
    assert (report.generators, report.fallbacks) == ({"lm:played": N}, 0)
    found = writer.report()
    assert (found.written, found.fallback_share, found.calls, found.prompt_tokens) == (N, 0.0, N, 100 * N)
    assert found.cost == pytest.approx(0.001 * N)
    assert f"{N} dialogues written" in str(found)
    assert found.to_json()["written"] == N


def test_quotes_and_names_come_from_us_and_verify(place):
    kb, _ = place
    dialogues, _, _ = build(place, Played())
    reviews = {key: review.text for key, review in kb.reviews.items()}
    rows, report = hydrate.hydrate([dialogue_row(item) for item in dialogues], reviews)
    for row in rows:
        for turn in row["turns"]:
            assert "{" not in turn["text"]
            for quote in turn["quotes"]:
                assert (
                    f'"{reviews[quote["review_id"]][quote["start"] : quote["end"]]}" [{quote["label"]}]' in turn["text"]
                )
            for business in turn["poi_ids"]:
                assert kb.pois[business].name in turn["text"]
    assert report


def test_the_same_plans_as_the_template(place):
    kb, evidence = place
    mine, _, _ = build(place, Played())
    theirs, _ = build_dialogues(kb, evidence, n_dialogues=N)
    for one, other in zip(mine, theirs, strict=True):
        assert [(turn.action, turn.poi_ids, turn.quotes, turn.constraints) for turn in one.turns] == [
            (turn.action, turn.poi_ids, turn.quotes, turn.constraints) for turn in other.turns
        ]


FAULTS = {
    "invented_quote": ("turn_4", lambda text: text + ' As they say: "best bed in town by far".'),
    "slots": ("turn_4", lambda text: text.replace("{", "").replace("}", "") + " {quote9}"),
    "brackets": ("turn_4", lambda text: text + " [R3]"),
    "speaker": ("turn_2", lambda text: text + " Traveller: yes."),
    "task": ("turn_2", lambda text: text + " This JSON object says it all."),
    "loop": ("turn_2", lambda text: "What do you want? What do you want? What do you want?"),
    "copied_words": ("turn_2", lambda text: text + " We had a fine stay in room 1 on day 2 of the trip."),
    "user_names_place": ("turn_1", lambda text: text + " Or House Number 01x."),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_sent_back_with_a_complaint_and_only_its_turn(place, name):
    turn, change = FAULTS[name]
    model = Played(changed(turn, change, only=lambda number: number == 1))
    dialogues, report, writer = build(place, model, n=1)
    assert [(item.generator, item.attempts) for item in dialogues] == [("lm:played", 2)]
    assert [fields for _, fields in model.asked[1:]] == [(turn,)]
    assert model.asked[1][0]["what_was_wrong_before"].startswith(f"{turn}: ")
    assert writer.report().complaints[name] == report.rewrites[name] == 1


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_that_stays_gives_the_dialogue_to_the_template(place, name):
    turn, change = FAULTS[name]
    model = Played(changed(turn, change))
    dialogues, report, writer = build(place, model, tries=2)
    assert {(item.generator, item.attempts, item.fallback) for item in dialogues} == {("template", 3, True)}
    assert [texts(item) for item in dialogues] == template_texts(place)
    assert (report.fallbacks, writer.report().fallbacks) == (N, {"tries": N})
    assert writer.report().fallback_share == 1.0


def test_a_wish_that_is_not_said_is_sent_back(place):
    model = Played(
        lambda number, inputs, fields: {
            key: text if "{" in text else f"Hm, number {number} and {key}."
            for key, text in echoed(inputs, fields).items()
        }
    )
    dialogues, _, writer = build(place, model, n=3)
    assert all(item.fallback for item in dialogues)
    assert writer.report().complaints["wish_unsaid"] > 0


@pytest.mark.parametrize("reason", ["parse", "empty", "refusal", "truncated"])
def test_an_answer_that_is_none_counts_as_a_try(place, reason):
    model = Played(lambda number, inputs, fields: Failed(reason) if number == 1 else echoed(inputs, fields))
    dialogues, _, writer = build(place, model)
    assert [item.attempts for item in dialogues] == [2, *[1] * (N - 1)]
    assert "JSON" in model.asked[1][0]["what_was_wrong_before"]
    assert writer.report().complaints[reason] == 1
    dialogues, _, writer = build(place, Played(lambda *_: Failed(reason)))
    assert all(item.fallback and item.attempts == 4 for item in dialogues)


def test_a_refused_key_is_tried_once_and_named(place):
    model = Played(lambda *_: Failed("authentication"))
    dialogues, report, writer = build(place, model)
    assert len(model.asked) == 1
    assert all(item.fallback and item.generator == "template" for item in dialogues)
    assert (report.dialogues, writer.report().fallbacks) == (N, {"authentication": N})


def test_an_outage_is_asked_of_a_few_times_and_one_fault_costs_one_dialogue(place):
    model = Played(lambda *_: Failed("server"))
    dialogues, _, writer = build(place, model, n=9)
    assert (len(model.asked), len(dialogues), writer.report().fallbacks) == (5, 9, {"server": 9})
    model = Played(lambda number, inputs, fields: Failed("timeout") if number == 2 else echoed(inputs, fields))
    dialogues, _, writer = build(place, model)
    assert [item.fallback for item in dialogues] == [False, True, False, False, False, False]
    assert writer.report().fallbacks == {"timeout": 1}


def test_a_spent_budget_ends_the_build_with_what_is_done(place, tmp_path):
    model = Played(budget=Budget(tokens=300))
    with Journal(tmp_path / "run.jsonl", {}) as journal:
        dialogues, report, writer = build(place, model, journal=journal)
    assert [item.dialogue_id for item in dialogues] == ["trace-000000", "trace-000001", "trace-000002"]
    assert not any(item.fallback for item in dialogues)
    assert report.stops == {"budget: 360 of 300 tokens": 3}
    assert report.missing == 0
    assert "stopped: budget" in str(writer.report())
    model = Played()
    with Journal(tmp_path / "run.jsonl", {}) as journal:
        again, _, writer = build(place, model, journal=journal)
    assert (len(again), len(model.asked), writer.report().resumed, writer.report().earlier_tokens) == (N, 3, 3, 360)
    assert again[:3] == dialogues


def sloppy(number, inputs, fields):
    """Answer by the notes, but wrongly at every third call of a dialogue's turns."""
    values = echoed(inputs, fields)
    return {
        key: text + " (sic)"
        if "what_was_wrong_before" in inputs
        else text + (' "so they say it is"' if int(key[5:]) % 4 == 0 else "")
        for key, text in values.items()
    }


@pytest.mark.parametrize("per_call", [None, 3])
@pytest.mark.parametrize("killed_at", [1, 2, 5, 6])
def test_a_killed_run_goes_on_without_paying_twice(place, tmp_path, killed_at, per_call):
    whole = Played(sloppy)
    wanted, _, _ = build(place, whole, n=3, turns_per_call=per_call)

    def killed(number, inputs, fields):
        if number == killed_at:
            raise KeyboardInterrupt
        return sloppy(number, inputs, fields)

    first, second = Played(killed), Played(sloppy)
    with Journal(tmp_path / "run.jsonl", {}) as journal, pytest.raises(KeyboardInterrupt):
        build(place, first, n=3, turns_per_call=per_call, journal=journal)
    with Journal(tmp_path / "run.jsonl", {}) as journal:
        found, _, _ = build(place, second, n=3, turns_per_call=per_call, journal=journal)
    assert [texts(item) for item in found] == [texts(item) for item in wanted]
    paid = [fields for _, fields in first.asked[:-1]] + [fields for _, fields in second.asked]
    if per_call is None:
        assert found == wanted
        assert paid == [fields for _, fields in whole.asked]
    else:  # what was sent back in the try that was cut off is written again at once
        assert sum(map(len, paid)) == sum(len(fields) for _, fields in whole.asked)


def test_what_the_service_failed_is_asked_again_and_what_was_tried_is_not(place, tmp_path):
    turn, change = FAULTS["invented_quote"]
    with Journal(tmp_path / "run.jsonl", {}) as journal:
        build(
            place,
            Played(lambda number, inputs, fields: Failed("timeout") if number == 1 else echoed(inputs, fields)),
            n=2,
            journal=journal,
        )
    model = Played()
    with Journal(tmp_path / "run.jsonl", {}) as journal:
        dialogues, _, _ = build(place, model, n=2, journal=journal)
    assert len(model.asked) == 1
    assert not any(item.fallback for item in dialogues)
    with Journal(tmp_path / "other.jsonl", {}) as journal:
        before, _, _ = build(place, Played(changed(turn, change)), n=2, journal=journal)
    model = Played()
    with Journal(tmp_path / "other.jsonl", {}) as journal:
        after, _, _ = build(place, model, n=2, journal=journal)
    assert model.asked == []
    assert after == before


def test_threads_change_nothing_but_the_time(place):
    one, _, _ = build(place, Played(sloppy), n=12)
    many, _, writer = build(place, Played(sloppy), n=12, threads=4)
    assert many == one
    assert writer.report().written == 12


def test_turns_per_call_and_what_was_said_before(place):
    model = Played()
    dialogues, _, _ = build(place, model, n=1, turns_per_call=3)
    sizes = [len(fields) for _, fields in model.asked]
    assert sizes[:-1] == [3] * (len(sizes) - 1)
    assert sum(sizes) == len(dialogues[0].turns)
    assert model.asked[0][0]["said_before"] == "nothing yet"
    assert len(model.asked[1][0]["said_before"].splitlines()) == 3


def test_a_small_model_gets_one_note_at_a_time_and_no_review_text(place):
    model = Played(
        lambda number, inputs, fields: {key: f"{inputs['note'].partition(': ')[2]} Point {number}." for key in fields}
    )
    dialogues, _, _ = build(place, model, n=2, small_model=True)
    assert not any(item.fallback for item in dialogues)
    assert {tuple(inputs) for inputs, _ in model.asked} == {("note",)}
    assert not any("fine stay" in inputs["note"] for inputs, _ in model.asked)


def test_the_words_of_quotes_are_shown_or_not(place):
    shown, hidden = Played(), Played()
    build(place, shown, n=1)
    build(place, hidden, n=1, show_quotes=False)
    assert "fine stay" in shown.asked[0][0]["notes"]
    assert not any("fine stay" in text for text in hidden.asked[0][0].values())


def test_it_is_a_writer_like_the_template(place):
    kb, evidence = place
    seen = []

    class Spy(TemplateWriter):
        def write(self, plan, names, seed, attempt):
            seen.append((plan, names))
            return super().write(plan, names, seed, attempt)

    build_dialogues(kb, evidence, n_dialogues=1, writer=Spy())
    plan, names = seen[0]
    writer = LmWriter(Played())
    assert len(writer.write(plan, names, 42, 1)) == len(plan.turns)
    assert writer.name == "lm:played"


def test_the_field_of_a_turn_makes_a_model_keep_the_slots(place):
    import re

    model = Played()
    kept = []
    model.ask = lambda instructions, inputs, fields, variation=0: kept.append(fields) or Failed("parse")
    build(place, model, n=1, tries=1)
    for turn in kept[0].values():
        slots = re.findall(r"\\\{(\w+)\\\}", turn.pattern)
        text = "A" + "bcd " * 5 + "there is" + "".join(f" {{{slot}}} and so" for slot in slots) + " on."
        assert re.match(turn.pattern, text)
        assert not re.match(turn.pattern, text.replace("{", "").replace("}", "")) or not slots
        assert len(text) <= turn.most


def test_nonsense_numbers_are_refused():
    for options in ({"tries": 0}, {"threads": 0}, {"turns_per_call": 0}):
        with pytest.raises(UsageError, match="1 or more"), open_lm_writer("local", **options):
            pass


@pytest.mark.parametrize(
    ("text", "tidied"),
    [
        ('They say "{quote1}" [R3].', "They say {quote1}."),
        ("They say “{quote1}”, and so", "They say {quote1}, and so"),
        ("Assistant: hello\n there", "hello there"),
        ("{quote1} (R12) fits", "{quote1} fits"),
        ("sure{place1}is good", "sure {place1} is good"),
        ("It's {place1}'s bar", "It's {place1}'s bar"),
    ],
)
def test_marks_around_slots_are_tidied_away(text, tidied):
    assert tidy(text) == tidied


def test_loops_and_wishes():
    assert loops("I want a museum. I want a museum. I want a museum.")
    assert not loops("The exhibits win praise, so families like it. The staff are kind to kids, and it is free.")
    assert speaks_of("Could I park the car there?", Constraint("aspect", "parking"))
    assert not speaks_of("Something with a view.", Constraint("aspect", "parking"))


def test_a_journal_of_another_prompt_or_model_is_refused(tmp_path):
    first = LmWriter(Played(), tries=2)
    with Journal(tmp_path / "run.jsonl", first.settings):
        pass
    for other in itertools.chain([LmWriter(Played(), tries=3)], [LmWriter(Played(), tries=2, show_quotes=False)]):
        with pytest.raises(UsageError, match="differ"):
            Journal(tmp_path / "run.jsonl", other.settings)
    assert notes_of({"notes": "turn_1, traveller: Hello."}) == {"turn_1": "Hello."}


def expanded(line):
    """Return every way of saying a line whose choices stand in round brackets."""
    choice = re.search(r"\(([^()]*)\)", line)
    if choice is None:
        return [line]
    return [
        said
        for option in choice[1].split("|")
        for said in expanded(line[: choice.start()] + option + line[choice.end() :])
    ]


WISHES = [Constraint("aspect", key) for key in catalogue()]
WISHES += [Constraint("price", value) for value in ("budget", "moderate", "upscale")] + [Constraint("distance", "central")]


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish.value)
def test_every_wish_in_our_own_words_counts_as_said(wish):
    for line in wording(wish).lines["thing"]:
        for said in expanded(line):
            assert speaks_of(said, wish), said
