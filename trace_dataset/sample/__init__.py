"""A synthetic bundle in the exact format of the Yelp Open Dataset: invented places, invented reviews, any size.

It is the demo's data, the tests' data, and a corpus on which a benchmark of recommenders must behave sensibly:
places have hidden good and bad sides, and their reviews speak of them in many words.
"""

from trace_dataset.sample.archives import FORMS
from trace_dataset.sample.data import BANKS
from trace_dataset.sample.writer import NOTE_NAME, write_sample

__all__ = ["BANKS", "FORMS", "NOTE_NAME", "write_sample"]
