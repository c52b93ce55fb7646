"""Honest statistics of paired differences: tests, a bootstrap interval, Holm's correction."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.errors import SpecError

TESTS = ("randomisation", "t", "wilcoxon")
_BLOCK = 4_000_000  # random signs or draws held at once


def p_value(
    differences: Floats, test: str, rng: np.random.Generator, rounds: int = 20_000
) -> float:
    """The two-sided p-value of "the differences are symmetric around 0"."""
    if test not in TESTS:
        raise SpecError(f"unknown test {test!r}; use one of {', '.join(TESTS)}")
    moved = differences[differences != 0.0]
    if moved.size == 0:
        return 1.0
    if test == "randomisation":
        return _randomisation(moved, rng, rounds)
    if test == "t":
        return _student(differences)
    from scipy.stats import wilcoxon

    result: Any = wilcoxon(moved)
    return float(result.pvalue)


def _randomisation(moved: Floats, rng: np.random.Generator, rounds: int) -> float:
    """Fisher's randomisation test of the mean: exact up to 16 differences, else by random signs.

    The random version counts the observed signs as one of the draws, so that it never says 0.
    """
    target = abs(moved.sum()) * (1.0 - 1e-12)
    if moved.size <= 16:
        sums = np.zeros(1)
        for difference in moved:
            sums = np.concatenate((sums + difference, sums - difference))
        return float(np.mean(np.abs(sums) >= target))
    reached, done = 0, 0
    while done < rounds:
        block = min(rounds - done, max(1, _BLOCK // moved.size))
        signs = rng.integers(0, 2, size=(block, moved.size), dtype=np.int8).astype(np.float64)
        reached += int(np.sum(np.abs(signs @ (2.0 * moved) - moved.sum()) >= target))
        done += block
    return (reached + 1.0) / (rounds + 1.0)


def _student(differences: Floats) -> float:
    from scipy.special import stdtr

    n = differences.size
    if n < 2:
        return 1.0
    error = differences.std(ddof=1) / np.sqrt(n)
    if error == 0.0:
        return 0.0
    return float(2.0 * stdtr(n - 1, -abs(differences.mean()) / error))


def bootstrap_interval(
    values: Floats,
    rng: np.random.Generator,
    weights: Floats | None = None,
    level: float = 0.95,
    rounds: int = 10_000,
) -> tuple[float, float]:
    """The percentile interval of the weighted mean over queries drawn with replacement."""
    n = values.size
    share = np.ones(n) if weights is None else weights
    means: list[Floats] = []
    done = 0
    while done < rounds:
        block = min(rounds - done, max(1, _BLOCK // n))
        drawn = rng.integers(0, n, size=(block, n))
        total = np.maximum(share[drawn].sum(axis=1), np.finfo(float).tiny)
        means.append((values * share)[drawn].sum(axis=1) / total)
        done += block
    lo, hi = np.quantile(np.concatenate(means), [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(lo), float(hi)


def holm(p_values: Floats) -> Floats:
    """Holm's step-down correction: the i-th smallest of m is multiplied by m - i + 1, then made to rise.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    raised = np.maximum.accumulate(p_values[order] * np.arange(p_values.size, 0, -1))
    out = np.empty_like(raised)
    out[order] = np.minimum(raised, 1.0)
    return out
