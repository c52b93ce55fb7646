"""Ranking measures. A new one is a file and an import line here."""

import re
from typing import Any

from rankopt.measures.average_precision import AveragePrecision as AveragePrecision
from rankopt.measures.base import BoundMeasure as BoundMeasure
from rankopt.measures.base import Measure as Measure
from rankopt.measures.conventions import CONVENTIONS as CONVENTIONS
from rankopt.measures.conventions import Convention as Convention
from rankopt.measures.conventions import as_convention as as_convention
from rankopt.measures.dcg import DCG as DCG
from rankopt.measures.dcg import NDCG as NDCG
from rankopt.measures.dcg import MeanNDCG as MeanNDCG
from rankopt.measures.err import ERR as ERR
from rankopt.measures.precision import Precision as Precision
from rankopt.measures.precision import Recall as Recall
from rankopt.measures.precision import Success as Success
from rankopt.measures.rbp import RBP as RBP
from rankopt.measures.reciprocal import ReciprocalRank as ReciprocalRank
from rankopt.measures.tau import Tau as Tau
from rankopt.registry import Registry

MEASURES: Registry[Measure] = Registry.of(
    "measure",
    Measure,
    globals(),
    aliases={
        "map": "ap",
        "mrr": "rr",
        "recip_rank": "rr",
        "r": "recall",
        "precision": "p",
        "hit": "success",
        "hit-rate": "success",
        "hit_rate": "success",
        "meanndcg": "mean-ndcg",
        "kendall": "tau",
        "ndcg_cut": "ndcg",
        "map_cut": "ap",
    },
)
_TREC = re.compile(r"(ndcg_cut|map_cut|p|recall|success)_(\d+)", re.IGNORECASE)


def as_measure(spec: Measure | str, convention: "Convention | str | None" = None) -> Measure:
    """A measure from its text, under a convention; a `Measure` passes through as it is.

    The text may be in another tool's spelling: ``nDCG@10``, ``map``, ``R@20``, ``ndcg_cut_10``, ``P_5``.

    >>> print(as_measure("map@100"), as_measure("ndcg_cut_10"), as_measure("ndcg@5", "sklearn"))
    ap@100 ndcg@10 ndcg(gain=linear)@5
    """
    if isinstance(spec, str) and (match := _TREC.fullmatch(spec.strip())):
        spec = f"{match[1]}@{match[2]}"
    defaults: Any = None if convention is None else as_convention(convention).defaults
    return MEASURES.build(spec, defaults)
