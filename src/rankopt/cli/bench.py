"""rankopt bench: the tables of the papers, on folds in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rankopt.cli import options
from rankopt.cli.output import print_json, print_table

app = typer.Typer(help="Benchmarks: systems trained, chosen and tested by one protocol.")


@app.callback()
def group() -> None:
    """Benchmarks: systems trained, chosen and tested by one protocol."""


@app.command()
def letor(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Folds: Fold1, Fold2, ... with train, vali and test files, these files alone, or a folder"
            " of such folders.",
            show_default=False,
        ),
    ],
    systems: Annotated[
        str | None, typer.Option(help="Names with commas between them; all unless told.")
    ] = None,
    measure: options.OneMeasure = "ndcg@10",
    select: Annotated[
        str | None,
        typer.Option(help="What settings are chosen by on validation data; --measure unless told."),
    ] = None,
    convention: options.ConventionName = "letor",
    seeds: Annotated[int, typer.Option(help="Repeats of systems that draw at random.", min=1)] = 1,
    reference: Annotated[
        str | None,
        typer.Option(
            help="What the others are tested against; the best on validation data unless told."
        ),
    ] = None,
    normalize: Annotated[
        str | None,
        typer.Option(
            help="Scaling of features: query (0 to 1 within each query), standard (of the training part)."
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("-j", "--jobs", help="Processes of one thread each.", min=1)
    ] = 2,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="Folder of the results; a second run goes on there.")
    ] = Path("bench-results"),
    figure: Annotated[
        bool, typer.Option(help="Draw NDCG@1 to NDCG@10 (needs matplotlib).")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Train every system on each fold, choose on validation data only, test once, and compare.

    Writes results.json, tables.md and, with --figure, figure.svg into the folder of results. Cells that
    are done are not done again: after a crash or Ctrl-C run the same command once more.

    Examples:

    `rankopt bench letor MQ2008 -o results`

    `rankopt bench letor OHSUMED MQ2008 --systems directrank,smoothrank,ridge --select map --json`
    """
    from rankopt.bench.letor import bench
    from rankopt.bench.markdown import page
    from rankopt.data.files import replacing

    summary = bench(
        folders, out, systems=systems, measure=measure, select=select, convention=convention, seeds=seeds,
        reference=reference, normalize=normalize, jobs=jobs,
    )  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    with replacing(out / "results.json") as partial:
        partial.write_text(json.dumps(summary, indent=1), encoding="utf-8")
    with replacing(out / "tables.md") as partial:
        partial.write_text(page(summary), encoding="utf-8")
    if figure and summary["sets"]:
        from rankopt.bench.figure import draw

        draw(summary, out / "figure.svg")
    if as_json:
        print_json(summary)
        return
    columns = ["ndcg@1", "ndcg@5", "ndcg@10", "map"]
    for name, found in summary["sets"].items():
        print_table(
            ["system", *columns, "train ndcg@10", "CPU s"],
            [
                [
                    system,
                    *(f"{row['means'][c]:.4f}" for c in columns),
                    f"{row['train']['ndcg@10']:.4f}",
                    f"{row['cpu_all']:.1f}",
                ]
                for system, row in found["systems"].items()
            ],
            title=found["title"] or name,
            note=f"Means over {found['size']['folds']} test folds, convention {convention}. All tables:"
            f" {out / 'tables.md'}",
        )
    for cell, reason in summary["failed"].items():
        typer.echo(f"not done: {cell}: {reason}", err=True)
