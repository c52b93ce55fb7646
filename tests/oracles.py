"""Brute force for the tests: naive measures, all permutations, finite differences.

Slow on purpose and independent of the code under test: measures are written from their definitions,
on plain lists of labels in ranked order, best first. `measure` arguments are read for their
parameters alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import permutations, product
from typing import Any

import numpy as np

# ------------------------------------------------------------------ measures of a ranked list


def gain_of(label: float, gain: Any) -> float:
    if gain == "exponential":
        return 2.0**label - 1.0
    return float(label) if gain == "linear" else gain[int(label)]


def discount_of(rank: int, discount: str) -> float:
    if discount == "rank":
        return 1.0 / rank
    if discount == "letor":
        return 1.0 if rank <= 2 else 1.0 / math.log2(rank)
    return 1.0 / math.log2(1 + rank)


def dcg(labels: Sequence[float], k: int | None, gain: Any, discount: str) -> float:
    top = labels[:k]
    return sum(gain_of(y, gain) * discount_of(r, discount) for r, y in enumerate(top, 1))


def ndcg(
    labels: Sequence[float], k: int | None, gain: Any, discount: str, short: str = "keep"
) -> float:
    if short == "zero" and k is not None and len(labels) < k:
        return 0.0
    best = sorted(labels, key=lambda y: gain_of(y, gain), reverse=True)
    ideal = dcg(best, k, gain, discount)
    return dcg(labels, k, gain, discount) / ideal if ideal > 0.0 else 0.0


def mean_ndcg(labels: Sequence[float], gain: Any, discount: str) -> float:
    n = len(labels)
    return sum(ndcg(labels, k, gain, discount) for k in range(1, n + 1)) / n


def average_precision(
    labels: Sequence[float], k: int | None, relevant_from: float, denominator: str
) -> float:
    relevant = [y >= relevant_from for y in labels]
    total = sum(relevant)
    if total == 0:
        return 0.0
    ranks = [r for r, is_relevant in enumerate(relevant[:k], 1) if is_relevant]
    precisions = [sum(relevant[:r]) / r for r in ranks]
    reachable = total if denominator == "relevant" or k is None else min(total, k)
    return sum(precisions) / reachable


def precision(labels: Sequence[float], k: int, relevant_from: float, denominator: str) -> float:
    hits = sum(y >= relevant_from for y in labels[:k])
    return hits / (min(k, len(labels)) if denominator == "rows" else k)


def recall(labels: Sequence[float], k: int, relevant_from: float) -> float:
    total = sum(y >= relevant_from for y in labels)
    return sum(y >= relevant_from for y in labels[:k]) / total if total else 0.0


def success(labels: Sequence[float], k: int, relevant_from: float) -> float:
    return float(any(y >= relevant_from for y in labels[:k]))


def reciprocal_rank(labels: Sequence[float], k: int | None, relevant_from: float) -> float:
    for rank, label in enumerate(labels[:k], 1):
        if label >= relevant_from:
            return 1.0 / rank
    return 0.0


def expected_reciprocal_rank(
    labels: Sequence[float], k: int | None, max_grade: float, gain: str
) -> float:
    """A user walks down the list and at each rank stops with the chance that the label gives."""
    arrives, expected = 1.0, 0.0
    for rank, label in enumerate(labels[:k], 1):
        linear = gain == "linear"
        stops = label / max_grade if linear else (2.0**label - 1.0) / 2.0**max_grade
        expected += arrives * stops / rank
        arrives *= 1.0 - stops
    return expected


def rank_biased_precision(
    labels: Sequence[float], k: int | None, p: float, max_grade: float
) -> float:
    """A user reads on with chance p after each row."""
    reads, expected = 1.0, 0.0
    for label in labels[:k]:
        expected += (1.0 - p) * reads * label / max_grade
        reads *= p
    return expected


def kendall_tau(labels: Sequence[float]) -> float:
    pairs = [(labels[i], labels[j]) for j in range(len(labels)) for i in range(j)]
    right = sum(above > below for above, below in pairs)
    wrong = sum(above < below for above, below in pairs)
    return (right - wrong) / (right + wrong) if right + wrong else 0.0


NAIVE: dict[str, Callable[..., float]] = {
    "dcg": dcg,
    "ndcg": ndcg,
    "mean-ndcg": mean_ndcg,
    "ap": average_precision,
    "p": precision,
    "recall": recall,
    "success": success,
    "rr": reciprocal_rank,
    "err": expected_reciprocal_rank,
    "rbp": rank_biased_precision,
    "tau": kendall_tau,
}


def naive(measure: Any, ranked_labels: Sequence[float]) -> float:
    """The value of a ranked list, from the definition of the measure."""
    parameters = {f.name: getattr(measure, f.name) for f in fields(measure)}
    return NAIVE[measure.name](list(ranked_labels), **parameters)


# ------------------------------------------------------------------------- orders and ties


def ranking(
    labels: Sequence[float], scores: Sequence[float], ties: str, docs: Sequence[str] | None = None
) -> list[int]:
    """The rows in ranked order under any convention for ties but ``average``."""
    rows = range(len(scores))
    if ties == "pessimistic":
        return sorted(rows, key=lambda i: (-scores[i], labels[i]))
    if ties == "optimistic":
        return sorted(rows, key=lambda i: (-scores[i], -labels[i]))
    if ties == "stable":
        return sorted(rows, key=lambda i: (-scores[i], i))
    if ties == "docid" and docs is not None:
        by_document = sorted(rows, key=lambda i: docs[i], reverse=True)
        return sorted(by_document, key=lambda i: -scores[i])
    raise ValueError(ties)


def tied_rankings(scores: Sequence[float]) -> Iterator[list[int]]:
    """All orders that the scores allow: the rows of each block of equal scores in any order."""
    blocks = [
        [i for i, score in enumerate(scores) if score == value]
        for value in sorted(set(scores), reverse=True)
    ]
    for arranged in product(*(permutations(block) for block in blocks)):
        yield [row for block in arranged for row in block]


def naive_value(
    measure: Any,
    labels: Sequence[float],
    scores: Sequence[float],
    ties: str = "pessimistic",
    docs: Sequence[str] | None = None,
) -> float:
    """The value of one query; average ties by enumeration."""
    if ties == "average":
        values = [naive(measure, [labels[i] for i in order]) for order in tied_rankings(scores)]
        return sum(values) / len(values)
    return naive(measure, [labels[i] for i in ranking(labels, scores, ties, docs)])


def label_lists(length: int, grades: Iterable[float]) -> Iterator[tuple[float, ...]]:
    """All lists of labels."""
    return product(tuple(grades), repeat=length)


def tie_patterns(length: int) -> Iterator[tuple[int, ...]]:
    """All descending scores up to their values: 2^(length - 1) ways to tie neighbours."""
    for cuts in product((0, 1), repeat=length - 1):
        levels = [0]
        for cut in cuts:
            levels.append(levels[-1] - cut)
        yield tuple(levels)


def weak_orders(length: int) -> Iterator[tuple[int, ...]]:
    """All scores up to their values, in any row order: 1, 3, 13, 75, 541, ..."""
    for levels in product(range(length), repeat=length):
        if set(levels) == set(range(max(levels) + 1)):
            yield levels


# ------------------------------------------------------------------------------- numbers


def central_differences(
    function: Callable[[Any], float], at: Any, step: float = 1e-6
) -> np.ndarray:
    """The gradient of a function of a vector."""
    at = np.asarray(at, dtype=float)
    out = np.empty_like(at)
    for i in range(at.size):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        out[i] = (function(up) - function(down)) / (2.0 * step)
    return out


def fine_differences(
    function: Callable[[Any], float], at: Any, directions: Any, step: float = 1e-4
) -> np.ndarray:
    """Derivatives along directions, by five points: the error is of fourth order in the step."""
    at = np.asarray(at, dtype=float)
    out = []
    for direction in np.asarray(directions, dtype=float):
        near = function(at + step * direction) - function(at - step * direction)
        far = function(at + 2.0 * step * direction) - function(at - 2.0 * step * direction)
        out.append((8.0 * near - far) / (12.0 * step))
    return np.array(out)
