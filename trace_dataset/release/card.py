"""What a release says of itself in words: Table 3 beside the paper's, the dataset card and the datasheet.

`describe` gathers the figures once; the card, the datasheet and `trace-dataset build` all read them from there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trace_dataset.dialogues import default_dialogue_count
from trace_dataset.dialogues.report import PAPER, BuildReport, Effort, summarize
from trace_dataset.installed import render
from trace_dataset.release.manifest import Manifest
from trace_dataset.schema import POI, POI_TYPES, TIERS, Dialogue, Review

PAPER_CITIES, PAPER_CELLS, PAPER_CELL = 8, 24, 100
PAPER_TIERS = {"easy": 2_481, "medium": 3_476, "hard": 3_063, "expert": 980}
PRICED = ("restaurant", "hotel")
CITATION = """@misc{trace2026,
  title={Trace: Tourism Recommendation with Accountable Citation Evidence},
  author={Zhao, Zixu and Wang, Sijin and Hou, Yu and Xu, Yuanyuan and Sheng, Yufan and Xie, Xike and Zhang, Wenjie and
          Shin, Won-Yong and Cao, Xin},
  year={2026}, eprint={2605.07677}, archivePrefix={arXiv}
}"""
NAMED = 6  # cells named in an explanation
TIER_BOUND = 2.0  # points


class Row(NamedTuple):
    """A line of Table 3: what, its value here, the paper's, and why they differ (empty where they agree)."""

    label: str
    here: str
    paper: str
    why: str = ""


def describe(
    report: Mapping[str, Any], dialogues: Sequence[Dialogue], pois: Sequence[POI], reviews: Sequence[Review]
) -> dict[str, Any]:
    """Return the build report with everything that card, datasheet and command line show.

    Args:
        report: what `BuildReport.to_json` gives, with the knowledge base's report under `kb`; may be empty, then only
            what can be counted in the records is there.

    Returns:
        The report; under `table3` the rows beside the paper's Table 3, under `counted` the figures of the dialogues.
    """
    counted = summarize(dialogues, Effort(), len(dialogues))
    rows = knowledge_base_rows(pois, reviews, report.get("kb") or {})
    return {
        **report,
        "table3": rows + dialogue_rows(dialogues, counted, len(pois), report),
        "counted": counted.to_json(),
        "rejections": sum(1 for item in dialogues for turn in item.turns if turn.action == "reject_and_refine"),
        "names": sorted({poi.city for poi in pois}),
    }


def knowledge_base_rows(pois: Sequence[POI], reviews: Sequence[Review], kb: Mapping[str, Any]) -> list[Row]:
    """Return the rows about places and reviews; `kb` is the knowledge base's report, for the reasons."""
    types = Counter(poi.poi_type for poi in pois)
    cells = {(poi.city, poi.poi_type) for poi in pois}
    cities = {poi.city for poi in pois}
    categories = {name for poi in pois for name in poi.categories}
    priced = [poi for poi in pois if poi.poi_type in PRICED]
    levels = sorted({poi.price for poi in priced if poi.price})
    without = 100 * sum(poi.price is None for poi in priced) / len(priced) if priced else 0.0
    mean = len(reviews) / len(pois) if pois else 0.0
    stars = math.fsum(poi.stars for poi in pois) / len(pois) if pois else 0.0
    fewer = len(pois) < PAPER_CELL * PAPER_CELLS
    return [
        Row(
            "places",
            f"{len(pois):,} ({', '.join(f'{types[kind]:,} {kind}s' for kind in POI_TYPES)})",
            "2,400 (800 of each type)",
            _why_fewer_places(len(pois), kb),
        ),
        Row("cities", str(len(cities)), str(PAPER_CITIES), _why_fewer_cities(len(cities))),
        Row("cells of city and type", str(len(cells)), str(PAPER_CELLS), _why_fewer_cells(len(cells), kb)),
        Row(
            "reviews",
            f"{len(reviews):,} ({mean:.1f} a place)",
            "34,208 (14.3 a place)",
            _why_reviews(mean),
        ),
        Row("mean stars", f"{stars:.1f}", "3.8", "" if f"{stars:.1f}" == "3.8" else "the places' own ratings"),
        Row(
            "categories",
            f"{len(categories):,}",
            "485",
            "" if len(categories) == 485 else f"{'fewer places' if fewer else 'other places'}, other names",
        ),
        Row(
            "price levels (restaurants, hotels)",
            f"{levels[0]} to {levels[-1]}, {without:.0f} % without" if levels else "none",
            "1 to 4",
            "" if levels == [1, 2, 3, 4] else "levels that the bundle gives no place",
        ),
    ]


