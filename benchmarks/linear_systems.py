"""DirectRank beside ridge regression, RankSVM on pairs and fastrank's coordinate ascent.

Three tables, every system in one process on the same data:

* ``training``: NDCG@5 on the training part of each fold (table 11 of the DirectRank paper);
* ``climbing``: NDCG@10 on the training part and the CPU seconds it took, against fastrank, and against
  this package's own ``coordinate-ascent``, which tries the steps that RankLib tries;
* ``test``: five-fold test figures in the letor convention, tuned on the validation part only.

The real sets need RANKOPT_DATA; without it only the simulated set of ``climbing`` is run.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import numpy as np
from sets import FOLDERS, Cpu, fold, root

import rankopt
from rankopt.baselines import CoordinateAscent
from rankopt.data.dataset import Dataset
from rankopt.measures import as_measure
from rankopt.scorers import Linear
from rankopt.solvers.starts import ridge
from rankopt.threads import using_threads

PUBLISHED = {
    "ohsumed": {
        "RankSVM (LETOR 3.0)": [0.4958, 0.4207, 0.4164, 0.4140, 0.4334],
        "RankBoost (LETOR 3.0)": [0.4632, 0.4555, 0.4494, 0.4302, 0.4411],
        "ListNet (LETOR 3.0)": [0.5326, 0.4732, 0.4432, 0.4410, 0.4457],
        "AdaRank-MAP (LETOR 3.0)": [0.5388, 0.4682, 0.4613, 0.4429, 0.4487],
    },
    "mq2008": {
        "svm_rank (third party)": [0.3694, 0.4247, 0.4657, 0.2254, 0.4677],
        "RankBoost (third party)": [0.3644, 0.4288, 0.4693, 0.2306, 0.4752],
        "AdaRank (third party)": [0.3745, 0.4278, 0.4718, 0.2266, 0.4766],
        "ListNet (third party)": [0.3244, 0.3916, 0.4396, 0.2093, 0.4415],
    },
}
FIGURES = ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map"]


def fastrank_weights(data: Dataset, measure: str, restarts: int) -> np.ndarray:
    """fastrank's coordinate ascent at its defaults, save for the number of restarts."""
    from fastrank import CDataset, TrainRequest

    request = TrainRequest.coordinate_ascent()
    request.measure = measure
    request.params.seed = 42
    request.params.quiet = True
    request.params.num_restarts = restarts
    qid = np.repeat(np.arange(data.groups.n_queries), data.groups.sizes)
    model = CDataset.from_numpy(np.asarray(data.X, np.float32), data.labels, qid).train_model(
        request
    )
    return _weights_in(model.to_dict(), data.n_features)


def _weights_in(model: dict[str, Any], width: int) -> np.ndarray:
    """The weights of a fastrank linear model, whichever way it nests them."""
    if "weights" in model:
        return np.asarray(model["weights"], dtype=np.float64)[:width]
    for value in model.values():
        if isinstance(value, dict):
            return _weights_in(value, width)
    raise ValueError(f"no weights in {list(model)}")


def svm_weights(data: Dataset, c: float = 0.01) -> np.ndarray:
    """RankSVM: scikit-learn's LinearSVC on the differences of all pairs of unequal grades."""
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    rows: list[np.ndarray] = []
    for a, b in zip(data.groups.offsets[:-1], data.groups.offsets[1:], strict=True):
        X, y = np.asarray(data.X[a:b], np.float64), data.labels[a:b]
        i, j = np.nonzero(y[:, None] > y[None, :])
        if i.size > 2000:
            chosen = rng.choice(i.size, 2000, replace=False)
            i, j = i[chosen], j[chosen]
        rows.append(X[i] - X[j])
    pairs = np.concatenate(rows)
    sign = np.where(np.arange(len(pairs)) % 2 == 0, 1.0, -1.0)
    model = LinearSVC(C=c, fit_intercept=False, dual=False).fit(pairs * sign[:, None], sign)
    return model.coef_[0]


def value(weights: np.ndarray, data: Dataset, measure: str) -> float:
    bound = as_measure(measure).bind(data.labels, data.groups)
    return bound.mean(Linear().scores(np.asarray(weights, np.float64), data))


def training(kicks: int, restarts: int) -> list[dict[str, Any]]:
    rows = []
    for name in FOLDERS:
        for number in range(1, 6):
            data = fold(name, number)["train"]
            row: dict[str, Any] = {"set": name, "fold": number}
            row["ridge"] = value(ridge(data, 2.0**data.labels - 1), data, "ndcg@5")
            row["ranksvm"] = value(svm_weights(data), data, "ndcg@5")
            row["fastrank"] = value(fastrank_weights(data, "ndcg@5", restarts), data, "ndcg@5")
            for label, options in (("directrank", {}), ("directrank+kicks", {"kicks": kicks})):
                model = rankopt.DirectRank("ndcg@5", random_state=0, **options).fit(data)
                row[label] = value(model.coef_, data, "ndcg@5")
            rows.append(row)
            print(row, file=sys.stderr)
    return rows


