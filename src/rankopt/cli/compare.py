"""rankopt compare: several rankings of the same data, with paired tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rankopt.cli import options
from rankopt.cli.files import read_data, read_ranking
from rankopt.cli.output import convention_line, print_json, print_table

if TYPE_CHECKING:
    from rankopt.evaluation.compare import Comparison


def compare(
    data: options.Data,
    rankings: Annotated[
        list[Path],
        typer.Argument(
            metavar="A B ...", help="Two or more model or score files.", show_default=False
        ),
    ],
    measure: options.OneMeasure = "ndcg@10",
    test: Annotated[str, typer.Option(help="randomisation, t or wilcoxon.")] = "randomisation",
    against: Annotated[
        str | None,
        typer.Option(help="The file that every other one is compared with; all pairs unless told."),
    ] = None,
    convention: options.ConventionName = "rankopt",
    ties: options.TiesName = None,
    blank: options.BlankName = None,
    seed: options.Seed = 0,
    missing: options.Missing = "zero",
    n_features: options.Features = None,
    label: options.LabelColumn = "label",
    qid: options.QidColumn = "qid",
    as_json: options.Json = False,
) -> None:
    """Compare rankings query by query: intervals, a paired test, wins and losses.

    With more than two rankings the p-values carry Holm's correction.

    Examples:

    `rankopt compare test.txt.gz old.scores new.scores -m ndcg@10`

    `rankopt compare test.txt a.rankopt b.rankopt c.scores -m map --test t --json`

    `rankopt compare test.txt old.scores a.rankopt b.rankopt --against old.scores`
    """
    if len(rankings) < 2:
        raise typer.BadParameter("name two or more model or score files")
    if len(set(rankings)) < len(rankings):
        raise typer.BadParameter("a model or score file is named twice")
    from rankopt.evaluation.compare import compare as compare_rankings
    from rankopt.measures import as_convention

    rows = read_data(data, label=label, qid=qid, missing=missing, n_features=n_features)
    names = _names(rankings)
    result = compare_rankings(
        {name: read_ranking(path) for name, path in zip(names, rankings, strict=True)},
        rows,
        measure,
        test=test,
        against=against,
        convention=as_convention(convention, ties, blank),  # pyright: ignore[reportArgumentType]
        random_state=seed,
    )
    if as_json:
        print_json(result.to_dict())
    else:
        print_comparison(result)


def print_comparison(result: Comparison) -> None:
    """The means of the systems and the pairs."""
    print_table(
        ["system", result.measure, "95 % interval"],
        [
            [name, f"{mean:.4f}", "{:.4f} .. {:.4f}".format(*result.intervals[name])]
            for name, mean in result.means.items()
        ],
    )
    several = len(result.pairs) > 1
    print_table(
        ["pair", "difference", "95 % interval", "p (Holm)" if several else "p", "w/t/l"],
        [
            [
                f"{pair.b} - {pair.a}",
                f"{pair.difference:+.4f}",
                f"{pair.lo:+.4f} .. {pair.hi:+.4f}",
                f"{pair.p_holm:.4f}",
                f"{pair.wins}/{pair.ties}/{pair.losses}",
            ]
            for pair in result.pairs
        ],
        note=f"{result.queries} queries, of which w won, t tied, l lost; {result.test} test; "
        + convention_line(result.convention.describe()),
    )


def _names(paths: list[Path]) -> list[str]:
    """File names, or whole paths where names repeat."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]
