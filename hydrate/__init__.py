"""Licensed text by reference: open a Yelp bundle, prove quoted spans by hash, fill and empty placeholders.

`hydrate.open_bundle(path)` opens a bundle in any form, `hydrate.hydrate(dialogues, bundle)` fills placeholders,
`hydrate.dehydrate(dialogues, texts)` takes the text out again.

Needs no other package: `pip install --no-deps trace-dataset` will do. NumPy, orjson and isal make it several times as
fast where they are installed, and parquet files need pyarrow.
"""

from hydrate.bundle import Bundle, Member, ReviewRecord, open_bundle
from hydrate.cache import cache_dir
from hydrate.dehydration import dehydrate
from hydrate.errors import BundleError, HydrationError, StorageError, TraceError, UsageError
from hydrate.fingerprint import Fingerprint, TableInfo
from hydrate.hydration import hydrate
from hydrate.paths import dehydrate_path, hydrate_path
from hydrate.placeholders import escape, render
from hydrate.quoting import quoted_spans
from hydrate.redaction import dehydrate_text
from hydrate.report import Case, HydrationReport
from hydrate.spans import Span, span_sha256
from hydrate.tables import read_texts

__all__ = [
    "Bundle",
    "BundleError",
    "Case",
    "Fingerprint",
    "HydrationError",
    "HydrationReport",
    "Member",
    "ReviewRecord",
    "Span",
    "StorageError",
    "TableInfo",
    "TraceError",
    "UsageError",
    "cache_dir",
    "dehydrate",
    "dehydrate_path",
    "dehydrate_text",
    "escape",
    "hydrate",
    "hydrate_path",
    "open_bundle",
    "quoted_spans",
    "read_texts",
    "render",
    "span_sha256",
]
