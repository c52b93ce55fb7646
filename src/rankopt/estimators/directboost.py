"""DirectBoost: boosted trees whose weights maximise the measure itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rankopt.ensembles.grower import TreeShape
from rankopt.estimators.boosting import TreeRanker, sloped
from rankopt.measures import Measure
from rankopt.objectives import Objective
from rankopt.solvers.boost import Boost
from rankopt.solvers.treestep import TreeStep

_FOLDS = 5
_FEW = 25  # queries that are too few to hold a fifth of them out


class DirectBoost(TreeRanker):
    r"""Trees grown round by round on an objective, each round weighted by an exact search of the measure.

    Definition
    ----------
    .. math:: f^{(k)}_t = f^{(k)}_{t-1} + \eta \, \alpha_t h^{(k)}_t, \qquad
              \alpha_t = \arg\max_{a \le \alpha \le b} \sum_k \sum_{q \in Q_k}
              M \big( f^{(k)}_{t-1}(X_q) + \alpha \, h^{(k)}_t(X_q), \; y_q \big), \qquad
              f = \frac{1}{K} \sum_k f^{(k)}

    with regression trees :math:`h^{(k)}_t` grown on the slopes of the objective. Along :math:`\alpha` the
    measure is a step function, all of whose steps are found. On the queries that a tree has been grown on
    its best weight is too large; so the training queries are dealt into K parts, the k-th booster never
    sees the part :math:`Q_k`, and weights and the number of rounds are judged by it. The mean of the
    boosters is less noisy than each of them, and needs no validation data.

    Parameters
    ----------
    measure : the measure to maximise, report and choose the number of rounds by.
    objective : what trees are grown on: the text of any objective with slopes, in which MEASURE stands
        for the measure, such as ``lambda(MEASURE)``, or ``squared``, as in the paper.
    n_estimators : the most rounds, each of one tree per fold.
    num_leaves, max_depth : the size of a tree.
    learning_rate : :math:`\eta`, how much of the exact weight is taken; with ``step="fixed"`` the weight.
        Some hundred queries, or noisy labels, ask for less than 1.
    step : where the weight is searched: ``out-of-bag``, on the queries that a tree has not seen;
        ``training``, on all, with one fold; ``fixed``, nowhere. The paper: ``objective="squared",
        step="training", bounds=(0.1, 0.5), subsample=1.0``.
    bounds : a and b.
    smoothing : the window that the measure is averaged over, along :math:`\alpha`, before its maximum is
        taken, in units of b - a; 0 is the measure itself.
    subsample : the share of a booster's queries that each of its trees is grown on.
    folds : K. With 1 the weight of each tree is searched on the queries that `subsample` leaves out, and
        the number of rounds is judged by validation data alone. None is 5, and 1 where queries are fewer
        than 25 or have been seen: with `init_model`, and with ``step="training"``.
    colsample_bytree : the share of the features.
    min_child_samples, min_child_weight : the least rows, in the bag or out of it, and sum of curvatures
        of a leaf.
    reg_lambda : added to the sum of curvatures.
    max_bin : the most values of a feature that are told apart.
    categorical_feature : columns of categories (whole numbers from 0), by number from 0 or by name.
    leaves : ``newton``, a leaf is the sum of slopes by the sum of curvatures; ``gradient``, the mean of
        slopes; ``auto``, newton where the objective has a curvature.
    leaf_rounds : rounds of exact searches of the measure that improve a new tree leaf by leaf.
    leaf_rate : how far leaves move to the values found so.
    reweight_rounds : rounds of exact searches over the weights of all trees once boosting has ended, of
        which validation data keeps what helps there.
    reweight_blocks : trees in a row that share a factor then are cut into so many blocks; None searches
        tree by tree, which fits more noise.
    normalize : None or ``query`` (0 to 1 within each query, at prediction as well).
    early_stopping_rounds : rounds without a better value after which training ends. The best number of
        rounds on the validation and the held-out queries is kept; where there are neither, all are.
    init_model : a fitted ranker of trees, the file of one, or a ``lightgbm.Booster``, to be continued.
    n_jobs : threads; None is all cores of the process, and any number gives the same bits.
    random_state : seed.
    verbose : 1 shows progress on standard error.

    References
    ----------
    [tan2013direct]_, section 2.4; [friedman2002stochastic]_; folds as the cross-validated committees of
    [parmanto1996improving]_

    Examples
    --------
    >>> import numpy as np, rankopt
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(300, 4)), np.repeat(np.arange(30), 10)
    >>> y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1.0), 0, 4)
    >>> model = rankopt.DirectBoost("ndcg@5", random_state=0).fit(X, y, qid=qid)
    >>> model.score(X, y, qid=qid) > 0.95
    True
    """

    system: ClassVar[str] = "directboost"

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        objective: str | Objective = "pairwise(logistic, weight=grade-difference)",
        n_estimators: int = 100,
        num_leaves: int = 10,
        learning_rate: float = 1.0,
        step: str = "out-of-bag",
        bounds: tuple[float, float] = (0.05, 1.0),
        smoothing: float = 0.0,
        subsample: float = 0.8,
        folds: int | None = None,
        colsample_bytree: float = 1.0,
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        reg_lambda: float = 0.0,
        max_depth: int = -1,
        max_bin: int = 255,
        categorical_feature: Sequence[int | str] | None = None,
        leaves: str = "auto",
        leaf_rounds: int = 0,
        leaf_rate: float = 0.3,
        reweight_rounds: int = 0,
        reweight_blocks: int | None = 10,
        normalize: str | None = None,
        early_stopping_rounds: int | None = None,
        init_model: Any = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.objective = objective
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.learning_rate = learning_rate
        self.step = step
        self.bounds = bounds
        self.smoothing = smoothing
        self.subsample = subsample
        self.folds = folds
        self.colsample_bytree = colsample_bytree
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.max_depth = max_depth
        self.max_bin = max_bin
        self.categorical_feature = categorical_feature
        self.leaves = leaves
        self.leaf_rounds = leaf_rounds
        self.leaf_rate = leaf_rate
        self.reweight_rounds = reweight_rounds
        self.reweight_blocks = reweight_blocks
        self.normalize = normalize
        self.early_stopping_rounds = early_stopping_rounds
        self.init_model = init_model
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _parts(self, queries: int) -> tuple[Objective, Boost]:
        low, high = self.bounds
        step = TreeStep(
            self.step, (float(low), float(high)), float(self.learning_rate), float(self.smoothing)
        )
        plan = Boost(
            self.n_estimators, step, float(self.subsample), self._folds(queries), self.leaves,
            self.leaf_rounds, float(self.leaf_rate),
        )  # fmt: skip
        return sloped(self.objective, self._measure()), plan

    def _folds(self, queries: int) -> int:
        """Five, unless told otherwise or queries are few, or have been seen by the model to continue."""
        if self.folds is not None:
            return self.folds
        seen = self.step == "training" or self.init_model is not None
        return 1 if seen or queries < _FEW else _FOLDS

    def _leverage(self) -> tuple[int, int | None]:
        return self.reweight_rounds, self.reweight_blocks

    def _shape(self, categories: tuple[int, ...]) -> TreeShape:
        return TreeShape(
            self.num_leaves, self.max_depth, self.min_child_samples, float(self.min_child_weight),
            float(self.reg_lambda), float(self.colsample_bytree), self.max_bin, categories,
        )  # fmt: skip
