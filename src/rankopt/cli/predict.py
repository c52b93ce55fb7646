"""rankopt predict: one score per row."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankopt.cli import options
from rankopt.cli.files import read_data, read_model, require_place, takes_text
from rankopt.cli.output import print_json


def predict(
    model: Annotated[
        Path,
        typer.Argument(
            help="A model of rankopt, LightGBM, XGBoost or CatBoost.", show_default=False
        ),
    ],
    data: options.Data,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="Where to write the scores; else standard output."),
    ] = None,
    missing: options.Missing = "zero",
    n_features: options.Features = None,
    label: options.LabelColumn = "label",
    qid: options.QidColumn = "qid",
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Score rows with a model: one number per line, in the order of the rows.

    Scores of different queries do not compare. A model that was trained on text reads pairs of
    question and answer, as `rankopt train functional --text` does.

    Examples:

    `rankopt predict model.rankopt test.txt.gz -o scores.txt`
    """
    from rankopt.data.scores import write_scores
    from rankopt.threads import using_threads

    require_place(out)
    ranker = read_model(model)
    text = takes_text(ranker)
    rows = read_data(data, label=label, qid=qid, missing=missing, n_features=n_features, text=text)
    with using_threads(threads):
        scores = ranker.predict(rows)
    if out is not None:
        write_scores(out, scores)
    if as_json:
        print_json(
            {
                "rows": rows.n_rows,
                "queries": rows.groups.n_queries,
                "scores": None if out else scores.tolist(),
                "out": None if out is None else str(out),
            }
        )
    elif out is None:
        print("".join(f"{score!r}\n" for score in scores.tolist()), end="")
