"""The metrics as plain functions over text, ids and numbers; they know no dialogue.

A module a family: `text`, `ranking`, `grounding`, `entailment`, `practical`, `recovery`, `judge`, `human`, and `aggregate` for
means. None means undefined: it never enters a mean and is never replaced by 0 or 1.
"""

from trace_dataset.scoring.shapes import rows

__all__ = ["rows"]
