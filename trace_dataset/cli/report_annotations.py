"""`trace-dataset agreement`: from annotators' tables to Tables 10 to 15."""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path

import orjson

from trace_dataset.analysis.annotations import FILES, load_annotations
from trace_dataset.analysis.human_tables import human_tables
from trace_dataset.cli.report import scored
from trace_dataset.evaluation.run_folder import RunFolder, write_whole


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """Add the options of `agreement` to a parser."""
    files = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in FILES.items())
    verb.add_argument("annotations", help=f"folder with {files}".replace("%", "%%"))
    verb.add_argument("--runs", nargs="*", default=[], help="scored runs, for the correlation of metrics with people")
    verb.add_argument("--out", default="agreement", help="folder to write (default: %(default)s)")
    verb.add_argument("--json", action="store_true", help="print JSON")


def agreement(options: Namespace) -> int:
    """Write every table that the annotations allow, and print them."""
    annotations = load_annotations(Path(options.annotations))
    results = scored([RunFolder.open(folder) for folder in options.runs], None)
    found = human_tables(annotations, results)
    out = Path(options.out)
    for table in found:
        for suffix, text in ((".md", table.markdown()), (".tex", table.latex()), (".csv", table.csv())):
            write_whole(out / f"{table.name}{suffix}", text.encode())
    if options.json:
        rows = {
            table.name: [dict(zip(table.header, (cell.value for cell in row), strict=True)) for row in table.rows]
            for table in found
        }
        print(orjson.dumps(rows).decode())
        return 0
    for table in found:
        print(f"{table.title}\n\n{table.text()}\n")
    print(f"written: {out}: {len(found)} tables")
    return 0
