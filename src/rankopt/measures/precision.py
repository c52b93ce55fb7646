"""Precision, recall and success at a cut-off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.errors import SpecError
from rankopt.measures.base import Cutoff, Measure, Norm
from rankopt.measures.forms import CASCADE, POSITIONAL, Form
from rankopt.measures.gains import relevant


@dataclass(frozen=True)
class Precision(Measure):
    r"""Precision at k: the share of relevant rows among the first k ranks.

    Definition
    ----------
    .. math:: \mathrm{P@}k = \frac{1}{k} \sum_{r=1}^{k} [y_{(r)} \ge t]

    Parameters
    ----------
    k : cut-off; needed.
    relevant_from : t, the lowest relevant label.
    denominator : of a query with fewer than k rows. ``k`` all the same, as trec_eval has it; ``rows``,
        their number, as XGBoost and CatBoost have it.

    References
    ----------
    [buckley2000evaluating]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [0, 2, 1])
    >>> rankopt.evaluate([3.0, 2.0, 1.0], data, ["p@2"]).mean
    {'p@2': 0.5}
    """

    name: ClassVar[str] = "p"
    form: ClassVar[Form] = POSITIONAL
    cutoff: ClassVar[Cutoff] = Cutoff.REQUIRED
    k: int | None = None
    relevant_from: float = 1.0
    denominator: Literal["k", "rows"] = "k"

    def gains(self, labels: Floats) -> Floats:
        return relevant(labels, self.relevant_from)

    def discounts(self, ranks: Floats) -> Floats:
        return np.full_like(ranks, 1.0 / (self.k or 1))

    def slopes(self, ranks: Floats) -> Floats:
        return np.zeros_like(ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return np.ones(labels.size, dtype=bool), "any number"

    @property
    def norm(self) -> Norm:
        return Norm.NONE

    @property
    def short_queries(self) -> Literal["keep", "zero", "rows"]:
        return "rows" if self.denominator == "rows" else "keep"

    def check(self) -> None:
        if self.denominator not in ("k", "rows"):
            raise SpecError(f"p: unknown denominator {self.denominator!r}; use k or rows")


@dataclass(frozen=True)
class Recall(Measure):
    r"""Recall at k: the share of the query's relevant rows that stand at the first k ranks.

    Definition
    ----------
    .. math:: \mathrm{Recall@}k = \frac{\sum_{r=1}^{k} [y_{(r)} \ge t]}{\sum_i [y_i \ge t]}

    Parameters
    ----------
    k : cut-off; needed.
    relevant_from : t, the lowest relevant label.

    References
    ----------
    [buckley2000evaluating]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [0, 2, 1])
    >>> rankopt.evaluate([3.0, 2.0, 1.0], data, ["recall@2"]).mean
    {'recall@2': 0.5}
    """

    name: ClassVar[str] = "recall"
    form: ClassVar[Form] = POSITIONAL
    cutoff: ClassVar[Cutoff] = Cutoff.REQUIRED
    k: int | None = None
    relevant_from: float = 1.0

    def gains(self, labels: Floats) -> Floats:
        return relevant(labels, self.relevant_from)

    def discounts(self, ranks: Floats) -> Floats:
        return np.ones_like(ranks)

    def slopes(self, ranks: Floats) -> Floats:
        return np.zeros_like(ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return np.ones(labels.size, dtype=bool), "any number"

    @property
    def norm(self) -> Norm:
        return Norm.TOTAL


@dataclass(frozen=True)
class Success(Measure):
    r"""Success at k: 1 where any of the first k ranks is relevant. Also called hit rate.

    Definition
    ----------
    .. math:: \mathrm{Success@}k = \max_{r \le k} \, [y_{(r)} \ge t]

    Parameters
    ----------
    k : cut-off; needed.
    relevant_from : t, the lowest relevant label.

    References
    ----------
    [craswell2005overview]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [0, 2, 1])
    >>> rankopt.evaluate([3.0, 2.0, 1.0], data, ["success@1", "success@2"]).mean
    {'success@1': 0.0, 'success@2': 1.0}
    """

    name: ClassVar[str] = "success"
    form: ClassVar[Form] = CASCADE
    cutoff: ClassVar[Cutoff] = Cutoff.REQUIRED
    k: int | None = None
    relevant_from: float = 1.0

    def gains(self, labels: Floats) -> Floats:
        return relevant(labels, self.relevant_from)

    def discounts(self, ranks: Floats) -> Floats:
        return np.ones_like(ranks)

    def slopes(self, ranks: Floats) -> Floats:
        return np.zeros_like(ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return np.ones(labels.size, dtype=bool), "any number"

    @property
    def norm(self) -> Norm:
        return Norm.NONE
