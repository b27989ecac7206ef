"""CGS, the composite grounding score, of one response or of a corpus, and its variants (definitions, M9 and 4.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .checks import UsageError, check_choice

TAU = 0.05  # citation density from which the gate is fully open
FLOOR = 0.5  # what a response without any provenance keeps
FORMULAS = ("threshold_0.03", "threshold_0.10", "no_floor", "sqrt_pc", "geometric", "harmonic", "additive")


def cgs(gs: float, cd: float, pc: float, tau: float = TAU, floor: float = FLOOR) -> float:
    """Return CGS = GS * min(1, CD / tau) * (floor + (1 - floor) * PC), 0 to 1 (M9; paper, section 3).

    Works on the values of one response and on corpus means alike.

    Example:
        >>> round(cgs(0.998, 0.377, 0.555), 3)
        0.776
    """
    return gs * min(1.0, cd / tau) * (floor + (1 - floor) * pc)


def cgs_corpus(turns: Sequence[Sequence[float | None]], method: str = "product_of_means") -> float | None:
    """Return the CGS of a corpus from `[gs, cd, pc]` a turn; report both methods side by side (M9).

    `product_of_means` applies the formula to corpus means and reproduces the paper's tables: PC is averaged over the turns
    that have one. `mean_of_turns` averages the CGS of those turns; only it gives 0 to a turn without citations. None where no
    turn has a PC.
    """
    check_choice(method, "method", ("product_of_means", "mean_of_turns"))
    complete = [(_value(gs), _value(cd), pc) for gs, cd, pc in turns if pc is not None]
    if not complete:
        return None
    if method == "mean_of_turns":
        return math.fsum(cgs(*turn) for turn in complete) / len(complete)
    means = [math.fsum(_value(turn[part]) for turn in turns) / len(turns) for part in (0, 1)]
    return cgs(means[0], means[1], math.fsum(pc for _, _, pc in complete) / len(complete))


def cgs_alternative(gs: float, cd: float, pc: float, formula: str) -> float:
    """Return a variant of CGS, 0 to 1, for the sensitivity analysis: one of `FORMULAS` (definitions 4.2)."""
    check_choice(formula, "formula", FORMULAS)
    gate, provenance = min(1.0, cd / TAU), FLOOR + (1 - FLOOR) * pc
    if formula.startswith("threshold_"):
        return cgs(gs, cd, pc, tau=float(formula.removeprefix("threshold_")))
    if formula == "no_floor":
        return gs * gate * pc
    if formula == "sqrt_pc":
        return gs * gate * math.sqrt(pc)
    if formula == "geometric":
        return float((gs * gate * provenance) ** (1 / 3))
    if formula == "additive":
        return (gs + gate + provenance) / 3
    factors = (gs, gate, provenance)
    return 3 / math.fsum(1 / factor for factor in factors) if min(factors) > 0 else 0.0


def _value(number: float | None) -> float:
    if number is None:
        raise UsageError("a turn has no gs or no cd", do="pass [gs, cd, pc] a turn, with None for pc only")
    return number
