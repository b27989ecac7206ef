"""`python -m trace_dataset.cli`: the same as `trace-dataset`."""

import sys

from trace_dataset.cli.main import main

sys.exit(main())
