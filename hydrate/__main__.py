"""`python -m hydrate`: hydrate or check a release from the command line; exit status 0, 1 (not verified) or 2 (misuse)."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence
from contextlib import closing

from hydrate.cache import local_path
from hydrate.errors import TraceError, UsageError
from hydrate.hydration import ON_MISMATCH
from hydrate.paths import dehydrate_path, hydrate_path
from hydrate.progress import ProgressLine
from hydrate.tables import read_texts
from hydrate.writing import storing, whole_file

DESCRIPTION = (
    "Fill the placeholders of a release with licensed text from your own copy of it, every span verified by its SHA256."
)
_EXAMPLE = """examples:
  python -m hydrate trace-release --bundle ~/Yelp-JSON.zip --out trace-hydrated
  python -m hydrate trace-release --bundle ~/yelp --check
  python -m hydrate answers.jsonl --texts poems.parquet --fields answer --out answers-hydrated.jsonl
  python -m hydrate answers-hydrated.jsonl --texts poems.parquet --fields answer --dehydrate --out answers.jsonl
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(
        "python -m hydrate",
        epilog=_EXAMPLE,
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a sign must not cost the work
    try:
        return run(parser.parse_args(arguments))
    except TraceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        print("stopped; nothing was written", file=sys.stderr)
        return 1


def run(options: argparse.Namespace) -> int:
    """Do what parsed arguments ask for; `trace-dataset hydrate` calls this too."""
    _check(options)
    fields = None if options.fields is None else [name.strip() for name in options.fields.split(",")]
    texts = read_texts(options.texts, options.id_field, options.text_field) if options.texts else {}
    if options.dehydrate:
        count = dehydrate_path(options.source, texts, options.out, fields=fields)
        print(f"{count:,} records written to {options.out}")
        return 0
    with closing(ProgressLine("finding reviews")) as progress:
        on_mismatch = "placeholder" if options.check else options.on_mismatch
        report = hydrate_path(
            options.source,
            options.bundle or texts,
            options.out,
            on_mismatch=on_mismatch,
            fields=fields,
            progress=None if options.quiet else progress,
        )
    if options.check:
        report.kept_placeholders = 0
    print(report.to_json() if options.json else report)
    if options.report:
        target = local_path(options.report)
        with storing(target), whole_file(target) as part:
            part.write_text(report.to_json() + "\n")
    return 0 if report.ok else 1


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot be meant before anything is read."""
    given = [options.source, options.bundle, options.texts, options.out]
    paths = [local_path(path) for path in given if path is not None]
    if options.dehydrate and (options.texts is None or options.out is None or options.check):
        raise UsageError(
            "--dehydrate needs --texts and --out, and has no --check", do="give the licensed texts as a file"
        )
    if (options.out is not None) == options.check:
        raise UsageError("give either --out or --check", do="--out DIR writes, --check only verifies")
    if options.report is not None:
        report = local_path(options.report)
        if report.is_dir() or report.resolve() in [path.resolve() for path in paths]:
            raise UsageError(f"--report {report} is a folder, or a file that is read or written", do="name a new file")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of hydration to a parser."""
    parser.add_argument("source", help="a release folder, or a parquet or JSON-lines file")
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--bundle", "--yelp", dest="bundle", help="your Yelp bundle: folder, .tar, .tgz, .zip")
    origin.add_argument("--texts", help="a JSON-lines or parquet file with an id and a text in each record")
    parser.add_argument("--out", help="what to write: the same form as the source; must not exist")
    parser.add_argument("--check", action="store_true", help="verify only; write nothing")
    parser.add_argument(
        "--on-mismatch",
        choices=ON_MISMATCH,
        default="error",
        help="what to do about a quote that cannot be verified (default: one error, nothing written)",
    )
    parser.add_argument("--fields", help="fields that hold text, separated by commas, for flat records")
    parser.add_argument("--id-field", default="id", help="of --texts (default: id)")
    parser.add_argument("--text-field", default="text", help="of --texts (default: text)")
    parser.add_argument(
        "--dehydrate", action="store_true", help="the other way: put placeholders in place of licensed text"
    )
    parser.add_argument("--report", help="write the report to this file, as JSON")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


if __name__ == "__main__":
    sys.exit(main())
