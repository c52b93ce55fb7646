"""Conventions: how a tool counts ties, blank queries and the finer points of each measure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, Literal

from rankopt.errors import SpecError
from rankopt.measures.base import TIES, Measure, Norm, Ties

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
    blanks : where the tool counts blank queries of a measure otherwise, by name of the measure.
    defaults : parameters of measures, by name; what a measure's text says explicitly wins.
    """

    name: str
    ties: Ties = "pessimistic"
    blank: Blank = "zero"
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    blanks: Mapping[str, Blank] = field(default_factory=dict[str, Blank])

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise SpecError(f"unknown ties {self.ties!r}; use one of {', '.join(TIES)}")
        for blank in (self.blank, *self.blanks.values()):
            if blank not in ("zero", "one", "skip"):
                raise SpecError(f"unknown blank {blank!r}; use zero, one or skip")

    def blank_value(self, measure: Measure) -> float:
        """What a blank query counts: 0, 1, or NaN where it is left out."""
        blank = self.blanks.get(measure.name, self.blank)
        if blank == "skip":
            return math.nan
        return 1.0 if blank == "one" and measure.norm is not Norm.NONE else 0.0

    def describe(self) -> dict[str, Any]:
        """The convention as plain values, for results."""
        return {
            "name": self.name,
            "ties": self.ties,
            "blank": self.blank,
            **({"blanks": dict(self.blanks)} if self.blanks else {}),
            **{measure: dict(values) for measure, values in self.defaults.items()},
        }


_LINEAR = {"dcg": {"gain": "linear"}, "ndcg": {"gain": "linear"}, "mean-ndcg": {"gain": "linear"}}
_ALL_RELEVANT = {"ap": {"denominator": "relevant"}}
_ROWS = {"p": {"denominator": "rows"}}
_LETOR = {
    "dcg": {"discount": "letor"},
    "ndcg": {"discount": "letor", "short": "zero"},
    "mean-ndcg": {"discount": "letor"},
}
_CATBOOST = {**_LINEAR, **_ROWS, "err": {"gain": "linear", "max_grade": 1.0}}

CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("rankopt"),
        Convention("letor", "stable", "zero", {**_LETOR, **_ALL_RELEVANT}),
        Convention("trec_eval", "docid", "zero", {**_LINEAR, **_ALL_RELEVANT}),
        Convention("gdeval", "docid", "skip"),
        Convention("lightgbm", "stable", "one"),
        Convention("xgboost", "stable", "one", _ROWS),
        Convention("catboost", "pessimistic", "one", _CATBOOST, {"ap": "zero"}),
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
    return convention if blank is None else replace(convention, blank=blank, blanks={})
