"""Blocks of LETOR text to chunks of rows: the kernel's results, and what it leaves to Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats, Ints, Matrix
from rankopt.data.lines import Block
from rankopt.kernels import parse

LAST_ID = 2**31 - 1
_LARGEST = 1 << 30  # bytes of the dense rows of one block of text


class LineError(Exception):
    """A fault in a line, counted from 1 within its block."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Rules:
    """How lines are read.

    Parameters
    ----------
    with_qid : whether lines name their query.
    first_id, last_id : the feature ids allowed, or those that any file may have.
    missing : what a value that is undefined or absent becomes, 0 or NaN.
    dtype : of the features.
    """

    with_qid: bool
    first_id: int
    last_id: int
    missing: float
    dtype: np.dtype[Any]


@dataclass(frozen=True, eq=False, slots=True)
class Entries:
    """Space for the features of a block, used again and again."""

    columns: NDArray[np.uint32]
    values: Matrix
    odd: NDArray[np.int32]

    @classmethod
    def space(cls, count: int, dtype: np.dtype[Any]) -> Entries:
        """Space for this many entries and some more, for blocks differ a little."""
        room = count + count // 8 + 1
        return cls(np.empty(room, np.uint32), np.empty(room, dtype), np.empty((room, 2), np.int32))


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """The rows of one block.

    Parameters
    ----------
    block, entries : the text, and its features by row.
    lines : the number of lines, rows or not.
    labels, stops : the label, and the end of its entries, of each row.
    lowest, highest : the lowest and highest feature id; both None where there is no feature.
    qids, lengths : identifier and length of each run of rows of one query.
    docs : document identifiers as padded bytes, or None where no row has one.
    """

    block: Block
    entries: Entries
    lines: int
    labels: Floats
    stops: Ints
    lowest: int | None
    highest: int | None
    qids: list[bytes]
    lengths: Ints
    docs: NDArray[np.bytes_] | None


def parse_block(block: Block, rules: Rules, free: list[Entries]) -> Chunk:
    """Parse a block into space from `free`, to which the consumer returns it."""
    lines, colons = parse.count_marks(block.text, block.size)
    entries = free.pop() if free else Entries.space(colons, rules.dtype)
    if entries.columns.size < colons:  # each entry has a colon
        entries = Entries.space(colons, rules.dtype)
    labels, starts, stops = np.empty(lines), np.empty(lines, np.int64), np.empty(lines, np.int64)
    odd_labels, run_rows = np.empty(lines, np.int32), np.empty(lines + 1, np.int64)
    run_bounds, doc_bounds = np.empty((lines, 2), np.int64), np.empty((lines, 2), np.int64)
    rows, runs, strange, odds, code, position = parse.parse_lines(
        block.text, np.uint64(block.size), rules.with_qid, rules.first_id, rules.last_id,
        rules.missing, labels, starts, stops, odd_labels, run_rows, run_bounds, doc_bounds,
        entries.columns, entries.values, entries.odd,
    )  # fmt: skip
    # these stand before the fault that stopped the kernel, if one did
    _settle(block, rules, labels, starts, odd_labels[:strange], entries, entries.odd[:odds])
    if code != parse.OK:
        raise LineError(block.line_number(int(position)), _fault(block, rules, code, int(position)))
    lowest, highest = _id_range(block, rules, starts, stops[:rows], entries)
    run_rows[runs] = rows
    return Chunk(
        block,
        entries,
        lines,
        labels[:rows],
        stops[:rows],
        lowest,
        highest,
        [bytes(block.raw[start:stop]) for start, stop in run_bounds[:runs].tolist()],
        np.diff(run_rows[: runs + 1]),
        _documents(block, doc_bounds[:rows]),
    )


def _id_range(
    block: Block, rules: Rules, starts: Ints, stops: Ints, entries: Entries
) -> tuple[int | None, int | None]:
    columns = entries.columns[: stops[-1] if stops.size else 0]
    if not columns.size:
        return None, None
    highest = int(columns.max())
    if stops.size * (highest + 1) * rules.dtype.itemsize > _LARGEST:
        row = int(np.searchsorted(stops, columns.argmax(), side="right"))
        raise LineError(
            block.line_number(int(starts[row])),
            f"feature id {highest} would make the dense matrix that text is read into too large;"
            " read the file into a scipy.sparse matrix and pass that to rankopt.dataset",
        )
    return int(columns.min()), highest


