"""What a Hub may answer while something is pushed or loaded: each ends well, or in one error that says what to do."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import huggingface_hub
import pytest

from hydrate import UsageError
from trace_dataset.baseline import load_baseline
from trace_dataset.hub.files import PublishedFile
from trace_dataset.hub.publication import MARKER, Publication
from trace_dataset.hub.upload import Options, Push, push
from trace_dataset.remote import HubError, fetch

from .conftest import READER, TOKEN
from .standin import Hub

NAME = "me/idea"
CARD = b"---\ntitle: Idea\n---\n# Idea\n"
LARGE = b"PAR1" + b"x" * 3000  # goes the way of large files, by its name


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was waited for, in place of waiting."""
    seen: list[float] = []
    monkeypatch.setattr("trace_dataset.remote.sleep", seen.append)
    return seen


@pytest.fixture(autouse=True)
def at_the_stand_in(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]) -> Iterator[None]:
    """Point this process's Hub library at the stand-in, with a cache of its own and no token."""
    constants = "huggingface_hub.constants"
    monkeypatch.setattr(f"{constants}.ENDPOINT", hub.url)
    monkeypatch.setattr(f"{constants}.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(f"{constants}.HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(f"{constants}.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(f"{constants}.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr(
        f"{constants}.HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    )
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)  # the library's own pauses
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.delenv("HUGGING_FACE_HUB_TOKEN", raising=False)
    yield
    huggingface_hub.close_session()


def publication(name: str = NAME, **files: bytes) -> Publication:
    content = {
        "README.md": CARD,
        "idea.py": b"x = 1\n",
        "data.parquet": LARGE,
        **{key.replace("_dot_", "."): value for key, value in files.items()},
    }
    content[MARKER] = b'{"kind": "baseline", "name": "idea", "files": {%s}}' % b", ".join(
        b'"%s": ""' % key.encode() for key in sorted(content)
    )
    return Publication("baseline", name, {path: PublishedFile(path, body) for path, body in sorted(content.items())})


def pushed(name: str = NAME, token: str | None = TOKEN, **options: object) -> Push:
    return push(publication(name), Options(token=token, **options))  # type: ignore[arg-type]


def test_without_a_token_nothing_is_asked(hub: Hub) -> None:
    with pytest.raises(UsageError, match=r"no token .*\n.*hf auth login"):
        pushed(token=None)
    assert hub.log == []


def test_a_token_that_is_not_known(hub: Hub) -> None:
    with pytest.raises(HubError, match="does not know who you are") as failure:
        pushed(token="hf_" + "Unknown0" * 4)
    assert failure.value.status == 401
    assert hub.store.names("spaces") == []


def test_a_token_that_may_not_write(hub: Hub) -> None:
    with pytest.raises(HubError, match=r"your token may not do this.*\n.*write access") as failure:
        pushed("trace/idea", token=READER)
    assert failure.value.status == 403
    with pytest.raises(HubError, match="may not do this"):
        pushed("somebody/idea")
    assert hub.store.names("spaces") == []


def test_a_repository_that_is_there_is_brought_up_to_date(hub: Hub) -> None:
    first = pushed()
    changed = push(publication(more_dot_txt=b"more"), Options(token=TOKEN))
    back = pushed()
    assert [first.changed, changed.changed, back.changed] == [True, True, True]
    assert hub.commits("spaces", NAME) == 3
    assert "more.txt" not in hub.store.files(
        "spaces", NAME, back.commit or ""
    )  # what an earlier push left behind is gone


def test_a_repository_of_someone_else_is_left_alone(hub: Hub) -> None:
    hub.store.create("spaces", NAME, private=False, sdk="gradio")
    hub.store.commit("spaces", NAME, "main", "work", {"thesis.md": hub.store.add(b"years", lfs=False)}, [], "me")
    with pytest.raises(UsageError, match=r"holds something else \(thesis.md\)\n.*--replace"):
        pushed()
    assert hub.store.read("spaces", NAME, "thesis.md") == b"years"
    replaced = pushed(replace=True)
    assert set(hub.store.files("spaces", NAME, replaced.commit or "")) == {".gitattributes", *publication().files}


def test_files_that_a_person_added_on_the_website_stay(hub: Hub) -> None:
    pushed()
    hub.store.commit("spaces", NAME, "main", "by hand", {"LICENSE": hub.store.add(b"MIT", lfs=False)}, [], "me")
    assert not pushed().changed
    assert hub.store.read("spaces", NAME, "LICENSE") == b"MIT"


def test_a_public_repository_is_not_taken_for_a_private_one(hub: Hub) -> None:
    pushed()
    with pytest.raises(UsageError, match="exists and is public"):
        pushed(private=True)
    assert pushed("me/secret", private=True).changed
    assert hub.store.settings("spaces", "me/secret")["private"] is True


def test_a_branch_is_made_and_main_is_left_alone(hub: Hub) -> None:
    pushed()
    push(publication(more_dot_txt=b"more"), Options(token=TOKEN, revision="trial"))
    assert hub.commits("spaces", NAME) == 1
    assert hub.commits("spaces", NAME, "trial") == 2


def test_somebody_else_commits_in_between(hub: Hub) -> None:
    fault = hub.fail("POST .*/commit/", 412, times=1, body={"error": "A commit has happened since."})
    with pytest.raises(HubError, match=r"somebody else has committed.*\n.*push again") as failure:
        pushed()
    assert (failure.value.status, fault.seen) == (412, 1)


def test_too_many_requests_waits_as_long_as_it_is_told(hub: Hub, pauses: list[float]) -> None:
    hub.fail("POST .*/commit/", 429, times=1, headers={"Retry-After": "17"})
    assert pushed().changed
    assert pauses == [17.0]


def test_a_pause_of_an_hour_is_an_error(hub: Hub, pauses: list[float]) -> None:
    hub.fail("POST .*/commit/", 429, headers={"Retry-After": "3600"})
    with pytest.raises(HubError, match="asks for a pause of 3600 s"):
        pushed()
    assert pauses == []


@pytest.mark.parametrize("where", ["POST /api/repos/create", "POST .*/commit/", "GET .*/tree/", "GET .*/revision/"])
def test_two_failures_then_success(hub: Hub, pauses: list[float], where: str) -> None:
    fault = hub.fail(where, 500, times=2)
    assert pushed().changed
    assert fault.seen == 2
    assert pauses == ([] if "tree" in where else [1.0, 2.0])  # the library tries a listing again by itself
    assert hub.commits("spaces", NAME) == 1


def test_a_hub_that_stays_broken_is_an_error(hub: Hub, pauses: list[float]) -> None:
    fault = hub.fail("POST .*/commit/", 500)
    with pytest.raises(HubError, match="the Hub answered 500"):
        pushed()
    assert fault.seen == 5
    assert pauses == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize("where", ["POST .*/commit/", "PUT /lfs/", "POST /api/repos/create"])
@pytest.mark.parametrize("drop", ["during", "after"])
def test_a_connection_that_drops_leaves_one_commit(
    hub: Hub, where: str, drop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = hub.fail(where, times=1, drop=drop)
    result = pushed()
    assert fault.seen == 1
    assert result.changed
    assert hub.commits("spaces", NAME) == 1
    assert hub.store.read("spaces", NAME, "data.parquet") == LARGE
    assert not pushed().changed


def test_a_server_that_is_gone(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(HubError, match=r"the Hub cannot be reached.*\n.*HF_ENDPOINT"):
        pushed()


def test_the_hub_refuses_the_card(hub: Hub) -> None:
    hub.fail("POST /api/validate-yaml", 400, body={"errors": [{"message": '"emoji" must be an emoji'}], "warnings": []})
    with pytest.raises(UsageError, match=r'refuses the card.*"emoji" must be an emoji'):
        pushed()
    assert hub.commits("spaces", NAME) == 0


@pytest.mark.parametrize(
    "name", ["idea", "me/", "me/idea/more", "me/my idea", "me/..", "me/-idea", "me/idea.git", "me/" + "a" * 97, "../me"]
)
def test_names_that_are_not_allowed(hub: Hub, name: str) -> None:
    from trace_dataset.remote import check_repo_id

    with pytest.raises(UsageError, match="use owner/name"):
        check_repo_id(name)


LOADS: dict[str, Callable[[], object]] = {
    "fetch": lambda: fetch(NAME, "space", token=TOKEN),
    "baseline": lambda: load_baseline(NAME, trust_remote_code=True, token=TOKEN),
}


@pytest.mark.parametrize("how", LOADS)
@pytest.mark.parametrize("where", ["HEAD .*/idea.py", "GET .*/resolve/.*/idea.py", "GET .*/revision/", "GET .*/tree/"])
def test_loading_outlives_two_failures(hub: Hub, how: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"from trace_dataset.baseline import Baseline\n\n\nclass Idea(Baseline):\n    pass\n"
    push(publication(idea_dot_py=code), Options(token=TOKEN))
    fault = hub.fail(where, 500, times=2)
    LOADS[how]()
    assert fault.seen == 2


def test_what_is_not_there(hub: Hub) -> None:
    with pytest.raises(HubError, match="there is no such repository"):
        fetch("me/nothing", "space")
    pushed()
    with pytest.raises(HubError, match="there is no such revision"):
        fetch(NAME, "space", "v9")


def test_a_private_space_needs_its_token(hub: Hub) -> None:
    pushed(private=True)
    with pytest.raises(HubError, match="no such repository, or your token may not see it"):
        fetch(NAME, "space")
    assert fetch(NAME, "space", token=TOKEN).commit == hub.store.history("spaces", NAME)[0]


def test_code_from_the_hub_needs_trust_and_asks_nothing_before(hub: Hub) -> None:
    pushed()
    hub.log.clear()
    with pytest.raises(UsageError, match=r"would run code from the Hub.*\n.*trust_remote_code=True"):
        load_baseline(NAME)
    assert hub.log == []


def test_no_token_stands_in_an_error_or_a_log(hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(
        logging.INFO, "httpcore2"
    )  # it logs the server's headers as they come, and this server repeats the token
    told = []
    answers = [
        (401, {}), (403, {}), (404, {}), (409, {}), (412, {}), (413, {}), (422, {}), (429, {"Retry-After": "9999"}), (500, {}),
    ]  # fmt: skip
    for status, headers in answers:
        body = {"error": f"refused: your token {TOKEN} (Bearer {TOKEN}) may not"}
        hub.faults[:] = []
        hub.fail("(POST .*/commit/|PUT /lfs/)", status, body=body, headers=headers)
        try:
            pushed()
        except (HubError, UsageError) as error:
            told.append(str(error) + repr(error) + "".join(traceback.format_exception(error)))
    assert len(told) == len(answers)
    hub.faults[:] = []
    told.append(str(pushed().to_json()))
    everything = "".join(told) + caplog.text
    assert TOKEN not in everything
    assert TOKEN[4:20] not in everything
