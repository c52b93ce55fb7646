"""Discounted cumulative gain, plain, normalised, and normalised at every cut-off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from rankopt.arrays import Bools, Floats
from rankopt.errors import SpecError
from rankopt.measures.base import Cutoff, Measure, Norm
from rankopt.measures.forms import AVERAGED, POSITIONAL, Form
from rankopt.measures.gains import Gain, check_gain, domain_words, graded, graded_domain

Discount = Literal["log2", "letor", "rank"]


def _discounts(discount: Discount, ranks: Floats) -> Floats:
    if discount == "rank":
        return 1.0 / ranks
    return 1.0 / np.log2(np.maximum(ranks, 2.0) if discount == "letor" else 1.0 + ranks)


def _slopes(discount: Discount, ranks: Floats) -> Floats:
    if discount == "rank":
        return -1.0 / ranks**2
    at = ranks if discount == "letor" else 1.0 + ranks
    slopes = -1.0 / (np.log(2.0) * np.maximum(at, 2.0) * np.log2(np.maximum(at, 2.0)) ** 2)
    return np.where(at < 2.0, 0.0, slopes) if discount == "letor" else slopes


def _check(measure: DCG | NDCG | MeanNDCG) -> None:
    check_gain(measure.gain, measure.name)
    if measure.discount not in ("log2", "letor", "rank"):
        raise SpecError(
            f"{measure.name}: unknown discount {measure.discount!r}; use log2, letor or rank"
        )


@dataclass(frozen=True)
class DCG(Measure):
    r"""Discounted cumulative gain.

    Definition
    ----------
    .. math:: \mathrm{DCG} = \sum_{r=1}^{k} g(y_{(r)}) \, D(r), \qquad
              g(y) = 2^y - 1, \quad D(r) = 1 / \log_2(1 + r)

    Parameters
    ----------
    k : cut-off, or None.
    gain : ``exponential``, ``linear`` (g(y) = y), or a table of the gains of labels 0, 1, 2, ...
    discount : ``log2``; ``letor``, 1 at ranks 1 and 2 and :math:`1/\log_2 r` below; ``rank``, 1/r.

    References
    ----------
    [jarvelin2002cumulated]_

    Examples
    --------
    >>> import rankopt
    >>> rankopt.evaluate([3.0, 2.0, 1.0], rankopt.dataset([[0.0]] * 3, [1, 0, 1]), ["dcg"]).mean
    {'dcg': 1.5}
    """

    name: ClassVar[str] = "dcg"
    form: ClassVar[Form] = POSITIONAL
    k: int | None = None
    gain: Gain = "exponential"
    discount: Discount = "log2"

    def gains(self, labels: Floats) -> Floats:
        return graded(self.gain, labels)

    def discounts(self, ranks: Floats) -> Floats:
        return _discounts(self.discount, ranks)

    def slopes(self, ranks: Floats) -> Floats:
        return _slopes(self.discount, ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return graded_domain(self.gain, labels), domain_words(self.gain)

    @property
    def norm(self) -> Norm:
        return Norm.NONE

    def check(self) -> None:
        _check(self)


@dataclass(frozen=True)
class NDCG(Measure):
    r"""Normalised discounted cumulative gain: DCG divided by the best DCG of the query's rows.

    Definition
    ----------
    .. math:: \mathrm{NDCG} = \frac{1}{Z} \sum_{r=1}^{k} g(y_{(r)}) \, D(r), \qquad
              g(y) = 2^y - 1, \quad D(r) = 1 / \log_2(1 + r)

    where Z is the sum for the rows in order of gain, cut at k as well.

    Parameters
    ----------
    k : cut-off, or None.
    gain : ``exponential``, ``linear`` (g(y) = y), or a table of the gains of labels 0, 1, 2, ...
    discount : ``log2``; ``letor``, 1 at ranks 1 and 2 and :math:`1/\log_2 r` below; ``rank``, 1/r.
    short : ``keep``; ``zero`` counts a query with fewer than k rows as 0, as LETOR's scripts do.

    References
    ----------
    [jarvelin2002cumulated]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 3, [0, 2, 1])
    >>> round(rankopt.evaluate([3.0, 2.0, 1.0], data, ["ndcg@10"]).mean["ndcg@10"], 4)
    0.659
    """

    name: ClassVar[str] = "ndcg"
    form: ClassVar[Form] = POSITIONAL
    k: int | None = None
    gain: Gain = "exponential"
    discount: Discount = "log2"
    short: Literal["keep", "zero"] = "keep"

    def gains(self, labels: Floats) -> Floats:
        return graded(self.gain, labels)

    def discounts(self, ranks: Floats) -> Floats:
        return _discounts(self.discount, ranks)

    def slopes(self, ranks: Floats) -> Floats:
        return _slopes(self.discount, ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return graded_domain(self.gain, labels), domain_words(self.gain)

    @property
    def norm(self) -> Norm:
        return Norm.IDEAL

    @property
    def short_queries(self) -> Literal["keep", "zero", "rows"]:
        return self.short

    def check(self) -> None:
        _check(self)
        if self.short not in ("keep", "zero"):
            raise SpecError(f"ndcg: unknown short {self.short!r}; use keep or zero")


@dataclass(frozen=True)
class MeanNDCG(Measure):
    r"""The mean of NDCG@1, NDCG@2, ... NDCG@m over all m ranks of the query, as LETOR reports it.

    Definition
    ----------
    .. math:: \mathrm{MeanNDCG} = \frac{1}{m} \sum_{k=1}^{m} \mathrm{NDCG@}k

    Parameters
    ----------
    gain, discount : as in NDCG.

    References
    ----------
    [qin2010letor]_

    Examples
    --------
    >>> import rankopt
    >>> data = rankopt.dataset([[0.0]] * 2, [0, 1])
    >>> round(rankopt.evaluate([2.0, 1.0], data, ["mean-ndcg"]).mean["mean-ndcg"], 4)
    0.3155
    """

    name: ClassVar[str] = "mean-ndcg"
    form: ClassVar[Form] = AVERAGED
    cutoff: ClassVar[Cutoff] = Cutoff.NONE
    gain: Gain = "exponential"
    discount: Discount = "log2"

    def gains(self, labels: Floats) -> Floats:
        return graded(self.gain, labels)

    def discounts(self, ranks: Floats) -> Floats:
        return _discounts(self.discount, ranks)

    def slopes(self, ranks: Floats) -> Floats:
        return _slopes(self.discount, ranks)

    def domain(self, labels: Floats) -> tuple[Bools, str]:
        return graded_domain(self.gain, labels), domain_words(self.gain)

    @property
    def norm(self) -> Norm:
        return Norm.NONE

    def check(self) -> None:
        _check(self)
