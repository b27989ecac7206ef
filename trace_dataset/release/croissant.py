"""Croissant metadata of a release: its files with their SHA256, and what the columns of its tables hold.

Plain JSON-LD of Croissant 1.0, derived from the table types so that the two cannot differ; `mlcroissant` validates it and
reads the tables by it, but is not needed to write it. There is no date in it: a rebuilt release has the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from trace_dataset import schema
from trace_dataset.release.card import CITATION
from trace_dataset.release.manifest import Manifest, file_sha256
from trace_dataset.schema import SPLITS

CROISSANT = "croissant.json"
DATA_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float", "bool": "sc:Boolean"}
TABLES = {
    **{
        f"dialogues/{split}": ("dialogues", f"The dialogues of the split {split}, with placeholders.")
        for split in SPLITS
    },
    "pois": ("pois", "The places that the dialogues are about."),
    "reviews": ("reviews", "The reviews that may be cited: ids, lengths and hashes. The column `text` is empty here."),
}
DESCRIPTIONS = {
    "dialogue_id": "Identifier of the dialogue.",
    "candidates": "The eight business ids that the closed pool offers.",
    "turns/text": "What was said. `[Q:n]` stands where a review was quoted, `[Rn]` cites one.",
    "turns/poi_ids": "Business ids that the turn names, in order.",
    "turns/gold_poi_ids": "The place recommended first.",
    "turns/alternative_poi_ids": "Other candidates that fit everything asked so far.",
    "turns/rejected_poi_ids": "Places that a user turn refuses.",
    "turns/quotes": "Verbatim spans, in the order of their placeholders; mlcroissant's reader gives the first of each turn.",
    "turns/citations": "What the labels refer to; mlcroissant's reader gives the first of each turn.",
    "turns/constraints": "What a user newly asks for; mlcroissant's reader gives the first of each turn.",
    "turns/quotes/sha256": "SHA256 of the quoted span's UTF-8 bytes.",
    "turns/quotes/start": "First code point of the span in the decoded review.",
    "turns/quotes/end": "Code point after the span.",
    "sha256": "SHA256 of the UTF-8 bytes of the review's first `n_chars` code points.",
    "price": "Price level 1 to 4.",
}
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def write_croissant(folder: Path, manifest: Manifest) -> None:
    """Write `croissant.json` beside the tables of a release; they must be there already."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    (folder / CROISSANT).write_bytes(orjson.dumps(croissant(folder, manifest), option=options))


def croissant(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Return the Croissant description of a release folder as JSON values.

    Args:
        folder: holds the parquet files and `schema.json`; they are read for their hashes and sizes.
        manifest: for counts, seed and digests.
    """
    count = manifest.counts
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "TRACE",
        "description": (
            f"{count['dialogues']:,} dialogues about restaurants, hotels and attractions with citable evidence: "
            f"{count['turns']:,} turns, {count['quotes']:,} quotes of {count['reviews']:,} reviews of "
            f"{count['pois']:,} places. Quotes are placeholders with review id, offsets and SHA256; the review text is "
            f"not included. Content digest {manifest.content_digest}, bundle {manifest.bundle_fingerprint}, seed "
            f"{manifest.seed}."
        ),
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "citeAs": " ".join(CITATION.split()),
        "inLanguage": "en",
        "keywords": ["conversational recommendation", "tourism", "citations", "review evidence"],
        "version": f"{manifest.format_version}.0.0",
        "isLiveDataset": False,
        "rai:dataCollection": "Places and reviews come from a bundle in the format of the Yelp Open Dataset; dialogues "
        "are generated from them by trace-dataset.",
        "rai:dataLimitations": "Generated dialogues: narrower than people's; ratings, prices and opening are the "
        "bundle's, not today's.",
        "rai:personalSensitiveInformation": "Review ids are identifiers of texts that persons wrote; neither their "
        "names nor their texts are included.",
        "distribution": [_file(folder, f"{table}.parquet", "application/x-parquet") for table in TABLES]
        + [_file(folder, "schema.json", "application/json")],
        "recordSet": [_record_set(table, config, text) for table, (config, text) in TABLES.items()],
    }


def _file(folder: Path, name: str, encoding: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{(folder / name).stat().st_size} B",
        "encodingFormat": encoding,
        "sha256": file_sha256(folder / name),
    }


def _record_set(table: str, config: str, text: str) -> dict[str, Any]:
    columns: Mapping[str, Any] = schema.features(config)
    return {
        "@type": "cr:RecordSet",
        "@id": table,
        "name": table,
        "description": text,
        "field": [_field(table, (name,), kind) for name, kind in columns.items()],
    }


def _field(table: str, path: tuple[str, ...], kind: Any) -> dict[str, Any]:
    inner, repeated = (kind.feature, True) if hasattr(kind, "feature") else (kind, False)
    name = "/".join(path)
    body: dict[str, Any] = {"@type": "cr:Field", "@id": f"{table}/{name}", "name": f"{table}/{name}"}
    body["description"] = DESCRIPTIONS.get(name, f"See {name.split('/')[0]} in schema.json.")
    if isinstance(inner, dict):
        body["subField"] = list(_sub_fields(table, path, inner))
    else:
        body["dataType"] = DATA_TYPES[inner.dtype]
        body["source"] = _source(table, path)
    if repeated and (isinstance(inner, dict) or len(path) == 1):  # below a repeated field the reader repeats by itself
        body["repeated"] = True
    return body


def _sub_fields(table: str, path: tuple[str, ...], inner: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, kind in inner.items():
        yield _field(table, (*path, name), kind)


def _source(table: str, path: tuple[str, ...]) -> dict[str, Any]:
    body: dict[str, Any] = {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": path[0]}}
    if len(path) > 1:
        body["transform"] = {"jsonPath": "[*].".join(path[1:])}
    return body
