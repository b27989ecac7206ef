"""Tail probabilities of the three distributions that the tests need, so that no scientific library is."""

from __future__ import annotations

import math

_TINY = 1e-300
_STEPS = 1000


def normal_p(z: float) -> float:
    """Return the two-sided probability of a standard normal value at least as extreme as `z`."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_t_p(t: float, df: float) -> float:
    """Return the two-sided probability of Student's t with `df` degrees of freedom."""
    return _beta_share(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t))


def chi_squared_p(value: float, df: float) -> float:
    """Return the probability of a chi-squared value of at least `value` with `df` degrees of freedom."""
    a, x = df / 2, value / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x >= a + 1:
        return scale * _gamma_fraction(a, x)
    term = total = 1 / a
    for step in range(1, _STEPS):
        term *= x / (a + step)
        total += term
        if term < total * 1e-16:
            break
    return max(0.0, 1 - scale * total)


def _gamma_fraction(a: float, x: float) -> float:
    """Continued fraction of the upper incomplete gamma function (Lentz)."""
    b = x + 1 - a
    c, d = 1 / _TINY, 1 / b
    result = d
    for step in range(1, _STEPS):
        factor = -step * (step - a)
        b += 2
        d = 1 / _away(factor * d + b)
        c = _away(b + factor / c)
        result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function of x; `rest` is 1 - x, given apart to keep its digits."""
    if x <= 0 or rest <= 0:
        return float(x > 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_share(b, a, rest, x)
    log_scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(log_scale) * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (Lentz)."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    result = d
    for step in range(1, _STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for factor in (even, odd):
            d = 1 / _away(1 + factor * d)
            c = _away(1 + factor / c)
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