def _documents(block: Block, bounds: Ints) -> NDArray[np.bytes_] | None:
    width = int((bounds[:, 1] - bounds[:, 0]).max(initial=0))
    if width == 0:
        return None
    out = np.empty((bounds.shape[0], width), np.uint8)
    parse.copy_tokens(block.text, bounds, out)
    return out.view(f"S{width}").ravel()


def _settle(
    block: Block,
    rules: Rules,
    labels: Floats,
    starts: Ints,
    odd_labels: NDArray[np.int32],
    entries: Entries,
    odd: NDArray[np.int32],
) -> None:
    """Read the numbers that the kernel left over, and refuse what is none."""
    faults: list[LineError] = []
    for row in odd_labels.tolist():
        start = int(starts[row])
        try:
            labels[row] = _float(block.token(start))
            if not np.isfinite(labels[row]):
                raise ValueError
        except ValueError:
            message = f"label {_shown(block.token(start))} is not a finite number"
            faults.append(LineError(block.line_number(start), message))
            break
    for entry, start in odd.tolist():
        token = block.token(start)
        try:
            value = _float(token)
        except ValueError:
            value = np.inf
        if value != value:
            entries.values[entry] = rules.missing
            continue
        with np.errstate(over="ignore"):
            entries.values[entry] = value
        if np.isinf(entries.values[entry]):
            message = _value_fault(int(entries.columns[entry]), token, rules)
            faults.append(LineError(block.line_number(start), message))
            break
    if faults:
        raise min(faults, key=lambda fault: fault.line)


def _float(token: bytes) -> float:
    if b"_" in token:  # Python reads 1_000, other readers do not
        raise ValueError
    return float(token)


def _value_fault(feature: int, token: bytes, rules: Rules) -> str:
    if not token:
        return f"feature {feature} has no value; expected {feature}:<number>"
    try:
        value = _float(token)
    except ValueError:
        return f"feature {feature}: {_shown(token)} is not a number"
    if np.isinf(value):
        return f"feature {feature}: {_shown(token)} is infinite; values must be finite, or NULL"
    return (
        f"feature {feature}: {_shown(token)} is beyond {rules.dtype.name};"
        " read with dtype=numpy.float64"
    )


def _fault(block: Block, rules: Rules, code: int, position: int) -> str:
    """The sentence for a code of the kernel."""
    token = block.token(position)
    head = token.partition(b":")[0]
    if code == parse.NO_QID:
        found = f"found {_shown(token)}" if token else "the line ends"
        return (
            f"no query: qid:<id> must follow the label, but {found};"
            " where another file holds the sizes of the queries, rankopt.read_letor takes it as group="
        )
    if code == parse.UNWANTED_QID:
        return f"the line names its query ({_shown(token)}): leave out group="
    if code == parse.REPEATED_ID:
        ids = [word.partition(b":")[0] for word in block.line(position).partition(b"#")[0].split()]
        numbers = [int(word) for word in ids[1:] if word.isdigit()]
        repeated = next(i for n, i in enumerate(numbers) if i in numbers[:n])
        return f"feature {repeated} occurs twice"
    if code == parse.ID_RANGE:
        if int(head) < rules.first_id:
            return f"feature id {int(head)} is below first_id={rules.first_id}"
        if rules.last_id == LAST_ID:
            return f"feature id {int(head)} is too large"
        return f"feature id {int(head)} is above {rules.last_id}, the last that n_features= allows"
    if token.startswith(b"qid:"):
        return "a second qid in one line"
    if head.startswith(b"-") and head[1:].isdigit():
        return f"feature id {head.decode()} is negative"
    if head.isdigit() and b":" in token:
        return f"feature id {head.decode()} is too large"
    if head.isdigit():
        return (
            f"{_shown(token)} has no value; expected <feature id>:<number> (is the line cut short?)"
        )
    return f"{_shown(token)} is not a feature; expected <feature id>:<number>"


def _shown(token: bytes) -> str:
    return repr(token.decode("utf-8", "replace")[:40])
