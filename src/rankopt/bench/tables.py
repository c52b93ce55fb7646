"""Tables: what the cells of a bench add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankopt.arrays import Floats
from rankopt.bench.published import KNOWN, Published
from rankopt.evaluation.intervals import bootstrap_interval, holm, p_value

_ROUNDS = 2000  # drawings of queries for the intervals of winning numbers
CUTS = (1, 3, 5, 8, 10)  # of tables 3 and 4

Result = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Pooled:
    """One system on one set.

    Parameters
    ----------
    means : measure -> mean over folds (and seeds) of the mean over test queries, as LETOR reports it.
    values : measure -> value of each test query of all folds, the mean over seeds.
    """

    system: str
    means: dict[str, float]
    values: dict[str, Floats]
    spread: dict[str, float]
    train: dict[str, float]
    vali: float
    cpu: float
    cpu_all: float
    memory: int
    folds: int
    seeds: int
    chosen: list[dict[str, Any]]


def pooled(results: Iterable[Result]) -> dict[str, dict[str, Pooled]]:
    """Set -> system -> what its cells add up to; systems without a result on every fold are left out."""
    sets: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    folds: dict[str, set[int]] = defaultdict(set)
    for result in results:
        sets[result["set"]][result["system"]].append(result)
        folds[result["set"]].add(result["fold"])
    return {
        name: {
            system: _pooled(system, cells)
            for system, cells in systems.items()
            if {cell["fold"] for cell in cells} == folds[name]
        }
        for name, systems in sets.items()
    }


def _pooled(system: str, cells: list[Result]) -> Pooled:
    cells = sorted(cells, key=lambda cell: (cell["fold"], cell["seed"]))
    folds = sorted({cell["fold"] for cell in cells})
    seeds = sorted({cell["seed"] for cell in cells})
    by_fold = [[cell for cell in cells if cell["fold"] == fold] for fold in folds]
    measures = list(cells[0]["test"])
    values = {
        m: np.concatenate(
            [
                np.mean([np.array(cell["per_query"][m], dtype=float) for cell in group], axis=0)
                for group in by_fold
            ]
        )
        for m in measures
    }

    def mean(*keys: str) -> float:
        """The mean over folds of the mean over seeds of what stands under the keys."""
        picked = [[_at(cell, keys) for cell in group] for group in by_fold]
        return float(np.mean([np.mean(group) for group in picked]))

    spread = {
        m: float(
            np.std(
                [np.mean([c["test"][m] for c in cells if c["seed"] == seed]) for seed in seeds],
                ddof=1,
            )
        )
        if len(seeds) > 1
        else 0.0
        for m in measures
    }
    return Pooled(
        system,
        {m: mean("test", m) for m in measures},
        values,
        spread,
        {m: mean("train", m) for m in cells[0]["train"]},
        mean("vali"),
        mean("cpu"),
        mean("cpu_all"),
        max(cell["memory"] for cell in cells),
        len(folds),
        len(seeds),
        [cell["chosen"] for cell in cells],
    )


def _at(cell: Any, keys: tuple[str, ...]) -> float:
    for key in keys:
        cell = cell[key]
    return float(cell)


def winning_numbers(means: list[dict[str, float]]) -> dict[str, int]:
    """Of each system, how many others it beats, added up over sets [liu2011learning].

    Systems that are not on every set are left out.

    >>> winning_numbers([{"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.1, "b": 0.2, "c": 0.1}])
    {'a': 2, 'b': 3, 'c': 0}
    """
    names = [name for name in means[0] if all(name in found for found in means)]
    return {
        name: sum(found[name] > found[other] for found in means for other in names)
        for name in names
    }


def winning_table(
    sets: dict[str, dict[str, Pooled]], measure: str, seed: int = 0
) -> dict[str, dict[str, Any]]:
    """Winning numbers by one measure with 95 % intervals over test queries drawn anew within each set,
    and the share of drawings in which each system has the largest.
    """
    names = [
        name for name in next(iter(sets.values())) if all(name in found for found in sets.values())
    ]
    wins = winning_numbers([{n: found[n].means[measure] for n in names} for found in sets.values()])
    rng = np.random.default_rng(seed)
    drawn = np.zeros((_ROUNDS, len(names)))
    for found in sets.values():
        values = np.array([found[name].values[measure] for name in names])
        values = values[:, ~np.isnan(values).any(axis=0)]  # queries that the convention skips
        for r in range(_ROUNDS):
            means = values[:, rng.integers(0, values.shape[1], values.shape[1])].mean(axis=1)
            drawn[r] += (means[:, None] > means[None, :]).sum(axis=1)
    first = (drawn == drawn.max(axis=1, keepdims=True)).mean(axis=0)
    lo, hi = np.quantile(drawn, [0.025, 0.975], axis=0)
    return {
        name: {"wins": wins[name], "lo": float(lo[i]), "hi": float(hi[i]), "first": float(first[i])}
        for i, name in enumerate(names)
    }


def differences(
    found: dict[str, Pooled], reference: str, measure: str
) -> dict[str, dict[str, float]]:
    """Each system less the reference over all test queries: difference, interval, p by Holm."""
    if reference not in found:
        return {}
    rng = np.random.default_rng(0)
    others = [name for name in found if name != reference]
    base = found[reference].values[measure]
    rows: list[tuple[float, float, float, float]] = []
    for name in others:
        difference = found[name].values[measure] - base
        difference = difference[~np.isnan(difference)]
        lo, hi = bootstrap_interval(difference, rng)
        rows.append((float(difference.mean()), lo, hi, p_value(difference, "randomisation", rng)))
    corrected = holm(np.array([p for *_, p in rows])) if rows else np.empty(0)
    return {
        name: {"difference": d, "lo": lo, "hi": hi, "p": p, "p_holm": float(q)}
        for name, (d, lo, hi, p), q in zip(others, rows, corrected, strict=True)
    }


def known(results: list[Result], name: str) -> tuple[str, tuple[Published, ...]]:
    """What has been published on a set of this size: its name and the figures."""
    shapes = {r["fold"]: r["shape"]["test"] for r in results if r["set"] == name}
    if not shapes:
        return "", ()
    total = (
        sum(shape[0] for shape in shapes.values()),
        sum(shape[1] for shape in shapes.values()),
        next(iter(shapes.values()))[2],
    )
    return KNOWN.get(total, ("", ()))
