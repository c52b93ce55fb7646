"""rankopt: ranking models trained, re-weighted and shipped by optimising the reported measure directly.

Public names are loaded when they are first used, so that ``import rankopt`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankopt.data.dataset import Dataset as Dataset
    from rankopt.data.dataset import dataset as dataset
    from rankopt.data.frames import from_frame as from_frame
    from rankopt.data.frames import read_parquet as read_parquet
    from rankopt.data.groups import Groups as Groups
    from rankopt.data.letor import read_letor as read_letor
    from rankopt.data.letor import write_letor as write_letor
    from rankopt.data.pairs import read_pairs as read_pairs
    from rankopt.data.simulate import simulate as simulate
    from rankopt.data.split import folds as folds
    from rankopt.data.split import holdout as holdout
    from rankopt.data.trec import read_qrels as read_qrels
    from rankopt.data.trec import read_run as read_run
    from rankopt.ensembles.reading import read_ensemble as read_ensemble
    from rankopt.ensembles.reweighting import reweight as reweight
    from rankopt.errors import DataError as DataError
    from rankopt.errors import IncompatibleError as IncompatibleError
    from rankopt.errors import RankoptError as RankoptError
    from rankopt.errors import SpecError as SpecError
    from rankopt.estimators import load as load
    from rankopt.estimators.approxrank import ApproxRank as ApproxRank
    from rankopt.estimators.boosts import boosts as boosts
    from rankopt.estimators.directboost import DirectBoost as DirectBoost
    from rankopt.estimators.directrank import DirectRank as DirectRank
    from rankopt.estimators.functional import FunctionalRank as FunctionalRank
    from rankopt.estimators.marginrank import MarginRank as MarginRank
    from rankopt.estimators.ranker import Ranker as Ranker
    from rankopt.estimators.smoothrank import SmoothRank as SmoothRank
    from rankopt.evaluation.compare import compare as compare
    from rankopt.evaluation.crossval import QueryKFold as QueryKFold
    from rankopt.evaluation.crossval import measure_scorer as measure_scorer
    from rankopt.evaluation.scores import evaluate as evaluate
    from rankopt.measures import Measure as Measure
    from rankopt.objectives.valuegrad import value_grad as value_grad
    from rankopt.search.linesearch import line_search as line_search

__version__ = "0.1.0"

_HOMES = {
    "rankopt.data.dataset": ("Dataset", "dataset"),
    "rankopt.data.frames": ("from_frame", "read_parquet"),
    "rankopt.data.groups": ("Groups",),
    "rankopt.data.letor": ("read_letor", "write_letor"),
    "rankopt.data.pairs": ("read_pairs",),
    "rankopt.data.simulate": ("simulate",),
    "rankopt.data.split": ("folds", "holdout"),
    "rankopt.data.trec": ("read_qrels", "read_run"),
    "rankopt.ensembles.reading": ("read_ensemble",),
    "rankopt.ensembles.reweighting": ("reweight",),
    "rankopt.errors": ("DataError", "IncompatibleError", "RankoptError", "SpecError"),
    "rankopt.estimators": ("load",),
    "rankopt.estimators.approxrank": ("ApproxRank",),
    "rankopt.estimators.boosts": ("boosts",),
    "rankopt.estimators.directboost": ("DirectBoost",),
    "rankopt.estimators.directrank": ("DirectRank",),
    "rankopt.estimators.functional": ("FunctionalRank",),
    "rankopt.estimators.marginrank": ("MarginRank",),
    "rankopt.estimators.ranker": ("Ranker",),
    "rankopt.estimators.smoothrank": ("SmoothRank",),
    "rankopt.evaluation.compare": ("compare",),
    "rankopt.evaluation.crossval": ("QueryKFold", "measure_scorer"),
    "rankopt.evaluation.scores": ("evaluate",),
    "rankopt.measures": ("Measure",),
    "rankopt.objectives.valuegrad": ("value_grad",),
    "rankopt.search.linesearch": ("line_search",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rankopt' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