def dialogue_rows(
    dialogues: Sequence[Dialogue], counted: BuildReport, n_places: int, report: Mapping[str, Any]
) -> list[Row]:
    """Return the rows about dialogues."""
    total = max(len(dialogues), 1)
    pools = sorted({len(item.candidates) for item in dialogues})
    ratio = len(dialogues) == default_dialogue_count(n_places)
    rows = [
        Row(
            "dialogues",
            f"{len(dialogues):,}",
            "10,000",
            "" if len(dialogues) == 10_000 else "25 for every 6 places" if ratio else "as many as were asked for",
        ),
        Row(
            "turns a dialogue",
            f"{counted.turns_mean:.2f} (sd {counted.turns_sd:.2f})",
            "10.5 (sd 1.9)",
            _outside(counted.turns_mean, PAPER["turns_mean"], 0.5),
        ),
        Row(
            "places recommended a dialogue",
            f"{counted.places_mean:.2f}",
            "3.3",
            _outside(counted.places_mean, PAPER["places_mean"], 0.3),
        ),
        Row(
            "rejections, share of system turns",
            f"{100 * counted.rejection_share:.1f} %",
            "29.4 %",
            _outside(100 * counted.rejection_share, 100 * PAPER["rejection_share"], 2.0),
        ),
        Row(
            "persona archetypes",
            str(counted.personas),
            "47",
            "" if counted.personas == 47 else "fewer dialogues than archetypes",
        ),
        Row("candidates a dialogue", " to ".join(str(size) for size in pools) or "none", "8"),
    ]
    for tier in TIERS:
        count = counted.tiers.get(tier, 0)
        rows.append(
            Row(
                f"difficulty: {tier}",
                f"{100 * count / total:.1f} % ({count:,})",
                f"{100 * PAPER[f'tier_{tier}']:.1f} % ({PAPER_TIERS[tier]:,})",
                _why_tier(count, total, PAPER[f"tier_{tier}"], report),
            )
        )
    return rows


def table3_text(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text for a terminal."""
    lines = [Row("", "here", "paper", "why it differs"), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line[:3], widths, strict=True)), line.why]).rstrip()
        for line in lines
    )


def effort_text(report: Mapping[str, Any]) -> str:
    """Return what the build took, in a few lines: plans that failed, texts written again, dialogues that are missing."""
    reasons = [
        ("texts written again", report.get("rewrites") or {}),
        ("scenarios given up", report.get("discards") or {}),
        ("places not used", (report.get("kb") or {}).get("dropped") or {}),
        ("attribute values kept as raw text", (report.get("kb") or {}).get("unparsed_attributes") or {}),
    ]
    return "\n".join(
        [
            f"asked for {report.get('requested', 0):,} dialogues, {report.get('missing', 0):,} could not be made; "
            f"{report.get('pool_redraws', 0):,} pools drawn again, {report.get('tier_falls', 0):,} plans made a tier easier",
            *(
                f"{what}: {', '.join(f'{reason} {count:,}' for reason, count in counts.items())}"
                for what, counts in reasons
                if counts
            ),
        ]
    )


def release_card(manifest: Manifest, report: Mapping[str, Any]) -> str:
    """Return `README.md` of a release: front matter with configs, counts, Table 3, licence, how to hydrate."""
    size = manifest.counts["dialogues"]
    category = "n<1K" if size < 1_000 else "1K<n<10K" if size < 10_000 else "10K<n<100K"
    return render("dataset_card.md.jinja", manifest=manifest, report=report, size_category=category, citation=CITATION)


def datasheet(manifest: Manifest, report: Mapping[str, Any]) -> str:
    """Return `DATASHEET.md` of a release: the questions of Gebru et al. (2021), answered with its own counts."""
    return render("datasheet.md.jinja", manifest=manifest, report=report)


def _why_fewer_places(many: int, kb: Mapping[str, Any]) -> str:
    if many >= PAPER_CELL * PAPER_CELLS:
        return ""
    asked = (kb.get("parameters") or {}).get("max_places", PAPER_CELL)
    short = len(kb.get("short_cells") or {})
    reasons = [f"{short} cells have fewer than {asked} usable places"] if short else []
    if asked < PAPER_CELL:
        reasons.append(f"at most {asked} places a cell were asked for")
    return "; ".join(reasons) or "fewer cells"


def _why_reviews(mean: float) -> str:
    if abs(mean - 14.3) < 0.5:
        return ""
    return "the places have no more" if mean < 14.3 else "more of the places have 15 or more, of which 15 are kept"


def _why_fewer_cities(many: int) -> str:
    return "" if many == PAPER_CITIES else "no further U.S. city of the bundle has 8 usable places of one type"


def _why_fewer_cells(many: int, kb: Mapping[str, Any]) -> str:
    if many == PAPER_CELLS:
        return ""
    missing = kb.get("left_out") or {}
    if not missing:
        return "fewer cities"
    named = ", ".join(f"{cell} ({usable:,} usable)" for cell, usable in list(missing.items())[:NAMED])
    return f"too few places for a pool of 8: {named}{' …' if len(missing) > NAMED else ''}"


def _outside(here: float, paper: float, bound: float) -> str:
    return "" if abs(here - paper) <= bound else f"outside {paper:g} ± {bound:g}; the bundle does not explain it"


def _why_tier(count: int, total: int, paper: float, report: Mapping[str, Any]) -> str:
    if abs(100 * (count / total - paper)) <= TIER_BOUND:
        return ""
    falls = int(report.get("tier_falls") or 0)
    if falls:
        return f"{falls:,} plans found no pool that carries them and became one tier easier"
    by_chance = 200 * math.sqrt(paper * (1 - paper) / total)
    if abs(100 * (count / total - paper)) <= by_chance:
        return f"few dialogues: chance alone gives ± {by_chance:.1f} points"
    return f"outside ± {TIER_BOUND:g} points; the bundle does not explain it"
