"""What the tests of language models share."""

from __future__ import annotations

import json

import pytest

from tests.dialogues.conftest import town  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def cell(sample_bundle, tmp_path_factory):
    """The restaurants of one city of the sample, so that ten dialogues fill every split."""
    folder = tmp_path_factory.mktemp("cell")
    kept = set()
    for table in ("business", "review"):
        name = f"yelp_academic_dataset_{table}.json"
        with (folder / name).open("w", encoding="utf-8") as out:
            for line in (sample_bundle / name).read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                if table == "business" and row["city"] == "Tucson" and "Restaurants" in (row["categories"] or ""):
                    kept.add(row["business_id"])
                if row["business_id"] in kept:
                    out.write(line + "\n")
    return folder
