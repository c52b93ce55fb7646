"""rankopt demo: the main job on data that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rankopt.cli import options


def demo(
    out: Annotated[Path | None, typer.Option(help="Also write the data and results to this folder.")] = None,
    as_json: options.Json = False,
) -> None:
    """Run the main job on a simulated search problem."""
    raise NotImplementedError
