"""The systems of the bench and the settings they are chosen from, on validation data alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import product
from typing import Any

from rankopt.errors import SpecError


@dataclass(frozen=True)
class Entry:
    """A column of the tables: a system, fixed settings, and the grid the others are chosen from.

    Parameters
    ----------
    system : its name on the command line.
    fixed : settings that differ from the defaults; ``MEASURE`` in a text stands for the measure to train on.
    grid : values to choose from.
    seeded : whether results depend on the seed.
    """

    system: str
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    seeded: bool = False

    def settings(self, measure: str) -> Iterator[dict[str, Any]]:
        """All settings of the grid; `measure` is the one to train on where none is fixed."""
        names = list(self.grid)
        for values in product(*self.grid.values()):
            told = {"measure": measure, **self.fixed, **dict(zip(names, values, strict=True))}
            yield {
                name: value.replace("MEASURE", measure) if isinstance(value, str) else value
                for name, value in told.items()
            }


def _powers(low: int, high: int, step: int = 1) -> tuple[float, ...]:
    return tuple(10.0**power for power in range(low, high + 1, step))


ENTRIES: dict[str, Entry] = {
    "directrank": Entry("directrank", {"restarts": 20}, seeded=True),
    "directrank-bagged": Entry("directrank", {"bags": 30}, seeded=True),
    "directboost": Entry(
        "directboost", {}, {"learning_rate": (0.2, 1.0), "num_leaves": (4, 10)}, seeded=True
    ),
    "smoothrank": Entry("smoothrank", {}, {"l2": _powers(-5, 0)}),
    "approxrank": Entry("approxrank", {}, {"alpha": (10.0, 100.0), "l2": _powers(-5, -1, 2)}),
    "marginrank": Entry(
        "marginrank", {"bound": "tight", "position_weights": "learned"}, {"l2": _powers(-3, 1)}
    ),
    "functional": Entry("functional"),
    "ridge": Entry(
        "ridge", {}, {"l2": _powers(-4, 2), "balanced": (True, False), "centred": (False, True)}
    ),
    "ranksvm": Entry("ranksvm", {}, {"l2": _powers(-6, 0)}),
    "ranknet": Entry("ranknet", {}, {"l2": _powers(-4, 1)}),
    "listnet": Entry("listnet", {}, {"l2": _powers(-6, -1)}),
    "softmax": Entry("listnet", {"objective": "listnet(target=gains)"}, {"l2": _powers(-6, -1)}),
    "listmle": Entry("listmle", {}, {"l2": _powers(-4, 1)}),
    "rankcosine": Entry("rankcosine", {}, {"l2": _powers(-6, 0, 2)}),
    "rankcosine-consistent": Entry(
        "rankcosine", {"objective": "cosine(norm=dcg)"}, {"l2": _powers(-6, 0, 2)}
    ),
    "softrank": Entry("softrank", {"max_iter": 50}, {"l2": _powers(-5, -1, 2)}),
    "softrank-expected": Entry(
        "softrank",
        {"objective": "softrank(MEASURE, sigma=0.1, by=expectation)", "max_iter": 50},
        {"l2": _powers(-5, -1, 2)},
    ),
    "smoothgrad": Entry("smoothgrad", {"max_iter": 100}, {"l2": _powers(-5, -1, 2)}),
    "lambdarank": Entry(
        "lambdarank",
        {},
        {
            "l2": (0.0, 1e-4),
            "solver": tuple(f"sgd(max_iter=50, learning_rate={r})" for r in (0.01, 0.1, 1.0)),
        },
        seeded=True,
    ),
    "adarank-ndcg": Entry(
        "adarank", {"measure": "ndcg@10"}, {"repeats": (1, 5), "rest": (1, 10, 20)}
    ),
    "adarank-map": Entry("adarank", {"measure": "map"}, {"repeats": (1, 5), "rest": (1, 10, 20)}),
    "rankboost": Entry("rankboost", {"max_bins": 11}),  # ten thresholds, as in published runs
    "svmmap": Entry("svmmap", {}, {"l2": _powers(-4, -1)}),
    "coordinate-ascent": Entry("coordinate-ascent", {"restarts": 1}, seeded=True),
    "mart": Entry("mart", {}, {"num_leaves": (4, 10)}),
    "lambdamart": Entry("lambdamart", {}, {"num_leaves": (4, 10)}),
}


def chosen(names: str | None) -> dict[str, Entry]:
    """The entries that a comma-separated text names; all that there are without one."""
    from rankopt.estimators import SYSTEMS

    there = {name: entry for name, entry in ENTRIES.items() if entry.system in SYSTEMS}
    if names is None:
        return there
    out: dict[str, Entry] = {}
    for name in (part.strip() for part in names.split(",")):
        if name not in there:
            near = get_close_matches(name, there, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(there)}"
            raise SpecError(f"systems: unknown {name!r}; {hint}")
        out[name] = there[name]
    return out
