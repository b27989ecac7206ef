"""The invented places that a baseline's Space talks about: written on start, read, and thrown away again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import hydrate
from hydrate.errors import UsageError
from trace_dataset.kb import KnowledgeBase, build_knowledge_base
from trace_dataset.sample import write_sample
from trace_dataset.schema import POI_TYPES
from trace_dataset.streams import stream

PLACES = 960  # forty in each city and type: enough for a pool of 32, and three seconds to start
POOL_SIZES = {"8": 8, "16": 16, "32": 32, "open": None}
LEAST, MOST = 192, 24_000  # eight places in each city and type are the least that a pool needs
SEED = 42


def sample_places(places: int | None = None) -> KnowledgeBase:
    """Return a knowledge base of invented places and reviews; no text of anybody stands in it.

    Args:
        places: how many; None takes TRACE_SPACE_PLACES, or 960.

    Raises:
        UsageError: TRACE_SPACE_PLACES is no number from 192 to 24,000.
    """
    count = PLACES if places is None else places
    told = os.environ.get("TRACE_SPACE_PLACES")
    if places is None and told:
        if not told.isdigit() or not LEAST <= int(told) <= MOST:
            raise UsageError(f"TRACE_SPACE_PLACES is {told!r}", do=f"set it to a number from {LEAST} to {MOST:,}")
        count = int(told)
    with tempfile.TemporaryDirectory() as folder:
        bundle = write_sample(Path(folder) / "sample", places=count, seed=SEED)
        kb, _ = build_knowledge_base(hydrate.open_bundle(bundle), seed=SEED, max_places=max(100, count))
    return kb


def pool_of(kb: KnowledgeBase, city: str, poi_type: str, size: str) -> tuple[str, ...]:
    """Return the places of a pool: `8`, `16`, `32` or `open`; each within the next, the same for everybody.

    Raises:
        UsageError: there is no such city, type or size.
    """
    cell = kb.cells.get((city, poi_type))
    if cell is None or size not in POOL_SIZES:
        raise UsageError(f"there is no pool {size!r} of the type {poi_type!r} in {city!r}", do="choose from the lists")
    order = list(cell)
    stream(SEED, "space", city, poi_type).shuffle(order)
    return tuple(order[: POOL_SIZES[size]])


def types_of(kb: KnowledgeBase, city: str) -> list[str]:
    """Return the types of place that a city has, in their usual order."""
    return [kind for kind in POI_TYPES if (city, kind) in kb.cells]
