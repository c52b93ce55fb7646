"""rankopt evaluate: measures of one ranking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankopt.cli import options
from rankopt.cli.files import read_data, read_model, read_ranking, takes_text
from rankopt.cli.output import convention_line, print_json, print_table

if TYPE_CHECKING:
    from rankopt.evaluation.scores import Results
    from rankopt.measures import Convention


def evaluate(
    data: Annotated[
        Path | None,
        typer.Argument(help="Rows with labels: LETOR/SVMlight text (plain, .gz, .xz) or .parquet."),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="A model made by rankopt.")] = None,
    scores: Annotated[
        Path | None, typer.Option(help="One score per row of DATA, a line each.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="A TREC run, with --qrels instead of DATA.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="TREC relevance judgements.")] = None,
    measure: options.Measures = ["ndcg@10"],  # noqa: B006 (typer reads it as the default)
    convention: options.ConventionName = "rankopt",
    ties: options.TiesName = None,
    blank: options.BlankName = None,
    by_query: Annotated[
        bool, typer.Option("--by-query", help="Also the values of each query.")
    ] = False,
    complete: Annotated[
        bool,
        typer.Option(
            "--complete", help="With --run: topics that the run lacks count 0 (trec_eval -c)."
        ),
    ] = False,
    missing: options.Missing = "zero",
    n_features: options.Features = None,
    label: options.LabelColumn = "label",
    qid: options.QidColumn = "qid",
    as_json: options.Json = False,
) -> None:
    """Score a ranking by any measure, in any tool's convention.

    Examples:

    `rankopt evaluate test.txt.gz --scores scores.txt -m ndcg@10 -m map`

    `rankopt evaluate test.txt --model model.rankopt -m err@20 --by-query --json`

    `rankopt evaluate --run run.txt --qrels qrels.txt -m ndcg@10 --convention trec_eval`
    """
    if (run is None) != (qrels is None):
        raise typer.BadParameter("--run and --qrels belong together")
    if (data is None) == (run is None):
        raise typer.BadParameter("give DATA with --model or --scores, or --run with --qrels")
    if data is not None and (model is None) == (scores is None):
        raise typer.BadParameter("give either --model or --scores")
    from rankopt.measures import as_convention

    chosen = as_convention(convention, ties, blank)  # pyright: ignore[reportArgumentType]
    if run is not None and qrels is not None:
        results = _run(run, qrels, measure, chosen, complete)
    else:
        from rankopt.evaluation.scores import evaluate_named

        assert data is not None
        ranking = read_model(model) if model else read_ranking(scores or data)
        text = model is not None and takes_text(ranking)
        rows = read_data(
            data, label=label, qid=qid, missing=missing, n_features=n_features, text=text
        )
        results = evaluate_named(ranking, rows, measure, chosen, str(model or scores))
    if as_json:
        print_json(results.to_dict(by_query))
    else:
        _print(results, by_query)


def _run(
    run: Path, qrels: Path, measures: list[str], convention: Convention, complete: bool
) -> Results:
    from rankopt.data.trec import judged, read_qrels, read_run
    from rankopt.evaluation.scores import evaluate_scores

    rows = judged(read_run(run), read_qrels(qrels), complete=complete)
    return evaluate_scores(
        rows.scores, rows.labels, rows.groups, measures,
        convention=convention, docs=rows.docs, ideal=(rows.missing_offsets, rows.missing_labels),
    )  # fmt: skip


def _print(results: Results, by_query: bool) -> None:
    if by_query:
        rows = [
            [str(query), *(f"{values[i]:.4f}" for values in results.per_query.values())]
            for i, query in enumerate(results.qids)
        ]
        print_table(["query", *results.per_query], rows)
    print_table(
        ["measure", "mean"],
        [[name, f"{value:.4f}"] for name, value in results.mean.items()],
        note=f"{results.queries} queries, {results.blank} of them blank (no relevant row); "
        + convention_line(results.convention.describe()),
    )
