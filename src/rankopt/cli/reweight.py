"""rankopt reweight: an existing tree ensemble, its trees re-weighted for a measure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankopt.cli import options
from rankopt.cli.files import read_data
from rankopt.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rankopt.ensembles.reweighting import Reweighted


def reweight(
    ensemble: Annotated[
        Path,
        typer.Argument(
            help="LightGBM text or JSON dump, XGBoost .json or .ubj, CatBoost JSON.",
            show_default=False,
        ),
    ],
    data: options.Data,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="Where to write the model, in its own format."),
    ],
    measure: options.OneMeasure = "ndcg@10",
    valid: Annotated[
        Path | None, typer.Option(help="Rows to choose by: the model gets no worse on them.")
    ] = None,
    guard: Annotated[
        float, typer.Option(help="Standard errors that --valid has to rise by.", min=0.0)
    ] = 1.0,
    low: Annotated[float, typer.Option(help="The least factor of a tree, up to 1.")] = 0.0,
    high: Annotated[float, typer.Option(help="The largest factor of a tree, from 1 on.")] = 2.0,
    shrinkage: Annotated[float, typer.Option(help="How much of each exact step is taken.")] = 1.0,
    blocks: Annotated[
        int | None, typer.Option(help="Trees share factors in so many blocks.", min=1)
    ] = None,
    drop: Annotated[
        bool, typer.Option("--drop", help="Leave out trees that the training measure can spare.")
    ] = False,
    max_iter: Annotated[int, typer.Option(help="Rounds over all trees, at most.", min=0)] = 20,
    early_stopping_rounds: Annotated[
        int, typer.Option(help="Rounds without a better validation measure that end it.", min=1)
    ] = 1,
    iterations: Annotated[
        int | None, typer.Option(help="So many iterations of the model; all unless told.", min=1)
    ] = None,
    threads: options.Threads = None,
    n_features: options.Features = None,
    missing: options.Missing = "zero",
    label: options.LabelColumn = "label",
    qid: options.QidColumn = "qid",
    as_json: options.Json = False,
) -> None:
    """Weight the trees of a LightGBM, XGBoost or CatBoost model anew, exactly, for a measure.

    The training measure never falls, and with --valid the validation measure does not either: where
    nothing is better, the model is written as it was. Its own library loads the result.

    Examples:

    `rankopt reweight model.txt train.txt --valid vali.txt -m ndcg@10 -o reweighted.txt`

    `rankopt reweight model.ubj train.parquet --valid vali.parquet --drop -o smaller.ubj --json`
    """
    from rankopt.ensembles.reading import read_ensemble
    from rankopt.ensembles.reweighting import reweight as run

    model = read_ensemble(ensemble, iterations=iterations)
    if n_features is None and data.suffix not in (".parquet", ".pq"):
        n_features = model.n_features  # a text file leaves out zeros
    parts = [
        read_data(
            path, label=label, qid=qid, missing=missing, n_features=n_features, measure=measure
        )
        for path in (data, valid)
        if path is not None
    ]
    result = run(
        model, parts[0], measure,
        valid=parts[1] if valid else None, guard=guard, bounds=(low, high), shrinkage=shrinkage,
        blocks=blocks, drop=drop, max_iter=max_iter, early_stopping_rounds=early_stopping_rounds,
        n_jobs=threads, verbose=1,
    )  # fmt: skip
    result.save(out)
    if as_json:
        print_json({**result.to_dict(), "notes": list(model.notes), "out": str(out)})
    else:
        _print(result, model.notes)


def _print(result: Reweighted, notes: tuple[str, ...]) -> None:
    rows = [["training", f"{result.train_before:.4f}", f"{result.train:.4f}"]]
    if result.valid_before is not None and result.valid is not None:
        rows.append(["validation", f"{result.valid_before:.4f}", f"{result.valid:.4f}"])
    rows.append(["trees", str(result.factors.size), str(result.ensemble.n_trees)])
    print_table([result.measure, "before", "after"], rows, note=" ".join((result.status, *notes)))
