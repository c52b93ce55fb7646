"""Figures 1 to 3 of ApproxRank's paper: how far the soft measure is from the true one while it is trained.

1  AP, beta = 10, alpha = 10, 50, 100     on a simulated set with the shape of TD2004, fold 1
2  AP, alpha = 100, beta = 1, 10, 50      on the same
3  NDCG, alpha = 10, 50, 100              on OHSUMED, fold 1 (read from RANKOPT_DATA)

Training is the paper's algorithm 1: stochastic gradient descent over shuffled queries, 200 rounds, learning
rate 0.01, from zero. The error is the mean over training queries of the distance between the soft and the
true measure; it is drawn over the rounds. Beside them figure 4 draws it for one model, that of ridge
regression, over alpha: without training, the error falls as the steps grow steeper.

The paper finds an error below 0.05 for each alpha of figure 1 and below 0.02 for alpha = 100, and errors that
fall as alpha and beta grow.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sets import Cpu, fold, root

from rankopt.arrays import Floats
from rankopt.data.dataset import Dataset
from rankopt.data.scale import scale_per_query
from rankopt.data.simulate import simulate
from rankopt.measures import as_measure
from rankopt.objectives import Approx
from rankopt.scorers import Linear
from rankopt.solvers import SGD, Problem
from rankopt.solvers.base import Step
from rankopt.solvers.starts import ridge
from rankopt.threads import using_threads

ROUNDS, RATE = 200, 0.01
ALPHAS = (10.0, 20.0, 50.0, 100.0, 150.0, 200.0, 250.0, 300.0)


def td2004_like() -> Dataset:
    """45 queries to train on, of 1,000 rows with few relevant ones, features from 0 to 1 in each query."""
    data = simulate("gov_like", seed=4, scale=0.9, n_features=44)
    return scale_per_query(data)


def error(loss: Approx, scores: Floats, data: Dataset) -> float:
    """The mean over queries of the distance between the soft measure and the true one."""
    estimates = loss.bind(data.labels, data.groups).estimates(scores)
    assert estimates is not None
    exact = loss.measure.bind(data.labels, data.groups).values(scores)
    return float(np.mean(np.abs(1.0 - estimates - exact)))


def curve(loss: Approx, data: Dataset, rounds: int) -> dict[str, list[float]]:
    """The error and the true measure after each round of training."""
    measure = loss.measure.bind(data.labels, data.groups)
    errors: list[float] = []
    values: list[float] = []

    def watch(_step: Step, params: Floats) -> bool:
        scores = Linear().scores(params, data)
        errors.append(error(loss, scores, data))
        values.append(measure.mean(scores))
        return False

    problem = Problem(data, Linear(), loss.bind(data.labels, data.groups))
    start = np.zeros(data.n_features)
    SGD(max_iter=rounds, learning_rate=RATE).solve(problem, start, np.random.default_rng(0), watch)
    return {"error": errors, "measure": values}


def figures(rounds: int) -> list[dict[str, Any]]:
    ap, ndcg = as_measure("ap"), as_measure("ndcg")
    gov = td2004_like()
    plans: list[tuple[str, Dataset, list[Approx], str]] = [
        ("1: AP, beta = 10", gov, [Approx(ap, a, 10.0) for a in (10.0, 50.0, 100.0)], "alpha"),
        ("2: AP, alpha = 100", gov, [Approx(ap, 100.0, b) for b in (1.0, 10.0, 50.0)], "beta"),
    ]
    if root() is not None:
        losses = [Approx(ndcg, a) for a in (10.0, 50.0, 100.0)]
        plans.append(("3: NDCG, OHSUMED", fold("ohsumed", 1)["train"], losses, "alpha"))
    out: list[dict[str, Any]] = []
    for title, data, losses, name in plans:
        for loss in losses:
            with Cpu() as cpu:
                found = curve(loss, data, rounds)
            label = f"{name} = {getattr(loss, name):g}"
            out.append({"figure": title, "label": label, "over": "rounds", **found})
            out[-1] |= {"x": list(range(1, rounds + 1)), "cpu": cpu.seconds}
            last, most = found["error"][-1], max(found["error"])
            say = f"{title:22} {label:12} error {last:.4f} (most {most:.4f})"
            print(
                f"{say}, measure {found['measure'][-1]:.4f}, {cpu.seconds:.1f} s", file=sys.stderr
            )
    return out


def fixed() -> list[dict[str, Any]]:
    """The error of one model over alpha."""
    out: list[dict[str, Any]] = []
    sets = [("AP, simulated", td2004_like(), "ap")]
    if root() is not None:
        sets.append(("NDCG, OHSUMED", fold("ohsumed", 1)["train"], "ndcg"))
    for label, data, text in sets:
        measure = as_measure(text)
        scores = Linear().scores(ridge(data, measure.bind(data.labels, data.groups).gains), data)
        scores = scores / scores.std()
        errors = [error(Approx(measure, alpha, 100.0), scores, data) for alpha in ALPHAS]
        out.append({"figure": "4: ridge regression", "label": label, "over": "alpha"})
        out[-1] |= {"error": errors, "x": list(ALPHAS), "falls": errors == sorted(errors)[::-1]}
        print(f"{label}: {[round(e, 4) for e in errors]} over alpha", file=sys.stderr)
    return out


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """One panel per figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    titles = list(dict.fromkeys(row["figure"] for row in rows))
    figure = Figure(figsize=(4.0 * len(titles), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(titles), squeeze=False)[0]
    for panel, title in zip(panels, titles, strict=True):
        for row in (row for row in rows if row["figure"] == title):
            panel.plot(row["x"], row["error"], label=row["label"], linewidth=1.2)
            panel.set_xlabel(row["over"])
        panel.set_title(title)
        panel.set_ylabel("error")
        panel.set_ylim(bottom=0.0)
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--figure", type=Path, default=Path(__file__).parent / "results" / "soft_figures.svg"
    )
    options = parser.parse_args(argv)
    with using_threads(1):
        rows = figures(options.rounds) + fixed()
    draw(rows, options.figure)
    print(f"drawn in {options.figure}", file=sys.stderr)
    if options.json:
        print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
