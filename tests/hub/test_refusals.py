"""What is never published, whoever asks: links out, secrets, licensed text, cards that say too little."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import trace_dataset
from hydrate.errors import BundleError, LicensedTextError, UsageError
from trace_dataset.hub import push_baseline, push_metric, push_release
from trace_dataset.hub.baselines import check_imports, requirement_lines
from trace_dataset.hub.cards import check_card, short, split_card
from trace_dataset.hub.files import PublishedFile, collect, refuse_secrets
from trace_dataset.hub.guard import Guard, guard_for
from trace_dataset.hub.publication import assemble, folder_files
from trace_dataset.hub.trial import try_baselines, try_metrics
from trace_dataset.licence import META_TAG

from .conftest import TOKEN, Person
from .standin import Hub

REVIEW = "We waited for an hour in the rain and then the kitchen was closed, so we went home hungry."
CARD = """---
title: My idea
emoji: 🗺️
colorFrom: green
colorTo: indigo
sdk: gradio
sdk_version: 6.31.0
python_version: "3.11"
app_file: app.py
license: apache-2.0
tags: [trace-baseline]
---
# My idea

Text.
"""


@pytest.fixture
def idea(tmp_path: Path) -> Path:
    folder = tmp_path / "my_idea"
    folder.mkdir()
    (folder / "my_idea.py").write_text("x = 1\n")
    (folder / "README.md").write_text("# My idea\n")
    return folder


def files(**content: str) -> dict[str, PublishedFile]:
    named = {path.replace("_dot_", "."): text for path, text in content.items()}
    return {path: PublishedFile(path, text.encode()) for path, text in named.items()}


def test_a_link_out_of_the_folder(idea: Path, tmp_path: Path):
    (tmp_path / "diary.txt").write_text("mine")
    (idea / "notes.txt").symlink_to(tmp_path / "diary.txt")
    with pytest.raises(UsageError, match=r"notes\.txt is a link that leads out of the folder"):
        collect(idea)


def test_a_linked_folder_and_a_link_to_nothing(idea: Path, tmp_path: Path):
    (idea / "more").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="more is a link"):
        collect(idea)
    (idea / "more").unlink()
    (idea / "gone.txt").symlink_to(idea / "nowhere")
    with pytest.raises(BundleError, match=r"gone\.txt is a link to nothing"):
        collect(idea)


def test_a_link_inside_the_folder_is_the_file_it_leads_to(idea: Path):
    (idea / "again.py").symlink_to(idea / "my_idea.py")
    found, _ = collect(idea)
    assert found["again.py"].read() == b"x = 1\n"


def test_a_file_over_five_gigabytes_is_refused_unread(idea: Path):
    with (idea / "weights.bin").open("wb") as stream:
        stream.truncate(5 * 10**9 + 1)  # sparse: it takes no room
    with pytest.raises(UsageError, match=r"weights\.bin has 5,000,000,001 bytes"):
        collect(idea)


@pytest.mark.parametrize("name", [".env", ".env.local", "id_rsa", "server.pem", ".netrc", ".git-credentials"])
def test_files_for_secrets(idea: Path, name: str):
    (idea / name).write_text("A=1")
    with pytest.raises(UsageError, match="is a file for secrets"):
        collect(idea)


@pytest.mark.parametrize("name", ["naïve.txt", "a\\b.txt", "line\nbreak.txt"])
def test_file_names_that_are_not_allowed(idea: Path, name: str):
    (idea / name).write_text("text")
    with pytest.raises(UsageError, match="is not allowed"):
        collect(idea)


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("a Hugging Face token", "login('" + "hf_" + "Ab1" * 12 + "')"),
        ("an API key", "key = " + "sk-" + "proj-" + "x1Y2" * 8),
        ("a GitHub token", "ghp" + "_" + "a1B2" * 9),
        ("a private key", "-----BEGIN " + "OPENSSH PRIVATE KEY-----"),
        ("a password or key", 'API_KEY = "' + "9f8a7b6c5d4e3f2a1b0c" + '"'),
    ],
)
def test_what_looks_like_a_secret_is_named_by_file_and_line_and_never_shown(what: str, line: str):
    with pytest.raises(UsageError, match=rf"{what} in my_idea\.py, line 3") as failure:
        refuse_secrets(files(my_idea_dot_py=f"import os\n\n{line}\n").values())
    assert line.split("'")[-2 if "'" in line else 0] not in str(failure.value)


def test_the_token_in_use_is_refused_whatever_it_looks_like():
    with pytest.raises(UsageError, match=r"the token in use in README\.md, line 1"):
        refuse_secrets(files(README_dot_md="call me plain-words").values(), "plain-words")


def test_ordinary_code_is_no_secret():
    text = 'token = tokens[0]\npassword = ""\nAPI_KEY = os.environ["KEY"]\nsecret = "an ordinary sentence without digits"\n'
    refuse_secrets(files(my_idea_dot_py=text).values())


def test_caches_are_left_out_and_said_so(idea: Path):
    for name in ("__pycache__", ".git", ".ipynb_checkpoints"):
        (idea / name).mkdir()
        (idea / name / "x").write_text("x")
    found, left_out = collect(idea)
    assert sorted(found) == ["README.md", "my_idea.py"]
    assert left_out == (".git", ".ipynb_checkpoints", "__pycache__")


def test_a_report_with_hydrated_text(idea: Path):
    (idea / "page.html").write_text(f"<html><head>{META_TAG}</head></html>")
    with pytest.raises(LicensedTextError, match=r"marked as holding licensed text, first page\.html"):
        folder_files(idea)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("license: apache-2.0\n", ""), "license is missing"),
        (("tags: [trace-baseline]\n", ""), "tags is missing"),
        (("[trace-baseline]", "[other]"), "the tag 'trace-baseline' is missing"),
        (("colorFrom: green", "colorFrom: mauve"), "colorFrom is none of red"),
        (("app_file: app.py", "app_file: main.py"), "app_file 'main.py' is not among the files"),
        (("# My idea\n\nText.\n", ""), "the card has no text"),
        (("emoji: 🗺️", "short_description: " + "x" * 61 + "\nemoji: 🗺️"), "longer than 60"),
        (("title: My idea", "title: [unclosed"), "is not YAML, line"),
        (("title: My idea\n", "model-index: [{name: x}]\ntitle: My idea\n"), "huggingface_hub does not read it"),
    ],
)
def test_cards_without_what_the_hub_reads(change: tuple[str, str], says: str):
    check_card(CARD, "baseline", {"app.py"})
    with pytest.raises(UsageError, match=says):
        check_card(CARD.replace(*change), "baseline", {"app.py"})


def test_a_dataset_card_names_files_that_are_there():
    card = "---\nlicense: cc-by-4.0\nlanguage: [en]\npretty_name: T\nsize_categories: [n<1K]\ntags: [a]\nconfigs:\n"
    card += "- config_name: pois\n  data_files: pois.parquet\n---\n# T\n"
    check_card(card, "dataset", {"pois.parquet"})
    with pytest.raises(UsageError, match=r"'pois\.parquet' of a config is not among the files"):
        check_card(card, "dataset", {"reviews.parquet"})


def test_metadata_of_ones_own_card_wins():
    values, body = split_card("---\nlicense: mit\n---\n# A\n")
    assert (values, body) == ({"license": "mit"}, "# A\n")
    assert short("one two three", 8) == "one two"


def test_review_text_in_code_card_or_data_is_refused():
    guard = Guard({"r1": REVIEW}, "a test")
    assert guard.clear(files(my_idea_dot_py="x = 1", README_dot_md="# A").values()).startswith("no text of 1 reviews")
    run = " ".join(REVIEW.split()[:8])
    for name, text in (
        ("my_idea.py", f'x = "{run}"'),
        ("README.md", f"They say: {run.upper()}"),
        ("d.json", json.dumps([run])),
    ):
        with pytest.raises(LicensedTextError, match=f"{name}, row 0"):
            guard.clear([PublishedFile(name, text.encode())])
    quote = json.dumps({"text": 'They say "then the kitchen was closd" [R1]'})
    with pytest.raises(LicensedTextError, match=r"d\.json"):
        guard.clear([PublishedFile("d.json", quote.encode())])


def test_with_neither_bundle_nor_cache_nothing_is_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", str(tmp_path))
    with pytest.raises(LicensedTextError, match=r"neither a bundle nor a loaded benchmark.*\n.*--yelp"):
        guard_for(None, None)
    for push in (
        lambda: push_metric("cgs", "trace/cgs", dry_run=True),
        lambda: push_baseline("tfidf", "me/t", dry_run=True),
    ):
        with pytest.raises(LicensedTextError, match="nothing can be cleared"):
            push()


def test_a_metric_goes_by_its_own_name():
    with pytest.raises(UsageError, match=r"evaluate would look for another script\n.*use me/cgs"):
        push_metric("cgs", "me/my-cgs", dry_run=True)


def test_a_folder_that_is_no_release(tmp_path: Path):
    with pytest.raises(BundleError, match="is no release"):
        push_release(tmp_path, "org/x", dry_run=True)


def test_imports_need_requirements():
    check_imports(files(my_idea_dot_py="import numpy\nfrom trace_dataset.baseline import Baseline\nimport json\n"), [])
    with pytest.raises(UsageError, match=r"gives scipy \(my_idea\.py\)\n.*requirements\.txt"):
        check_imports(files(my_idea_dot_py="import numpy\nimport scipy.stats\n"), [])
    check_imports(files(my_idea_dot_py="import scipy.stats\n"), ["scipy>=1"])
    check_imports(files(test_it_dot_py="import pytest\n"), [])
    with pytest.raises(UsageError, match="is not Python"):
        check_imports(files(my_idea_dot_py="def"), [])
    text = "# c\n\nscipy>=1  # why\ntrace-dataset[models]==9\n"
    assert requirement_lines(files(requirements_dot_txt=text)) == (["scipy>=1"], {"models"})
    with pytest.raises(UsageError, match=r"requirements\.txt, line 2"):
        requirement_lines(files(requirements_dot_txt="scipy\n-e git+https://x\n"))


def test_a_baseline_that_fails_is_not_published():
    code = b"from trace_dataset.baseline import Baseline\nclass A(Baseline):\n    def rank(self, turn):\n        return [1]\n"
    with pytest.raises(UsageError, match=r"the baseline 'a' does not run: .*rank returned"):
        try_baselines({"a": {"a.py": code}})


def test_a_metric_whose_example_is_wrong_is_not_published():
    from trace_dataset.hub.metrics import lay_out
    from trace_dataset.installed import hub_path

    laid_out = lay_out("cgs", hub_path("metrics", "cgs"))
    laid_out["cgs.py"] = laid_out["cgs.py"].replace(b'>>> result["cgs"]\n    1.0', b'>>> result["cgs"]\n    0.5')
    with pytest.raises(UsageError, match=r"(?s)the metric 'cgs' does not run as published.*Expected:\n\s+0\.5"):
        try_metrics({"cgs": laid_out})


def test_the_marker_file_names_every_file_with_its_digest():
    made = assemble(
        "baseline",
        "me/my-idea",
        "my_idea",
        files(README_dot_md=CARD, app_dot_py="x = 1").values(),
        guard=Guard({"r": REVIEW}, "test"),
    )
    marker = json.loads(made.files["trace.json"].read())
    assert marker["kind"] == "baseline"
    assert marker["name"] == "my_idea"
    assert marker["files"] == {path: file.sha256 for path, file in made.files.items() if path != "trace.json"}
    assert "app.py" in str(made)


def test_a_refused_folder_reaches_no_hub(hub: Hub, pusher: Person, idea: Path):
    (idea / ".env").write_text(f"HF_TOKEN={TOKEN}")
    done = pusher.trace("push", "baseline", str(idea), "me/my-idea", check=False)
    assert done.returncode == 2
    assert ".env is a file for secrets" in done.stderr
    (idea / ".env").rename(idea / "settings.txt")
    done = pusher.trace("push", "baseline", str(idea), "me/my-idea", "--token", TOKEN, check=False)
    assert done.returncode == 2
    assert "settings.txt, line 1" in done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert hub.log == []


def test_importing_the_package_stays_light(loader: Person):
    code = (
        "import sys, trace_dataset; print([m for m in ('huggingface_hub', 'evaluate', 'datasets') if m in sys.modules])"
    )
    assert loader.python_code(code).stdout.strip() == "[]"
    assert trace_dataset.push_metric is push_metric
