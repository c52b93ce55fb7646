"""Published figures that the plain bench misses by more than 0.01, met by systems set up as those runs were.

``variants``: each is trained on the five folds, its rounds and settings chosen by MAP on the validation part.
``paired``: the bench's systems less score files of a third party over all test queries, with bootstrap
intervals. Needs RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import warnings
from typing import Any

import numpy as np
from sets import FOLDERS, fold, root

import rankopt
from rankopt.baselines import AdaRank, ListNet, RankBoost, RankSVM
from rankopt.data.dataset import Dataset
from rankopt.evaluation.intervals import bootstrap_interval
from rankopt.threads import using_threads

MEASURES = ["ndcg@5", "map"]
HINGE = [
    {"objective": "pairwise(hinge)", "solver": "bundle", "l2": 10.0**power}
    for power in (-4, -3, -2, -1)
]
SQUARED = [{"l2": 10.0**power} for power in (-4, -3, -2, -1)]
VARIANTS: list[tuple[str, str, list[float], str, type, list[dict[str, Any]], str]] = [
    (
        "ohsumed", "RankSVM, third party", [0.4811, 0.4436], "hinge, not squared", RankSVM, HINGE,
        "svm_rank has the plain hinge loss",
    ),
    (
        "ohsumed", "AdaRank-MAP, LETOR 3.0", [0.4613, 0.4487], "ties in file order, no rest", AdaRank,
        [{"repeats": None, "ties": "stable"}],
        "features of equal values are weighed by the order of the file",
    ),
    (
        "ohsumed", "ListNet, LETOR 3.0", [0.4432, 0.4457], "descent at a small rate", ListNet,
        [{"solver": "sgd(max_iter=300, learning_rate=5e-5)", "l2": 0.0}],
        "a descent that ends before the minimum of the loss",
    ),
    (
        "ohsumed", "RankSVM, LETOR 3.0", [0.4164, 0.4334], "squared hinge", RankSVM, SQUARED,
        "ended after 5000 steps, short of the optimum [chapelle2010gradient]",
    ),
    (
        "mq2008", "ListNet, third party", [0.4396, 0.4415], "RankLib's rate, random start", ListNet,
        [{"solver": "sgd(max_iter=30, learning_rate=5e-4)", "l2": 0.0, "start": "random"}],
        "a descent that hardly leaves its start",
    ),
]  # fmt: skip
PLAIN: dict[str, tuple[type, list[dict[str, Any]]]] = {
    "svm_rank": (RankSVM, SQUARED),
    "RankBoost": (RankBoost, [{"max_bins": 11}]),
}


def fitted(cls: Any, settings: list[dict[str, Any]], parts: dict[str, Dataset]) -> Any:
    """The model of the settings that are best by MAP on the validation part."""
    models = []
    random = np.random.default_rng(0).uniform(-0.1, 0.1, parts["train"].n_features)
    for values in settings:
        start = {"start": random} if values.get("start") == "random" else {}
        model = cls("map", **{**values, **start})
        models.append(model.fit(parts["train"], eval_set=[parts["vali"]]))
    return max(models, key=lambda model: mean(model, parts["vali"], ["map"])[0])


def mean(model: Any, data: Dataset, measures: list[str]) -> list[float]:
    found = rankopt.evaluate(model, data, measures, convention="letor")
    return [found.mean[measure] for measure in measures]


def variants(folds: dict[str, list[dict[str, Dataset]]]) -> list[dict[str, Any]]:
    rows = []
    for name, published, figures, words, cls, settings, note in VARIANTS:
        found = np.mean(
            [mean(fitted(cls, settings, p), p["test"], MEASURES) for p in folds[name]], axis=0
        )
        rows.append(
            {
                "set": name, "published": published, "ndcg@5": figures[0], "map": figures[1],
                "here": words, "here ndcg@5": found[0], "here map": found[1], "note": note,
            }
        )  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def paired(folds: dict[str, list[dict[str, Dataset]]]) -> list[dict[str, Any]]:
    """Bench systems less the third party's scores, query by query."""
    rows = []
    for name, parts in folds.items():
        for system, (cls, settings) in PLAIN.items():
            differences: dict[str, list[np.ndarray]] = {m: [] for m in MEASURES}
            for number, part in enumerate(parts, 1):
                model = fitted(cls, settings, part)
                theirs = scores(name, system, number)
                ours = rankopt.evaluate(model, part["test"], MEASURES, convention="letor")
                other = rankopt.evaluate(theirs, part["test"], MEASURES, convention="letor")
                for m in MEASURES:
                    differences[m].append(ours.per_query[m] - other.per_query[m])
            for m in MEASURES:
                values = np.concatenate(differences[m])
                lo, hi = bootstrap_interval(values, np.random.default_rng(0))
                rows.append(
                    {
                        "set": name, "system": system, "measure": m,
                        "difference": float(values.mean()), "lo": lo, "hi": hi,
                    }
                )  # fmt: skip
                print(rows[-1], file=sys.stderr, flush=True)
    return rows


def scores(name: str, system: str, number: int) -> np.ndarray:
    """The scores of a third party, one per row of the test part."""
    folder = root()
    assert folder is not None
    place = folder / FOLDERS[name].split("/")[0] / "reference_scores" / system
    with gzip.open(place / f"Fold{number}.test.score.gz", "rt") as lines:
        return np.array([float(line.split()[-1]) for line in lines])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    if root() is None:
        parser.error("set RANKOPT_DATA to the folder of the real sets")
    folds = {name: [fold(name, k) for k in range(1, 6)] for name in FOLDERS}
    with using_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of descents that are meant to end early
        out = {"variants": variants(folds), "paired": paired(folds)}
    if options.json:
        print(json.dumps(out))


if __name__ == "__main__":
    main()