def climbing(kicks: int, restarts: int, simulated_queries: int) -> list[dict[str, Any]]:
    from rankopt.data.simulate import simulate

    sets: list[tuple[str, Dataset, int, dict[str, Any]]] = []
    if root() is not None:
        for name in FOLDERS:
            sets += [
                (
                    f"{name} fold {i}",
                    fold(name, i)["train"],
                    restarts,
                    {"kicks": kicks, "point": "middle"},
                )
                for i in range(1, 6)
            ]
    if simulated_queries:
        shape = simulate("mslr_like", scale=simulated_queries / 2000)
        sets.append((f"mslr-like, {simulated_queries} queries", shape, 1, {}))
    rows = []
    for name, data, tries, options in sets:
        rankopt.DirectRank("ndcg@10", max_iter=1, tol=1.0).fit(data)  # compiled beforehand
        with Cpu() as ours:
            model = rankopt.DirectRank("ndcg@10", random_state=0, **options).fit(data)
        with Cpu() as theirs:
            weights = fastrank_weights(data, "ndcg@10", tries)
        with Cpu() as sampled:
            ascent = CoordinateAscent("ndcg@10", restarts=tries - 1, random_state=0).fit(data)
        rows.append(
            {
                "set": name,
                "directrank": value(model.coef_, data, "ndcg@10"),
                "fastrank": value(weights, data, "ndcg@10"),
                "coordinate-ascent": value(ascent.coef_, data, "ndcg@10"),
                "directrank_cpu": ours.seconds,
                "fastrank_cpu": theirs.seconds,
                "coordinate-ascent_cpu": sampled.seconds,
                "ratio": theirs.seconds / ours.seconds,
            }
        )
        print(rows[-1], file=sys.stderr)
    return rows


def test(restarts: int) -> list[dict[str, Any]]:
    rows = []
    for name in FOLDERS:
        sums: dict[str, list[list[float]]] = {}
        for number in range(1, 6):
            parts = fold(name, number)
            train, vali = parts["train"], parts["vali"]
            models: dict[str, np.ndarray] = {}
            gains = 2.0**train.labels - 1
            grid = [ridge(train, gains, l2) for l2 in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)]
            models["ridge"] = max(grid, key=lambda w: value(w, vali, "ndcg@10"))
            grid = [svm_weights(train, c) for c in (1e-4, 1e-3, 1e-2, 1e-1)]
            models["ranksvm"] = max(grid, key=lambda w: value(w, vali, "ndcg@10"))
            for measure in ("ndcg@5", "ndcg@10", "map"):
                ranker = rankopt.DirectRank(measure, random_state=0, restarts=restarts)
                models[f"directrank {measure}"] = ranker.fit(train, eval_set=[vali]).coef_
            for label, weights in models.items():
                scores = Linear().scores(weights, parts["test"])
                means = rankopt.evaluate(scores, parts["test"], FIGURES, convention="letor").mean
                sums.setdefault(label, []).append([means[f] for f in FIGURES])
        for label, figures in sums.items():
            rows.append(
                {
                    "set": name,
                    "system": label,
                    **dict(zip(FIGURES, np.mean(figures, 0).tolist(), strict=True)),
                }
            )
        rows += [
            {"set": name, "system": label, **dict(zip(FIGURES, figures, strict=True))}
            for label, figures in PUBLISHED[name].items()
        ]
    return rows


def show(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    if not rows:
        return
    names = list(rows[0])
    print("  ".join(f"{n:>18}" for n in names))
    for row in rows:
        cells = (f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values())
        print("  ".join(f"{c:>18}" for c in cells))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--tables", default="training,climbing,test")
    parser.add_argument("--kicks", type=int, default=10)
    parser.add_argument("--climb-kicks", type=int, default=6, help="of DirectRank against fastrank")
    parser.add_argument("--restarts", type=int, default=5, help="of fastrank")
    parser.add_argument(
        "--test-restarts", type=int, default=20, help="of DirectRank in the test table"
    )
    parser.add_argument(
        "--queries", type=int, default=2000, help="of the simulated set; 0 leaves it out"
    )
    options = parser.parse_args(argv)
    chosen = options.tables.split(",")
    out: dict[str, Any] = {}
    with using_threads(1):
        if "training" in chosen and root() is not None:
            out["training"] = training(options.kicks, options.restarts)
        if "climbing" in chosen:
            out["climbing"] = climbing(options.climb_kicks, options.restarts, options.queries)
        if "test" in chosen and root() is not None:
            out["test"] = test(options.test_restarts)
    if options.json:
        print(json.dumps(out))
        return
    for title, rows in out.items():
        show(title, rows)


if __name__ == "__main__":
    main()
