"""Conventions: how a tool counts ties, blank queries and the finer points of each measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal

from rankopt.errors import SpecError
from rankopt.measures.base import TIES, Ties

Blank = Literal["zero", "one", "skip"]


@dataclass(frozen=True)
class Convention:
    """A named way to count.

    Parameters
    ----------
    name : as in ``--convention``.
    ties : who comes first among equal scores. ``pessimistic``: the lower gain; ``optimistic``: the
        higher; ``average``: the mean over all orders; ``stable``: the earlier row; ``docid``: the
        document identifier that sorts last, as trec_eval has it.
    blank : a query without a relevant row. ``zero``; ``one``, for measures that divide by what could be
        reached (NDCG, AP, recall), 0 for the others; ``skip``, left out of the means of all measures.
    defaults : parameters of measures, by name; what a measure's text says explicitly wins.
    """

    name: str
    ties: Ties = "pessimistic"
    blank: Blank = "zero"
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise SpecError(f"unknown ties {self.ties!r}; use one of {', '.join(TIES)}")
        if self.blank not in ("zero", "one", "skip"):
            raise SpecError(f"unknown blank {self.blank!r}; use zero, one or skip")

    def describe(self) -> dict[str, Any]:
        """The convention as plain values, for results."""
        return {
            "name": self.name,
            "ties": self.ties,
            "blank": self.blank,
            **{measure: dict(values) for measure, values in self.defaults.items()},
        }


_LINEAR = {"dcg": {"gain": "linear"}, "ndcg": {"gain": "linear"}, "mean-ndcg": {"gain": "linear"}}
_ALL_RELEVANT = {"ap": {"denominator": "relevant"}}
_LETOR = {
    "dcg": {"discount": "letor"},
    "ndcg": {"discount": "letor", "short": "zero"},
    "mean-ndcg": {"discount": "letor"},
}

CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("rankopt"),
        Convention("letor", "stable", "zero", {**_LETOR, **_ALL_RELEVANT}),
        Convention("trec_eval", "docid", "zero", {**_LINEAR, **_ALL_RELEVANT}),
        Convention("gdeval", "docid", "skip"),
        Convention("lightgbm", "stable", "one"),
        Convention("xgboost", "stable", "one"),
        Convention("catboost", "pessimistic", "one", _LINEAR),
        Convention("sklearn", "average", "zero", _LINEAR),
        Convention("ranx", "stable", "zero", {**_LINEAR, **_ALL_RELEVANT}),
        Convention("ranklib", "stable", "zero", _ALL_RELEVANT),
        Convention("yahoo", "pessimistic", "one"),
    )
}


def as_convention(
    convention: Convention | str, ties: Ties | None = None, blank: Blank | None = None
) -> Convention:
    """A convention by name, optionally with other ties or another count of blank queries."""
    if isinstance(convention, str):
        if convention not in CONVENTIONS:
            near = get_close_matches(convention, CONVENTIONS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(CONVENTIONS)}"
            raise SpecError(f"unknown convention {convention!r}; {hint}")
        convention = CONVENTIONS[convention]
    if ties is not None:
        convention = replace(convention, ties=ties)
    return convention if blank is None else replace(convention, blank=blank)
