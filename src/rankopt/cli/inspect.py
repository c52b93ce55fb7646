"""rankopt inspect: what a model holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rankopt.cli import options
from rankopt.cli.output import print_json, print_table


def inspect(
    model: Annotated[Path, typer.Argument(help="A model made by rankopt.", show_default=False)],
    top: Annotated[int, typer.Option(help="How many of the largest weights to print.", min=1)] = 20,
    as_json: options.Json = False,
) -> None:
    """Print a model's system, parameters, notes of its training and weights.

    Examples:

    `rankopt inspect model.rankopt`

    `rankopt inspect model.rankopt --json`
    """
    from rankopt.models.storage import load_model

    stored = load_model(model)
    weights = stored.scorer.named(stored.params, stored.scored_features) or None
    result: dict[str, Any] = {
        "system": stored.recipe.system,
        "scorer": str(stored.scorer),
        "n_features": stored.n_features,
        "normalize": stored.normalize,
        "parameters": stored.recipe.parameters,
        "notes": stored.recipe.notes,
        "weights": weights,
        "n_parameters": int(stored.params.size),
    }
    if as_json:
        print_json(result)
        return
    print_table(
        ["model", ""],
        [
            ["system", result["system"]],
            ["scorer", result["scorer"]],
            ["features", str(stored.n_features)],
            *([key, _short(value)] for key, value in stored.recipe.notes.items()),
            *(
                [key, _short(value)]
                for key, value in stored.recipe.parameters.items()
                if value is not None
            ),
        ],
    )
    if weights is not None:
        largest = sorted(weights.items(), key=lambda item: -abs(item[1]))[:top]
        used = sum(1 for value in weights.values() if value != 0.0)
        print_table(
            ["feature", "weight"],
            [[name, f"{value:+.6g}"] for name, value in largest],
            note=f"{used} of {len(weights)} weights are not 0; the largest {len(largest)} are shown",
        )


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
