"""rankopt boosts: query-time weights for a search engine."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankopt.cli import options
from rankopt.cli.files import read_data, read_ranking
from rankopt.cli.output import print_json, print_table
from rankopt.errors import DataError

if TYPE_CHECKING:
    from rankopt.data.dataset import Dataset
    from rankopt.estimators.boosts import Boosts


def boosts(
    data: options.Data,
    measure: options.OneMeasure = "ndcg@10",
    current: Annotated[
        str | None,
        typer.Option(
            help="The weights in use: name=weight,name=weight,... or a JSON file of them;"
            " equal weights unless told."
        ),
    ] = None,
    scores: Annotated[
        list[str],
        typer.Option(
            help="Instead of the features of DATA: a ranking of it, as a file of scores or a model; may"
            " be repeated, and the boosts then fuse these rankings.",
            metavar="[NAME=]FILE",
        ),
    ] = [],  # noqa: B006 (typer reads it as the default)
    valid: Annotated[
        Path | None, typer.Option(help="Held-out rows to measure the gain on.")
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            help="Without --valid: folds of queries for the held-out gain; 0 leaves it out."
        ),
    ] = 5,
    test: Annotated[str, typer.Option(help="randomisation, t or wilcoxon.")] = "randomisation",
    seed: options.Seed = 0,
    threads: options.Threads = None,
    missing: options.Missing = "zero",
    label: options.LabelColumn = "label",
    qid: options.QidColumn = "qid",
    as_json: options.Json = False,
) -> None:
    """Find the best non-negative boosts of logged clause scores, exactly.

    Each row is a judged document, each feature the score of one clause as the engine logged it. Every
    boost comes with the range in which it keeps the optimum, and the gain over the current boosts is
    measured on queries that the new ones have not seen.

    Examples:

    `rankopt boosts clauses.parquet -m ndcg@10 --current title=2,body=1,tags=0.5`

    `rankopt boosts train.txt --valid vali.txt -m err@10 --json`

    `rankopt boosts test.txt --scores bm25=bm25.txt --scores dense=dense.txt`
    """
    if scores and valid is not None:
        raise typer.BadParameter("--scores are of DATA alone: leave out --valid, --folds serve")
    from rankopt.estimators.boosts import boosts as find

    read = partial(read_data, label=label, qid=qid, missing=missing, measure=measure)
    rows = read(data)
    result = find(
        _fused(rows, scores) if scores else rows,
        measure,
        current=None if current is None else _weights(current),
        valid=None if valid is None else read(valid),
        folds=folds,
        test=test,
        random_state=seed,
        n_jobs=threads,
        verbose=1,
    )
    if as_json:
        print_json(result.to_dict())
    else:
        _print(result)


def _print(result: Boosts) -> None:
    print_table(
        ["clause", "boost", "keeps the optimum in"],
        [[b.feature, f"{b.weight:g}", f"{b.lo:.4g} .. {b.hi:.4g}"] for b in result.weights],
    )
    rows = [["training", f"{result.train_before:.4f}", f"{result.train:.4f}", ""]]
    if result.valid_before is not None and result.valid is not None:
        rows.append(["validation", f"{result.valid_before:.4f}", f"{result.valid:.4f}", ""])
    print_table([result.measure, "current", "new", ""], rows)
    if result.gain is not None:
        gain = result.gain
        print(
            f"Gain on unseen queries ({result.gain_on}): {gain.difference:+.4f},"
            f" 95 % interval {gain.lo:+.4f} .. {gain.hi:+.4f}, p = {gain.p:.4f},"
            f" {gain.wins} wins, {gain.ties} ties, {gain.losses} losses"
        )
    print(f"\n{result.expression}")


def _fused(rows: Dataset, scores: list[str]) -> Dataset:
    """The same rows with one feature per ranking."""
    from dataclasses import replace

    import numpy as np

    from rankopt.evaluation.scores import scores_of

    columns: dict[str, Any] = {}
    for item in scores:
        name, _, file = item.rpartition("=")
        name = name or Path(file).name.partition(".")[0]
        if name in columns:
            raise DataError(f"--scores: two rankings are called {name!r}; name them, as in a=FILE")
        columns[name] = rows.stored(scores_of(read_ranking(Path(file)), rows, file))
    return replace(rows, X=np.column_stack(list(columns.values())), features=tuple(columns))


def _weights(text: str) -> Any:
    """Weights by name, from ``a=1,b=2`` or a JSON file."""
    if text.endswith(".json"):
        loaded = json.loads(Path(text).read_text(encoding="utf-8"))
        if not isinstance(loaded, dict):
            raise DataError(f"{text}: expected an object of weights by name")
        return loaded
    out: dict[str, float] = {}
    for item in text.split(","):
        name, sign, value = item.rpartition("=")
        try:
            out[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise DataError(f"--current: {item!r} is not name=weight")
    return out
