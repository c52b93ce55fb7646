"""LETOR / SVMlight text: ``<label> qid:<id> <feature>:<value> ... # <comment>``."""

from __future__ import annotations

import os
import re
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from rankopt.data.chunks import LAST_ID, Entries, LineError, Rules, parse_block
from rankopt.data.dataset import Dataset
from rankopt.data.files import reading, writing
from rankopt.data.lines import in_order, line_blocks
from rankopt.data.rows import Rows
from rankopt.data.texts import feature_ids, feature_texts
from rankopt.errors import DataError, SpecError
from rankopt.threads import available_threads, over_queries

Missing = Literal["zero", "nan", "query-minimum"]

_BATCH = 1 << 17  # features turned into text at a time


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
    those of Windows. A query whose rows stand apart is one query: its rows are brought together,
    and `Dataset.restored` gives per-row results the order of the file again.

    Feature ids count from 0 if the id 0 occurs and from 1 otherwise. The names of the features are
    the ids as written, so that the columns of two files can be told apart. A file that leaves out
    zeros may end below the last feature, or never show the id 0: for such files give `n_features`
    (and `first_id`), the same for training and test data.

    The document identifier is the first word of the comment, after ``docid =`` where that stands
    there: ``#docid = GX001 inc = 1``, ``# GX001 a title``. Rows without one get an empty one.

    Values are those of ``float(text)``, rounded to `dtype`: the same bits as scikit-learn's reader.

    Parameters
    ----------
    path : the file.
    missing : what becomes of values written ``NULL`` or ``nan`` and of features that a line leaves
        out: 0 (``zero``, the meaning that SVMlight gives to features left out), NaN (``nan``), or
        the smallest value of the feature in the query (``query-minimum``; 0 where the query has no
        value at all).
    n_features : the number of features; by default the highest id tells it.
    first_id : the id of the first feature, 0 or 1; by default the lowest id tells it.
    group : for files without ``qid:`` (LightGBM's, XGBoost's): the sizes of the consecutive
        queries, or a file that holds them. The queries are then named 0, 1, 2, ...
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
    if first_id is not None and first_id < 0:
        raise SpecError(f"first_id: {first_id} is negative")
    lowest = 0 if first_id is None else first_id
    rules = Rules(
        with_qid=group is None,
        first_id=lowest,
        # with the base still open, ids from 1 to n_features must pass
        last_id=LAST_ID if n_features is None else n_features - (first_id is not None) + lowest,
        missing=0.0 if missing == "zero" else np.nan,
        dtype=kind,
    )
    collected = Rows(path, rules, first_id, n_features)
    _read(path, rules, collected)
    data = collected.dataset(group)
    if missing == "query-minimum":
        from rankopt.kernels.scale import fill_with_minimum

        over_queries(fill_with_minimum, data.groups.offsets, data.X)
    return data


def _read(path: str | os.PathLike[str], rules: Rules, rows: Rows) -> None:
    entries: list[Entries] = []
    buffers: list[bytearray] = []
    lines = 0
    with reading(path) as source:
        chunks = in_order(
            lambda block: parse_block(block, rules, entries),
            line_blocks(source, buffers),
            available_threads(),
        )
        try:
            for chunk in chunks:
                rows.add(chunk)
                lines += chunk.lines
                entries.append(chunk.entries)
                buffers.append(chunk.block.raw)
        except LineError as fault:
            raise DataError(f"{path}:{lines + fault.line}: {fault.message}") from None
    if rows.n_rows == 0:
        what = "all its lines are blank or comments" if lines else "the file is empty"
        raise DataError(f"{path}: no rows; {what}")


def write_letor(path: str | os.PathLike[str], data: Dataset) -> None:
    """Write a dataset as LETOR text, compressed where the name ends in .gz or .xz.

    `read_letor` gives the same labels, queries, features (each value in the fewest decimals that
    read back the same bits) and document identifiers again. The rows are written query by query.
    The ids of the features are their names where these are ascending integers, else 1, 2, 3, ...
    NaN is written as ``NaN``; of sparse features, those stored are written. Query weights and query
    features have no place in this format. The file is complete or absent: it is written under
    another name and renamed.

    Examples
    --------
    >>> import rankopt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
    >>> data = rankopt.dataset([[0.5, 3.0], [0.1, 0.0]], [1, 0], ["a", "a"], docs=["d1", "d2"])
    >>> rankopt.write_letor(path, data)
    >>> print(path.read_text(), end="")
    1 qid:a 1:0.5 2:3 #docid = d1
    0 qid:a 1:0.1 2:0 #docid = d2
    """
    labels = [f"{label!r}".removesuffix(".0") for label in data.labels.tolist()]
    qids = [_word(qid, "qid", r"[\x00-\x20#]") for qid in data.groups.qids.tolist()]
    docs: list[str] = []
    if data.docs is not None:
        docs = [_word(doc, "doc", r"[\x00-\x20]") for doc in data.docs.tolist()]
    if not all(qids):
        raise DataError(f"qid: query {qids.index('') + 1} has an empty identifier")
    query = np.repeat(np.arange(len(qids)), data.groups.sizes).tolist()
    ids = feature_ids(data)
    step = max(1, _BATCH // max(1, data.n_features))
    with writing(path) as file:
        for start in range(0, data.n_rows, step):
            lines: list[str] = []
            stop = min(start + step, data.n_rows)
            for row, features in enumerate(feature_texts(data, ids, start, stop), start):
                comment = f" #docid = {docs[row]}" if docs and docs[row] else ""
                lines.append(f"{labels[row]} qid:{qids[query[row]]}{features}{comment}\n")
            file.write("".join(lines).encode())


def _word(identifier: Any, name: str, forbidden: str) -> str:
    word = identifier.decode() if isinstance(identifier, bytes) else str(identifier)
    if re.search(forbidden, word):
        raise DataError(
            f"{name}: {word!r} cannot be written to text that separates words by blanks"
        )
    return word
