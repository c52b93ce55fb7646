"""Progress of long work, on standard error and only once it has taken two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

_PATIENCE = 2.0  # seconds before anything is shown
_PAUSE = 10.0  # seconds between lines where there is no terminal

Advance = Callable[[str], None]


@contextmanager
def progress(description: str, total: int | None, verbose: bool = True) -> Generator[Advance]:
    """Yield a function to call after each of `total` steps with a few words on the state.

    On a terminal a bar is drawn, elsewhere a line is written now and then. Nothing is shown where
    `verbose` is false or the work is quick.
    """
    if not verbose:
        yield lambda _: None
        return
    display = _Display(description, total)
    try:
        yield display.advance
    finally:
        display.close()


class _Display:
    def __init__(self, description: str, total: int | None) -> None:
        self.description, self.total = description, total
        self.done = 0
        self.began = self.shown = time.monotonic()
        self.bar = None
        self.task = None

    def advance(self, words: str) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.began < _PATIENCE:
            return
        if sys.stderr.isatty():
            self._draw(words)
        elif now - self.shown >= _PAUSE or self.shown == self.began:
            self.shown = now
            of = "" if self.total is None else f"/{self.total}"
            print(
                f"{self.description}: {self.done}{of}, {now - self.began:.0f} s, {words}",
                file=sys.stderr,
            )

    def _draw(self, words: str) -> None:
        if self.bar is None:
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
            )

            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
                TextColumn("{task.fields[words]}"), console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self.task = self.bar.add_task(self.description, total=self.total, words=words)
            self.bar.start()
        assert self.task is not None
        self.bar.update(self.task, completed=self.done, words=words)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()
