"""Verbs about bundles and releases: sample, inspect, build."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path

import orjson

import hydrate
from trace_dataset.cli.language_model import generator_options, tell_of_model
from trace_dataset.cli.progress import StageBars
from trace_dataset.evaluation.sanity import check_benchmark
from trace_dataset.kb import survey
from trace_dataset.leaks import RunFinder
from trace_dataset.release import Source, build_release, open_benchmark, open_release
from trace_dataset.release.card import effort_text, table3_text
from trace_dataset.release.folder import vacant
from trace_dataset.release.leak_check import find_leaks, refuse_leaks
from trace_dataset.sample import write_sample


def sample(options: Namespace) -> int:
    """Write the sample bundle."""
    folder = vacant(options.folder)
    write_sample(folder, places=options.places, reviews_per_place=options.reviews_per_place, seed=options.seed)
    for path in sorted(folder.iterdir()):
        print(f"{path}  {path.stat().st_size:,} bytes")
    return 0


def inspect(options: Namespace) -> int:
    """Say what a bundle holds."""
    bars = StageBars()
    bundle = hydrate.open_bundle(Path(options.bundle).expanduser())
    fingerprint = bundle.fingerprint(progress=lambda done, total: bars("checking the bundle", done, total))
    found = survey(bundle, progress=lambda done, total: bars("counting reviews", done, total))
    bars.close()
    if options.json:
        print(
            orjson.dumps(
                {
                    "path": str(bundle.path),
                    "kind": bundle.kind,
                    "fingerprint": fingerprint.digest,
                    "members": [
                        {
                            "table": member.table,
                            "name": member.name,
                            "rows": fingerprint.tables[member.table].rows,
                            "bytes": fingerprint.tables[member.table].bytes,
                        }
                        for member in bundle.members
                    ],
                    **found.to_json(),
                },
                option=orjson.OPT_INDENT_2,
            ).decode()
        )
        return 0
    print(f"{bundle.path}: a {bundle.kind}, fingerprint {fingerprint.digest}")
    for member in bundle.members:
        table = fingerprint.tables[member.table]
        print(f"  {member.table:<9} {table.rows:>10,} rows {table.bytes:>15,} bytes  {member.name}")
    print(found)
    return 0


def build(options: Namespace) -> int:
    """Build a release folder, print it beside the paper's Table 3, and check the benchmark if asked to."""
    generator = generator_options(options)
    bars = StageBars()
    release = build_release(
        options.yelp,
        options.out,
        n_dialogues=options.dialogues,
        seed=options.seed,
        max_places=options.max_places,
        min_pois=options.min_pois,
        open_only=options.open_only,
        workers=options.workers,
        progress=bars,
        **generator,
    )
    bars.close()
    manifest = release.manifest
    print(
        f"{release.folder}: {manifest.counts['dialogues']:,} dialogues, {manifest.counts['turns']:,} turns, "
        f"{manifest.counts['quotes']:,} quotes over {manifest.counts['pois']:,} places"
    )
    print(f"  splits {', '.join(f'{split} {n:,}' for split, n in manifest.splits.items())}")
    print(f"  content digest {manifest.content_digest}\n")
    print(table3_text(release.report["table3"]))
    print(f"\n{effort_text(release.report)}")
    status = tell_of_model(release)
    return max(status, check(release.folder, options.yelp)) if options.check else status


def check(folder: Path, yelp: str) -> int:
    """Hydrate a release, print every check of it, and return 1 if one fails."""
    bars = StageBars()
    benchmark = open_benchmark(Source(yelp_path=yelp, release=str(folder)), bars)
    checks = check_benchmark(benchmark, bars)
    bars.close()
    print("\nchecks, with 95 % intervals (- is a control, or no verdict since the interval allows both)")
    for item in checks:
        print(item)
    failed = sum(item.passed is False for item in checks)
    print(f"{failed} of {len(checks)} checks fail" if failed else "no check fails")
    return 1 if failed else 0


def check_leaks(options: Namespace) -> int:
    """Look for review text in a folder."""
    bars = StageBars()
    wanted = {review.review_id for review in open_release(options.release or options.folder, verify=False).reviews()}
    bundle = hydrate.open_bundle(Path(options.yelp).expanduser())
    texts = {
        record.review_id: record.text
        for record in bundle.reviews(
            review_ids=wanted, progress=lambda done, total: bars("reading reviews", done, total)
        )
    }
    leaks = find_leaks(
        Path(options.folder), RunFinder(texts), lambda done, total: bars("looking for them in files", done, total)
    )
    bars.close()
    if options.json:
        print(orjson.dumps([asdict(leak) for leak in leaks], option=orjson.OPT_INDENT_2).decode())
    refuse_leaks(leaks)
    if not options.json:
        print(f"{options.folder}: no text of {len(texts):,} reviews stands in it")
    return 0
