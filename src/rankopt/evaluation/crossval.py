"""Cross-validation of rankers with scikit-learn: folds that keep queries whole, and scorers.

They need scikit-learn's metadata routing, ``sklearn.set_config(enable_metadata_routing=True)``: then
``qid``, passed once, reaches fit, score and the split. Without it scikit-learn passes `qid` to `fit`
and not to `score`, whose error it turns into a score of NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold

from rankopt.arrays import Ints
from rankopt.data.dataset import dataset
from rankopt.errors import DataError
from rankopt.evaluation.scores import evaluate_scores
from rankopt.measures import Measure, as_measure


class QueryKFold(GroupKFold):
    """K folds of whole queries. With metadata routing on, `qid` reaches it as the groups.

    Parameters
    ----------
    n_splits : number of folds.
    shuffle, random_state : whether and how queries are shuffled before they are dealt out.

    Examples
    --------
    >>> import numpy as np
    >>> qid = np.repeat(["a", "b", "c"], 2)
    >>> [qid[test].tolist() for _, test in QueryKFold(3).split(np.zeros((6, 1)), groups=qid)]
    [['c', 'c'], ['b', 'b'], ['a', 'a']]
    """

    __metadata_request__split: ClassVar[dict[str, Any]] = {"groups": "qid"}

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: int | None = None
    ) -> None:
        super().__init__(n_splits=n_splits, shuffle=shuffle, random_state=random_state)

    def split(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Ints, Ints]]:
        """Row numbers of the training and test part of each fold."""
        if groups is None:
            raise DataError(
                "QueryKFold: no queries reached it; turn metadata routing on"
                " (sklearn.set_config(enable_metadata_routing=True)) and pass qid, or pass groups=qid"
            )
        return super().split(X, y, np.asarray(groups))


def measure_scorer(measure: Measure | str = "ndcg@10") -> Any:
    """A scikit-learn scorer of a ranking measure, which takes `qid` by metadata routing.

    >>> import numpy as np, rankopt, sklearn
    >>> X, qid = np.arange(6.0)[:, None], np.repeat(["a", "b"], 3)
    >>> model = rankopt.DirectRank("rr").fit(X, [0, 0, 1, 0, 0, 1], qid=qid)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     rankopt.measure_scorer("rr")(model, X, [0, 0, 1, 0, 0, 1], qid=qid)
    1.0
    """
    parsed = as_measure(measure)

    def score(y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> float:
        if qid is None:
            raise DataError(f"{parsed}: no qid reached the scorer; pass it by metadata routing")
        data = dataset(np.asarray(scores, dtype=np.float64)[:, None], y, qid)
        flat = np.ascontiguousarray(data.X[:, 0], dtype=np.float64)
        return evaluate_scores(flat, data.labels, data.groups, parsed, rows=data.rows).mean[
            str(parsed)
        ]

    score.__name__ = str(measure)
    return make_scorer(score).set_score_request(qid=True)
