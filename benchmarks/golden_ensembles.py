"""Makes tests/golden/ensembles: small models of XGBoost and CatBoost, and the scores they give themselves.

    python benchmarks/golden_ensembles.py

The models are trained on simulated rows: numbers with missing values, and whole numbers that stand for
categories. ``answers.json`` holds the rows, the versions of the tools, and per model its scores or,
where rankopt has to refuse it, why. Needs the group `oracles` of pyproject.toml.
"""

from __future__ import annotations

import json
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden" / "ensembles"
ROUNDS = 4


def rows() -> tuple[Any, Any]:
    """A column of numbers, one with zeros, one of categories, one of missing values, one of no use."""
    rng = np.random.default_rng(41)
    X = np.round(rng.normal(size=(90, 5)), 3)
    X[:, 1] *= rng.random(90) < 0.5
    X[:, 2] = rng.integers(0, 40, 90)
    X[rng.random((90, 5)) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + (np.nan_to_num(X[:, 2]) % 3) + np.isnan(X[:, 3])
    return X, np.round(y + 0.3 * rng.normal(size=90), 3)


def of_xgboost(X: Any, y: Any) -> dict[str, dict[str, Any]]:
    import xgboost as xgb

    def matrix(target: Any, categorical: bool) -> Any:
        kinds = ["q", "q", "c" if categorical else "q", "q", "q"]
        return xgb.DMatrix(X, target, feature_types=kinds, enable_categorical=True)

    binary, classes = (y > 1.0).astype(float), np.clip(np.round(y), 0, 2)
    base = {"max_depth": 3, "nthread": 1, "seed": 0}
    cases: dict[str, tuple[dict[str, Any], Any, bool]] = {
        "plain": ({}, y, False),
        "base-score": ({"objective": "binary:logistic", "base_score": 0.2}, binary, False),
        "categories": ({"max_cat_to_onehot": 2}, y, True),
        "one-hot": ({"max_cat_to_onehot": 99}, y, True),
        "dart": ({"booster": "dart", "rate_drop": 0.5, "one_drop": 1}, y, True),
        "parallel": ({"num_parallel_tree": 2, "subsample": 0.5}, y, False),
        "lossguide": ({"grow_policy": "lossguide", "max_leaves": 5}, y, False),
        "classes": ({"objective": "multi:softprob", "num_class": 3}, classes, False),
        "targets": ({"multi_strategy": "multi_output_tree"}, np.stack((y, -y), 1), False),
        "linear": ({"booster": "gblinear"}, np.nan_to_num(y), False),
    }
    refused = {"classes": "several outputs", "targets": "several outputs", "linear": "gblinear"}
    out: dict[str, dict[str, Any]] = {}
    for name, (params, target, categorical) in cases.items():
        data = matrix(target, categorical)
        booster = xgb.train({**base, **params}, data, ROUNDS)
        if name == "plain":
            booster.set_attr(best_iteration="1")
        for suffix in ("json", "ubj"):
            file = f"xgboost-{name}.{suffix}"
            booster.save_model(str(FOLDER / file))
            if name in refused:
                out[file] = {"refused": refused[name]}
            else:
                margin = booster.predict(matrix(None, categorical), output_margin=True)
                out[file] = {"scores": [float(str(score)) for score in margin]}
    return out


def of_catboost(X: Any, y: Any) -> dict[str, dict[str, Any]]:
    import catboost as cb

    hashed = [[str(v) if i == 2 else v for i, v in enumerate(row)] for row in X.tolist()]
    cases: dict[str, tuple[dict[str, Any], Any, Any]] = {
        "plain": ({}, X, y),
        "nan-max": ({"nan_mode": "Max"}, X, y),
        "no-nan": ({"nan_mode": "Forbidden"}, np.nan_to_num(X), y),
        "lossguide": ({"grow_policy": "Lossguide", "max_leaves": 5}, X, y),
        "depthwise": ({"grow_policy": "Depthwise"}, X, y),
        "ctr": ({"cat_features": [2], "one_hot_max_size": 2}, hashed, y),
        "one-hot": ({"cat_features": [2], "one_hot_max_size": 99}, hashed, y),
        "classes": ({"loss_function": "MultiClass"}, X, np.clip(np.round(y), 0, 2)),
    }
    refused = {"ctr": "CTR", "one-hot": "hashes", "classes": "3 outputs; a ranking has one"}
    out: dict[str, dict[str, Any]] = {}
    for name, (params, data, target) in cases.items():
        model = cb.CatBoost(
            {"iterations": ROUNDS, "depth": 3, "border_count": 8, "verbose": 0, "thread_count": 1,
             "allow_writing_files": False, "random_seed": 0, **params}
        ).fit(data, target)  # fmt: skip
        file = f"catboost-{name}.json"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / file
            model.save_model(str(path), format="json")
            content = json.loads(path.read_text(encoding="utf-8"))
        content.pop("model_info")  # the parameters of the training, most of the file
        (FOLDER / file).write_text(json.dumps(content) + "\n", encoding="utf-8")
        if name in refused:
            out[file] = {"refused": refused[name]}
        else:
            raw = model.predict(data, prediction_type="RawFormulaVal")
            out[file] = {"scores": raw.tolist()}
    return out


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    X, y = rows()
    answers = {
        "versions": {"xgboost": version("xgboost-cpu"), "catboost": version("catboost")},
        "rows": [[None if v != v else v for v in row] for row in X.tolist()],
        "models": {**of_xgboost(X, y), **of_catboost(X, y)},
    }
    (FOLDER / "answers.json").write_text(json.dumps(answers) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
