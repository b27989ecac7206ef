"""What the `evaluate` modules share: rows are checked before the library codes them, and results carry a signature."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from .checks import UsageError, check_lengths

SCORES_VERSION = 1  # of all scores: rises when a metric, or what is fed to it, changes so that a number moves
PAPER = "https://arxiv.org/abs/2605.07677"
CITATION = """
@article{zhao2026trace,
  title={Trace: Tourism Recommendation with Accountable Citation Evidence},
  author={Zhao, Zixu and Wang, Sijin and Hou, Yu and Xu, Yuanyuan and Sheng, Yufan and Xie, Xike and Zhang, Wenjie and
    Shin, Won-Yong and Cao, Xin},
  journal={arXiv preprint arXiv:2605.07677},
  year={2026}
}
"""


class CheckedRows:
    """Check every row that is added, so that a wrong one is an error at once and leaves nothing behind.

    `evaluate` itself looks at the first row only, casts the others, and keeps what was added before a failure. Stands before
    `evaluate.Metric` among the bases of a module; the module's `checked` returns its inputs as plain rows.
    """

    per_row: tuple[str, ...] = ()  # options of compute() that hold one entry a row

    def checked(self, predictions: Any, references: Any) -> dict[str, list[Any]]:
        """Return the inputs by name as checked rows."""
        raise NotImplementedError

    def ready(self, **options: Any) -> None:
        """Load what the options ask for, before any row is added; most modules need nothing."""

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """Score the rows given here and those added before; wrong options are an error before any row is added."""
        options = {name: value for name, value in kwargs.items() if name not in self.per_row}
        self._compute(**{name: [] for name in self.features}, **options)  # type: ignore[attr-defined]
        if not self.process_id:  # type: ignore[attr-defined]
            self.ready(**options)
        added = len(self)  # type: ignore[arg-type]
        if predictions is None and references is None and not added and not self.process_id:  # type: ignore[attr-defined]
            raise UsageError("there is nothing to score", do="pass predictions, or add rows with add_batch() before")
        for name in self.per_row:
            if kwargs.get(name) is not None and hasattr(predictions, "__len__"):
                check_lengths(**{"predictions": range(added + len(predictions)), name: kwargs[name]})
        return super().compute(predictions=predictions, references=references, **kwargs)  # type: ignore[misc, no-any-return]

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add rows; raises an error that shows the right shape, and adds none, if one of them is wrong."""
        inputs = self.checked(predictions, references)
        check_lengths(**inputs)
        super().add_batch(**inputs, **kwargs)  # type: ignore[misc]

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one row; raises an error that shows the right shape if it is wrong."""
        inputs = self.checked([prediction], None if reference is None else [reference])
        singular = {name.removesuffix("s"): rows[0] for name, rows in inputs.items()}
        super().add(**singular, **kwargs)  # type: ignore[misc]


def check_config(name: str) -> None:
    """Raise `UsageError` for a configuration name, which `evaluate` would accept whatever it is."""
    if name != "default":
        raise UsageError(
            f"there is no configuration {name!r}", do="load the module without one; options go to compute()"
        )


def signature(metric: str, **options: object) -> str:
    """Return how a score was made: metric, version and options, in one line that can stand beside the number.

    Example:
        >>> signature("pc", window=80).startswith("pc|version:1|window:80|rapidfuzz:")
        True
    """
    parts = {"version": SCORES_VERSION, **options, "rapidfuzz": version("rapidfuzz")}
    return "|".join([metric, *(f"{key}:{value}" for key, value in parts.items())])
