"""Options that several commands share: the same words, the same help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    Path,
    typer.Argument(
        help="Rows with labels: LETOR/SVMlight text (plain, .gz, .xz) or .parquet; question and answer"
        " text: .tsv or .csv.",
        show_default=False,
    ),
]
Measures = Annotated[
    list[str],
    typer.Option(
        "-m",
        "--measure",
        help="A measure, such as ndcg@10, map, err@20; may be repeated.",
        metavar="MEASURE",
    ),
]
OneMeasure = Annotated[
    str,
    typer.Option(
        "-m", "--measure", help="A measure, such as ndcg@10, map, err@20.", metavar="MEASURE"
    ),
]
ConventionName = Annotated[
    str,
    typer.Option(
        help="Whose way to count: rankopt, letor, trec_eval, gdeval, lightgbm, xgboost, catboost, sklearn,"
        " ranx, ranklib, yahoo."
    ),
]
TiesName = Annotated[
    str | None,
    typer.Option(
        "--ties",
        help="Who comes first among equal scores, other than the convention says: pessimistic, optimistic,"
        " average, stable, docid.",
    ),
]
BlankName = Annotated[
    str | None,
    typer.Option(
        "--blank",
        help="A query without a relevant row, other than the convention says: zero, one, skip.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Missing = Annotated[
    str,
    typer.Option(help="What NULL and absent values of a text become: zero, nan, query-minimum."),
]
LabelColumn = Annotated[
    str, typer.Option("--label", help="The column of labels in a .parquet, .tsv or .csv file.")
]
QidColumn = Annotated[
    str,
    typer.Option("--qid", help="The column of query identifiers in a .parquet, .tsv or .csv file."),
]
Text = Annotated[
    bool,
    typer.Option(
        "--text",
        help="The files are pairs of question and answer text: TSV or CSV with the columns question,"
        " answer, label, and qid where a question repeats.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
Threads = Annotated[
    int | None,
    typer.Option(help="Threads; all cores unless told. Any number gives the same result.", min=1),
]
Features = Annotated[
    int | None,
    typer.Option(
        "--n-features", help="Number of features, where a text file leaves out zeros.", min=1
    ),
]
