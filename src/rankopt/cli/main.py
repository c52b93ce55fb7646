"""The command line. Each command is a file of its own and imports what it needs when it runs."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

import rankopt
from rankopt.cli import bench
from rankopt.cli.boosts import boosts
from rankopt.cli.compare import compare
from rankopt.cli.demo import demo
from rankopt.cli.evaluate import evaluate
from rankopt.cli.inspect import inspect
from rankopt.cli.predict import predict
from rankopt.cli.reweight import reweight
from rankopt.cli.train import train
from rankopt.errors import RankoptError

app = typer.Typer(
    name="rankopt",
    help="Train, evaluate and ship ranking models by optimising NDCG, AP, ERR or MRR directly.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, train, predict, evaluate, compare, boosts, reweight, inspect):
    app.command()(command)
app.add_typer(bench.app, name="bench")


def _version(asked: bool) -> None:
    if asked:
        print(f"rankopt {rankopt.__version__}")
        raise typer.Exit


def _help(context: typer.Context, asked: bool) -> None:
    if asked:
        print(context.get_help())
        raise typer.Exit


# A help option of our own: typer's, where it is not asked for, makes every command load pydantic,
# which takes longer than everything else on the way to the help of a command.
@app.callback(add_help_option=False)
def options(
    show_help: Annotated[
        bool,
        typer.Option(
            "-h", "--help", callback=_help, is_eager=True, help="Show this message and exit."
        ),
    ] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of rankopt itself."""


def main() -> None:
    """Run the command line; errors made by data or requests are one line and status 1."""
    try:
        app()
    except RankoptError as error:
        _fail(str(error))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        _fail(f"{named}{error.strerror or error}")


def _fail(message: str) -> None:
    print(f"rankopt: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(1)
