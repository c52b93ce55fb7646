"""What commands print: JSON, or tables that fit a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any


def print_json(value: dict[str, Any]) -> None:
    """One JSON object; infinite numbers become null, as JSON has none."""
    print(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False))


def print_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    note: str = "",
    left: int = 1,
) -> None:
    """A table with `left` columns of text and numbers to the right of them, and a line under it."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column, name in enumerate(head):
        text = column < left
        table.add_column(
            name, justify="left" if text else "right", no_wrap=not text or left > 1, min_width=4
        )
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, soft_wrap=False)
    console.print(table)
    if note:
        console.print(note, style="dim", markup=False)


def convention_line(description: dict[str, Any]) -> str:
    """A convention in one line: every number is printed with the way it was counted."""
    details = [f"ties {description['ties']}", f"blank {description['blank']}"]
    for measure, values in description.items():
        if isinstance(values, dict):
            details += [f"{measure} {key} {value}" for key, value in values.items()]
    return f"convention {description['name']}: {', '.join(details)}"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
