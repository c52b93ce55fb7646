"""What the boosted baselines share: the parameters of their trees, and a fixed weight for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rankopt.ensembles.grower import TreeShape
from rankopt.estimators.boosting import TreeRanker, sloped
from rankopt.measures import Measure
from rankopt.objectives import Objective
from rankopt.solvers.boost import Boost
from rankopt.solvers.treestep import TreeStep


class FixedTreeRanker(TreeRanker):
    """Boosted trees of one loss and one learning rate: a subclass states its loss.

    Parameters
    ----------
    measure : the measure to report and to choose the number of trees by.
    objective : another loss, as text; None is that of the class.
    n_estimators, num_leaves, learning_rate, min_child_samples, min_child_weight, reg_lambda, max_depth,
        max_bin, subsample, colsample_bytree, categorical_feature : as in `DirectBoost`.
    normalize : None or ``query`` (0 to 1 within each query, at prediction as well).
    early_stopping_rounds : trees without a better validation value after which training ends. The best
        number of trees by validation data is kept, without such data all.
    init_model : a model of trees to continue.
    n_jobs : threads.
    random_state : seed.
    verbose : 1 shows progress on standard error.
    """

    loss: ClassVar[str]

    def __init__(
        self,
        measure: str | Measure = "ndcg@10",
        *,
        objective: str | Objective | None = None,
        n_estimators: int = 300,
        num_leaves: int = 10,
        learning_rate: float = 0.1,
        min_child_samples: int = 20,
        min_child_weight: float = 1e-3,
        reg_lambda: float = 0.0,
        max_depth: int = -1,
        max_bin: int = 255,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        categorical_feature: Sequence[int | str] | None = None,
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
        self.min_child_samples = min_child_samples
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.max_depth = max_depth
        self.max_bin = max_bin
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.categorical_feature = categorical_feature
        self.normalize = normalize
        self.early_stopping_rounds = early_stopping_rounds
        self.init_model = init_model
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _parts(self, queries: int) -> tuple[Objective, Boost]:
        loss = self.loss if self.objective is None else self.objective
        step = TreeStep("fixed", share=float(self.learning_rate))
        plan = Boost(self.n_estimators, step, float(self.subsample))
        return sloped(loss, self._measure()), plan

    def _shape(self, categories: tuple[int, ...]) -> TreeShape:
        return TreeShape(
            self.num_leaves, self.max_depth, self.min_child_samples, float(self.min_child_weight),
            float(self.reg_lambda), float(self.colsample_bytree), self.max_bin, categories,
        )  # fmt: skip
