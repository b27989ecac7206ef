"""`trace-dataset`: one verb a job. Exit status 0 done, 1 failed, 2 used wrongly."""

from trace_dataset.cli.main import main

__all__ = ["main"]
