"""rankopt train: a system trained on a file."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankopt.cli import options
from rankopt.cli.files import read_data, require_place
from rankopt.cli.output import print_json, print_table
from rankopt.estimators import SYSTEMS

if TYPE_CHECKING:
    from rankopt.data.dataset import Dataset


# What a system is set to for text, unless the user says otherwise: the paper's way of ranking answers.
_FOR_TEXT = {"scorer": "bilinear(d=10)", "loss": "multiclass"}


def train(
    system: Annotated[
        str, typer.Argument(help=f"One of {', '.join(SYSTEMS)}.", show_default=False)
    ],
    data: options.Data,
    valid: Annotated[
        Path | None, typer.Option(help="Validation rows, by which the best round is chosen.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Test rows, only scored at the end.")] = None,
    measure: options.OneMeasure = "ndcg@10",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Where to write the model.")
    ] = None,
    setting: Annotated[
        list[str],
        typer.Option(
            "-s",
            "--set",
            help="A parameter of the system; may be repeated. An unknown one gets the list of them.",
            metavar="KEY=VALUE",
        ),
    ] = [],  # noqa: B006 (typer reads it as the default)
    seed: options.Seed = 0,
    threads: options.Threads = None,
    missing: options.Missing = "zero",
    label: options.LabelColumn = "label",
    qid: options.QidColumn = "qid",
    text: options.Text = False,
    as_json: options.Json = False,
) -> None:
    """Train a system and write its model.

    Ctrl-C ends the training and keeps the best model so far.

    Examples:

    `rankopt train directrank train.txt.gz --valid vali.txt.gz -m ndcg@10 -o model.rankopt`

    `rankopt train directrank train.txt -m map -s restarts=5 -s order=random --json`

    `rankopt train functional pairs.tsv --text -m mrr -o model.rankopt`
    """
    from rankopt.estimators import system as system_class
    from rankopt.spec import parse_settings

    cls = system_class(system)
    parameters = {"measure": measure, "random_state": seed, "n_jobs": threads, "verbose": 1}
    if text:
        parameters |= _FOR_TEXT
    parameters = {**parameters, **parse_settings(setting, system, cls._get_param_names())}
    require_place(out)
    parts = {
        name: read_data(path, label=label, qid=qid, missing=missing, text=text, measure=measure)
        for name, path in (("train", data), ("valid", valid), ("test", test))
        if path is not None
    }
    parts = _same_width(parts)
    ranker: Any = cls(**{k: v for k, v in parameters.items() if k in cls._get_param_names()})
    began = time.perf_counter()
    ranker.fit(parts["train"], eval_set=[parts["valid"]] if "valid" in parts else None)
    seconds = time.perf_counter() - began
    if out is not None:
        ranker.save(out)
    result: dict[str, Any] = {"system": system, "measure": measure}
    result |= {name: ranker.score(part) for name, part in parts.items()}
    result |= {
        "n_iter": int(getattr(ranker, "n_iter_", 0)),
        "seconds": seconds,
        "status": getattr(ranker, "status_", ""),
        "parameters": ranker.model_.recipe.parameters,
        "model": None if out is None else str(out),
    }
    if as_json:
        print_json(result)
        return
    print_table(
        ["part", measure, "queries", "rows"],
        [
            [name, f"{result[name]:.4f}", str(part.groups.n_queries), str(part.n_rows)]
            for name, part in parts.items()
        ],
        note=f"{system}: {result['n_iter']} rounds, {seconds:.2f} s. {result['status']}"
        + ("" if out is None else f" Model: {out}")
        + " Blank queries count 0, ties are pessimistic.",
    )


def _same_width(parts: dict[str, Dataset]) -> dict[str, Dataset]:
    """Text files of one problem may leave out trailing features: all get as many as the widest.

    Only for text, where an absent feature means the same as one that is written.
    """
    import numpy as np

    width = max(part.n_features for part in parts.values())
    widest = next(part for part in parts.values() if part.n_features == width)
    numbered = all(name.isdigit() for part in parts.values() for name in part.features)
    out: dict[str, Dataset] = {}
    for name, part in parts.items():
        if part.n_features < width and numbered and isinstance(part.X, np.ndarray):
            extra = np.zeros((part.n_rows, width - part.n_features), part.X.dtype)
            part = replace(part, X=np.hstack((part.X, extra)), features=widest.features)  # noqa: PLW2901
        out[name] = part
    return out
