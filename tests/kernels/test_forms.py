"""Kernels of the forms on lists worked out by hand, and on those that are hard on arithmetic."""

import numpy as np
import pytest
from numba import config

from rankopt.kernels import averaged, cascade, concordance, cumulative, positional

KERNELS = {
    "positional": positional,
    "cascade": cascade,
    "cumulative": cumulative,
    "concordance": concordance,
    "averaged": averaged,
}
HARMONIC = 1.0 / np.arange(1.0, 11.0)


def value(kernels, gains, table=HARMONIC):
    gains, out = np.array(gains, float), np.empty(1)
    kernels.values(0, 1, np.array([0, gains.size]), gains, np.array(table), out)
    return out[0]


def average(kernels, gains, blocks, table=HARMONIC):
    gains, out = np.array(gains, float), np.empty(1)
    offsets = np.array([0, gains.size])
    kernels.averages(0, 1, offsets, gains, np.array(blocks), np.array(table), out)
    return out[0]


@pytest.mark.parametrize(
    ("form", "gains", "expected"),
    [
        ("positional", [3, 0, 6], 3 + 6 / 3),
        ("cascade", [0.5, 0.5, 1.0], 0.5 + 0.25 / 2 + 0.25 / 3),
        ("cascade", [0, 1, 1], 1 / 2),
        ("cumulative", [1, 0, 1], 1 + 2 / 3),
        ("concordance", [2, 1, 2, 0], 1 + 0 + 1 - 1 + 1 + 1),
        ("averaged", [0, 1], (0 / 1 + (1 / 2) / 1) / 2),
        ("averaged", [0, 0], 0),
    ],
)
def test_values_worked_out_by_hand(form, gains, expected):
    assert value(KERNELS[form], gains) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("positional", (1 + 1 / 2) / 2),
        ("cascade", (1 + 1 / 2) / 2),
        ("cumulative", (1 + 1 / 2) / 2),
        ("concordance", 0.0),
        ("averaged", ((1 + 1) / 2 + (0 + 1 / 2) / 2) / 2),
    ],
)
def test_one_relevant_row_tied_with_another(form, expected):
    assert average(KERNELS[form], [0, 1], [0, 0]) == pytest.approx(expected, rel=1e-15)


def test_a_cascade_ends_where_the_user_surely_stops():
    assert value(cascade, [1.0, 0.5, 1.0]) == 1.0
    assert average(cascade, [1.0, 0.5, 0.7], [0, 1, 1]) == 1.0


@pytest.mark.parametrize("name", list(KERNELS))
def test_one_row(name):
    assert average(KERNELS[name], [0.5], [0]) == value(KERNELS[name], [0.5])


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 1000])
def test_concordance_counts_every_pair(size):
    rng = np.random.default_rng(size)
    gains = rng.integers(0, 6, size).astype(float)
    pairs = np.sign(gains[:, None] - gains[None, :])
    assert value(concordance, gains) == np.triu(pairs, 1).sum()


def test_concordance_of_many_rows_is_exact():
    size = 3_000 if config.DISABLE_JIT else 200_000
    assert value(concordance, np.arange(size)[::-1]) == size * (size - 1) / 2


def test_a_large_block_of_ties_in_a_cascade_keeps_its_precision():
    # One relevant row among n tied ones: the mean of 1/r over all ranks.
    size = 200 if config.DISABLE_JIT else 3_000
    gains = np.zeros(size)
    gains[size // 3] = 1.0
    table = 1.0 / np.arange(1.0, size + 1.0)
    found = average(cascade, gains, np.zeros(size, np.int64), table)
    assert found == pytest.approx(table.mean(), rel=1e-11)


def test_a_large_block_of_ties_in_a_cumulative_form_keeps_its_precision():
    # R of n tied rows are relevant: sum over ranks r of R/n (1 + (r - 1) (R - 1) / (n - 1)) / r.
    size, relevant = 3_000, 700
    gains = np.zeros(size)
    gains[:relevant] = 1.0
    ranks = np.arange(1.0, size + 1.0)
    expected = np.sum(relevant / size * (1 + (ranks - 1) * (relevant - 1) / (size - 1)) / ranks)
    found = average(cumulative, gains, np.zeros(size, np.int64), 1.0 / ranks)
    assert found == pytest.approx(expected, rel=1e-11)
