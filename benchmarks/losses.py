"""Every loss and weight of FunctionalRank on OHSUMED and MQ2008: the paper's tables 6 to 9 in form.

Linear functionals in five folds: scores of whole grades (table 6), pairwise losses and smoothed measures
(table 7), weights of rows (table 8) and weights of pairs (table 9). The figures are means over the test
parts, by LETOR's convention; ERR has the highest grade of the set for its scale. The penalty is chosen on the
validation part, by NDCG@10. The sets are read from RANKOPT_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sets import FOLDERS, Cpu, fold, root
from sklearn.exceptions import ConvergenceWarning

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.data.scale import scale_standard

SHARES = [1e-3, 1e-2, 1e-1, 1.0]
MEASURES = ["ndcg@1", "ndcg@5", "ndcg@10", "err"]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Loss:
    """A row of one of the paper's tables: which, what it says there, and the loss."""

    table: int
    row: str
    loss: str
    weight: str | None = None
    group: str | None = None

    @property
    def text(self) -> str:
        """The loss with its options, as one text spec."""
        options = {"weight": self.weight, "group": self.group}
        given = [f"{name}={value}" for name, value in options.items() if value is not None]
        name, _, inside = self.loss.removesuffix(")").partition("(")
        return f"{name}({', '.join(filter(None, (inside, *given)))})"


PAIR_LOSSES = ("quadratic", "logistic", "hinge")
OF_ROWS = ("none", "grade", "root-grade", "gain", "inverse-rank", "inverse-log-rank")
OF_PAIRS = (
    "none", "inverse-size", "grade-difference", "grade-difference-normalised",
    "gain-discount-difference-normalised", "max-ndcg", "gain-discount-difference", "gain-difference",
    "gain-difference-normalised",
)  # fmt: skip


def rows_of_tables(top: int) -> Iterator[Loss]:
    """Every row, for grades up to `top`."""
    for group in (None, "min", "max", "arithmetic", "geometric"):
        yield Loss(6, group or "each row alone", "plackett-luce", group=group)
    for loss in PAIR_LOSSES:
        yield Loss(7, f"pairwise {loss}", f"pairwise({loss})")
    for measure in ("ndcg", f"err(max_grade={top})"):
        yield Loss(7, f"smoothed {measure}", f"approx({measure}, alpha=1)")
    by_rows = {
        "WPL": f"plackett-luce(max_grade={top})",
        "RPL": f"reverse-plackett-luce(max_grade={top})",
        "WpLL": f"pseudo-likelihood(max_grade={top})",
    }
    for weight in OF_ROWS:
        for name, loss in by_rows.items():
            yield Loss(8, f"{name} {weight}", loss, weight)
    by_pairs = {loss: f"pairwise({loss}, max_grade={top})" for loss in PAIR_LOSSES}
    by_pairs["WUB"] = f"pair-upper-bound(max_grade={top})"
    for weight in OF_PAIRS:
        for name, loss in by_pairs.items():
            yield Loss(9, f"{name} {weight}", loss, weight)


def losses(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Test ERR and NDCG@1/5/10 of every loss and weight, as means over the five folds."""
    out: list[dict[str, Any]] = []
    for name in [args.set] if args.set else FOLDERS:
        folds = [fold(name, number) for number in args.folds]
        top = int(max(part.labels.max() for parts in folds for part in parts.values()))
        for row in rows_of_tables(top):
            if args.table not in (None, row.table):
                continue
            with Cpu() as cpu:
                values = [on_fold(row, parts, top, args.l2 or SHARES) for parts in folds]
            mean = {k: float(np.mean([v[k] for v in values])) for k in values[0]}
            out.append(
                {"set": name, "table": row.table, "row": row.row, **mean, "cpu": cpu.seconds}
            )
            say(str(out[-1]))
    return out


def on_fold(
    row: Loss, parts: dict[str, Dataset], top: int, shares: list[float]
) -> dict[str, float]:
    """Test measures with the penalty that does best on the validation part."""
    train, unit = parts["train"], unit_of_penalty(row, parts["train"])
    settings: dict[str, Any] = {"weight": row.weight, "group": row.group, "normalize": "standard"}
    settings |= {"measure": "ndcg@10", "max_iter": 60, "tol": 1e-4}
    if row.table == 6:  # the largest and the smallest score have no slope where all tie
        settings["start"] = "ridge"
    reached, best = -1.0, None
    for share in shares:
        model = rankopt.FunctionalRank(loss=row.loss, l2=share * unit, **settings)
        value = model.fit(train).score(parts["vali"])
        if value > reached:
            reached, best = value, model
    assert best is not None
    measures = [*MEASURES[:-1], f"err(max_grade={top})"]
    found = rankopt.evaluate(best, parts["test"], measures, convention="letor").mean
    return {key.partition("(")[0]: value for key, value in found.items()}


def unit_of_penalty(row: Loss, train: Dataset) -> float:
    """What a penalty of 1 stands for: the squared slope by the weights at zero, over the loss there.

    Weights and couplings put the losses on scales that differ a thousandfold. This is multiplied by what
    the loss is multiplied by, and by the square of what scores are multiplied by, as the penalty must be.
    """
    query = train.groups.spread(np.arange(train.groups.n_queries))
    value, by_scores = rankopt.value_grad(row.text, np.zeros(train.n_rows), train.labels, query)
    slope = scale_standard(train)[0].X.T @ by_scores
    return float(slope @ slope) / value


def print_tables(rows: list[dict[str, Any]]) -> None:
    """The tables as the paper prints them: 6 and 7 with all measures, 8 and 9 with ERR by loss and weight."""
    for name, table in dict.fromkeys((row["set"], row["table"]) for row in rows):
        here = [row for row in rows if (row["set"], row["table"]) == (name, table)]
        print(f"\n{name}, table {table}" + ("" if table < 8 else ": ERR"))
        if table < 8:
            print_table(MEASURES, {row["row"]: [row[m] for m in MEASURES] for row in here})
            continue
        cells: dict[str, dict[str, float]] = {}
        for row in here:
            loss, weight = row["row"].split(" ")
            cells.setdefault(weight, {})[loss] = row["err"]
        losses = list(next(iter(cells.values())))
        print_table(losses, {weight: list(line.values()) for weight, line in cells.items()})


def print_table(columns: list[str], lines: dict[str, list[float]]) -> None:
    """Lines of figures, the best of each column starred."""
    print(" " * 36 + "".join(f"{column:>11}" for column in columns))
    best = np.max(list(lines.values()), axis=0)
    for name, values in lines.items():
        cells = (f"{v:.4f}{'*' if v == top else ' '}" for v, top in zip(values, best, strict=True))
        print(f"{name:36}" + "".join(f"{cell:>11}" for cell in cells))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--set", choices=FOLDERS, help="one set alone")
    parser.add_argument("--table", type=int, choices=(6, 7, 8, 9), help="one table alone")
    parser.add_argument("--folds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument(
        "--l2", type=float, nargs="+", help="other penalties, as shares of the slope"
    )
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    if root() is None:
        say("the sets are real: set RANKOPT_DATA")
    rows = [] if root() is None else losses(args)
    if args.json:
        print(json.dumps(rows, indent=2))
    else:
        print_tables(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
