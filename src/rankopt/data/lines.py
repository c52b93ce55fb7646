"""Text in blocks of whole lines, so that a file of any size passes through a few buffers."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankopt.data.files import Source

SMALLEST, LARGEST = 1 << 17, 1 << 20  # bytes of a block: it must repay its handling, and be cached
_NEWLINE = 10
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb"[^\x00-\x20#]*")

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """Whole lines: the first `size` bytes of `raw`, of which `text` is the view for kernels.

    `progress` is the share of the file that this block and those before it hold.
    """

    raw: bytearray
    text: NDArray[np.uint8]
    size: int
    progress: float

    def token(self, start: int) -> bytes:
        """The token that begins at a position: up to a blank, a ``#`` or the end of the line."""
        found = _TOKEN.match(self.raw, start)
        return b"" if found is None else found.group()

    def line(self, position: int) -> bytes:
        """The line around a position, without its end."""
        start = self.raw.rfind(b"\n", 0, position) + 1
        return bytes(self.raw[start : self.raw.find(b"\n", position)])

    def line_number(self, position: int) -> int:
        """The number of the line around a position, from 1."""
        return self.raw.count(b"\n", 0, position) + 1


def line_blocks(source: Source, free: list[bytearray]) -> Iterator[Block]:
    """Cut a file into blocks at line ends; the last line gets an end where it has none.

    Buffers come from `free`, to which the consumer returns those it is done with.
    """
    tail = b""
    begun = ended = False
    # a share of small files, so that the few blocks in memory are less than what is made of them
    block = min(max(source.size // 16, SMALLEST), LARGEST) if source.size else LARGEST
    while not ended:
        size = max(block, 2 * len(tail))  # a line longer than a block makes the block longer
        raw = free.pop() if free else bytearray(block + 1)
        if len(raw) <= size:
            raw = bytearray(size + 1)
        raw[: len(tail)] = tail
        filled = len(tail) + _fill(source.stream, memoryview(raw)[len(tail) : size])
        if not begun and raw.startswith(_BYTE_ORDER_MARK):
            raw[:3] = b"   "
        begun = True
        ended = filled < size
        if ended and filled and raw[filled - 1] != _NEWLINE:
            raw[filled] = _NEWLINE
            filled += 1
        stop = raw.rfind(b"\n", 0, filled) + 1
        tail = bytes(memoryview(raw)[stop:filled])
        if stop:
            yield Block(raw, np.frombuffer(raw, np.uint8), stop, source.progress())


def _fill(stream: IO[bytes], view: memoryview) -> int:
    filled = 0
    while filled < len(view):
        count = stream.readinto(view[filled:])  # pyright: ignore[reportAttributeAccessIssue]
        if not count:
            break
        filled += count
    return filled


def in_order(
    work: Callable[[Block], Result], blocks: Iterable[Block], threads: int
) -> Iterator[Result]:
    """The results of all blocks, in order; a few blocks are worked on at a time."""
    if threads == 1:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for block in blocks:
            waiting.append(pool.submit(work, block))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
