"""LETOR / SVMlight text: ``<label> qid:<id> <feature>:<value> ... # <comment>``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rankopt.arrays import Ints, Matrix
from rankopt.data.chunks import LAST_ID, Chunk, Entries, LineError, Rules, parse_block
from rankopt.data.dataset import Dataset
from rankopt.data.files import reading
from rankopt.data.groups import Groups
from rankopt.data.lines import in_order, line_blocks
from rankopt.errors import DataError, SpecError
from rankopt.threads import available_threads, over_queries

Missing = Literal["zero", "nan", "query-minimum"]


def read_letor(
    path: str | os.PathLike[str],
    *,
    missing: Missing = "zero",
    n_features: int | None = None,
    first_id: int | None = None,
    group: str | os.PathLike[str] | ArrayLike | None = None,
    dtype: DTypeLike = np.float32,
) -> Dataset:
    """Read a LETOR / SVMlight file, plain, gzip or xz (told by its content, not by its name).

    A line is a label (any finite number), ``qid:<integer or text>``, features in any order, and
    possibly a comment. Blank lines and lines that hold only a comment are skipped; line ends may be
    those of Windows. A query whose rows stand apart is one query: its rows are brought together, and
    `Dataset.restored` gives per-row results the order of the file again.

    Feature ids count from 0 if the id 0 occurs and from 1 otherwise. The names of the features are
    the ids as written, so that the columns of two files can be told apart. A file that leaves out
    zeros may end below the last feature, or never show the id 0: for such files give `n_features`
    (and `first_id`), the same for training and test data.

    The document identifier is the first word of the comment, after ``docid =`` where that stands
    there: ``#docid = GX001 inc = 1``, ``# GX001 a title``. Rows without one get an empty identifier.

    Values are those of ``float(text)``, rounded to `dtype`: the same bits as scikit-learn's reader.

    Parameters
    ----------
    path : the file.
    missing : what becomes of values written as ``NULL`` or ``nan`` and of features that a line leaves
        out: 0 (``zero``, the meaning that SVMlight gives to features left out), NaN (``nan``), or the
        smallest value of the feature in the query (``query-minimum``, as LETOR's Feature-min files;
        0 where the query has no value at all).
    n_features : the number of features; by default the highest id tells it.
    first_id : the id of the first feature, 0 or 1; by default the lowest id tells it.
    group : for files without ``qid:`` (LightGBM's, XGBoost's): the sizes of the consecutive queries,
        or a file that holds them. The queries are then named 0, 1, 2, ...
    dtype : float32 or float64.

    Examples
    --------
    >>> import rankopt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
    >>> _ = path.write_text("2 qid:a 1:0.5 3:1 # d1\\n0 qid:a 1:0.25 2:7 # d2\\n")
    >>> data = rankopt.read_letor(path)
    >>> data.X.tolist(), data.y.tolist(), data.docs.tolist(), data.features
    ([[0.5, 0.0, 1.0], [0.25, 7.0, 0.0]], [2.0, 0.0], ['d1', 'd2'], ('1', '2', '3'))
    """
    kind = np.dtype(dtype)
    if kind not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise SpecError(f"dtype: {kind} features are not supported; use float32 or float64")
    if missing not in get_args(Missing):
        raise SpecError(f"missing: {missing!r} is none of {', '.join(get_args(Missing))}")
    if n_features is not None and n_features < 1:
        raise SpecError(f"n_features: {n_features} is not a positive number")
    lowest = 0 if first_id is None else first_id
    rules = Rules(
        with_qid=group is None,
        first_id=lowest,
        # with the base still open, ids from 1 to n_features must pass
        last_id=LAST_ID if n_features is None else n_features - (first_id is not None) + lowest,
        missing=0.0 if missing == "zero" else np.nan,
        dtype=kind,
    )
    chunks = _read(path, rules)
    first, width = _columns(path, chunks, n_features, first_id)
    groups, rows = _groups(path, chunks, group)
    data = _assemble(path, chunks, rules, groups, rows, first, width)
    if missing == "query-minimum":
        from rankopt.kernels.scale import fill_with_minimum

        over_queries(fill_with_minimum, groups.offsets, data.X)
    return data


def _read(path: str | os.PathLike[str], rules: Rules) -> list[Chunk]:
    entries: list[Entries] = []
    buffers: list[bytearray] = []
    chunks: list[Chunk] = []
    lines = 0
    with reading(path) as stream:

        def work(block: Any) -> Chunk:
            chunk = parse_block(block, rules, entries)
            buffers.append(block.raw)
            return chunk

        try:
            for chunk in in_order(work, line_blocks(stream, buffers), available_threads()):
                lines += chunk.lines
                if chunk.labels.size:
                    chunks.append(chunk)
        except LineError as fault:
            raise DataError(f"{path}:{lines + fault.line}: {fault.message}") from None
    if not chunks:
        what = f"its {lines} lines are blank or comments" if lines else "the file is empty"
        raise DataError(f"{path}: no rows; {what}")
    return chunks


def _columns(
    path: str | os.PathLike[str], chunks: list[Chunk], n_features: int | None, first_id: int | None
) -> tuple[int, int]:
    """The id of the first feature and the number of features."""
    lowest = min((chunk.lowest_id for chunk in chunks if chunk.lowest_id is not None), default=1)
    highest = max(chunk.X.shape[1] - 1 for chunk in chunks)
    first = min(lowest, 1) if first_id is None else first_id
    found = max(highest - first + 1, 0)
    if n_features is not None and found > n_features:
        raise DataError(
            f"{path}: feature ids run from {first} to {highest}: more than n_features={n_features}"
        )
    return first, n_features or found


def _groups(
    path: str | os.PathLike[str], chunks: list[Chunk], group: Any
) -> tuple[Groups, Ints | None]:
    if group is None:
        lengths = np.concatenate([chunk.lengths for chunk in chunks])
        tokens = [token for chunk in chunks for token in chunk.qids]
        return Groups.from_runs(identifiers(tokens, f"{path}: qid"), lengths)
    n_rows = sum(chunk.labels.size for chunk in chunks)
    if not isinstance(group, (str, os.PathLike)):
        return Groups.from_sizes(group, n_rows), None
    with reading(group) as stream:  # pyright: ignore[reportUnknownArgumentType]
        words = stream.read().split()
    unreadable = [word for word in words if not word.isdigit()]
    if unreadable:
        shown = unreadable[0].decode("utf-8", "replace")[:40]
        raise DataError(f"{group}: {shown!r} is not the size of a query; whole numbers are needed")
    return Groups.from_sizes([int(word) for word in words], n_rows), None


def identifiers(tokens: list[bytes], name: str) -> NDArray[Any]:
    """Identifiers as int64 where every one is written like an integer, else as text."""
    written = np.array(tokens, dtype=np.bytes_)
    try:
        numbers = written.astype(np.int64)
        if np.array_equal(numbers.astype(np.bytes_), written):
            return numbers
    except (ValueError, OverflowError):
        pass
    return decoded(written, name)


def decoded(written: NDArray[np.bytes_], name: str) -> NDArray[np.str_]:
    """Bytes as text."""
    try:
        return written.astype(np.str_)  # of ASCII alone
    except UnicodeDecodeError:
        pass
    try:
        return np.char.decode(written, "utf-8")
    except UnicodeDecodeError as error:
        shown = error.object[:40]
        raise DataError(f"{name}: {shown!r} is not UTF-8; convert the file to it") from None


def _assemble(
    path: str | os.PathLike[str],
    chunks: list[Chunk],
    rules: Rules,
    groups: Groups,
    rows: Ints | None,
    first: int,
    width: int,
) -> Dataset:
    """One dataset of all chunks, each row straight to its place; chunks are dropped on the way."""
    docs = _documents(path, chunks)
    places: Ints | None = None
    if rows is not None:
        places = np.empty_like(rows)
        places[rows] = np.arange(rows.size)
    X: Matrix = np.empty((groups.n_rows, width), rules.dtype)
    y = np.empty(groups.n_rows)
    for part, chunk in _pieces(chunks, places):
        columns = chunk.X[:, first : first + width]
        X[part, : columns.shape[1]] = columns
        X[part, columns.shape[1] :] = rules.missing
        y[part] = chunk.labels
    return Dataset(
        X,
        y,
        groups,
        docs=docs if docs is None or rows is None else docs[rows],
        features=tuple(map(str, range(first, first + width))),
        rows=rows,
        name=os.fspath(path),
    )


def _pieces(chunks: list[Chunk], places: Ints | None) -> Iterator[tuple[slice | Ints, Chunk]]:
    start = 0
    chunks.reverse()
    while chunks:
        chunk = chunks.pop()
        rows = slice(start, start + chunk.labels.size)
        yield (rows if places is None else places[rows]), chunk
        start = rows.stop


def _documents(path: str | os.PathLike[str], chunks: list[Chunk]) -> NDArray[np.str_] | None:
    if all(chunk.docs is None for chunk in chunks):
        return None
    parts = [
        np.zeros(chunk.labels.size, "S1") if chunk.docs is None else chunk.docs for chunk in chunks
    ]
    return decoded(np.concatenate(parts), f"{path}: document identifier")
