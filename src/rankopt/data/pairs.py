"""Pairs of question and answer text, from TSV or CSV."""

from __future__ import annotations

import csv
import os
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from rankopt.data.dataset import Dataset, Texts
from rankopt.data.files import reading
from rankopt.data.groups import Groups
from rankopt.errors import DataError

_NAMES = ("question", "answer", "label", "qid")


def read_pairs(
    path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None
) -> Dataset:
    r"""Read question and answer text: TSV or CSV (plain, .gz, .xz) with a header.

    The columns ``question`` and ``answer`` must be there. Without ``label`` the data can be scored and not
    trained on. Without ``qid`` equal questions are one query; with it, rows of one qid are, and must have the
    same question. Other columns are passed over. Where the header holds a tab the file is TSV, in which
    quotes have no meaning; else it is CSV, in which fields may be quoted and then hold commas and line ends.

    Parameters
    ----------
    path : the file.
    columns : other names of these columns, such as ``{"question": "query", "label": "grade"}``.

    Examples
    --------
    >>> import pathlib, tempfile, rankopt
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pairs.tsv"
    >>> rows = "question\tanswer\tlabel\nwho wrote emma\tausten\t1\nwho wrote emma\tan actress\t0\n"
    >>> _ = path.write_text(rows)
    >>> data = rankopt.read_pairs(path)
    >>> data.groups.n_queries, data.y.tolist(), data.texts.answers.tolist()
    (1, [1.0, 0.0], ['austen', 'an actress'])
    """
    name = os.fspath(path)
    wanted = _wanted(columns)
    with reading(path) as source:
        table = _Table(name, _lines(source.stream, name))
        places = table.places(wanted, optional=("label", "qid"))
        rows = _Rows(name, wanted)
        for line, fields in table:
            rows.add(line, {key: fields[place] for key, place in places.items()})
    return rows.dataset("label" in places, "qid" in places)


def _wanted(columns: Mapping[str, str] | None) -> dict[str, str]:
    unknown = [name for name in columns or {} if name not in _NAMES]
    if unknown:
        raise DataError(f"columns: unknown {unknown[0]!r}; there are {', '.join(_NAMES)}")
    return {name: (columns or {}).get(name, name) for name in _NAMES}


def _lines(stream: Any, name: str) -> Iterator[str]:
    for number, raw in enumerate(stream, 1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise DataError(f"{name}, line {number}: is not UTF-8; convert the file") from None
        if "\0" in line:
            raise DataError(f"{name}, line {number}: holds a NUL character")
        yield line


class _Table:
    """The header and the records of a file, each with the number of its line."""

    def __init__(self, name: str, lines: Iterator[str]) -> None:
        self.name = name
        first = next(lines, "")
        if not first.strip():
            raise DataError(f"{name}: has no header; the first line names the columns")
        self.line = 1
        self.tabs = "\t" in first
        self.records = self._records(first, lines)
        self.header = [field.strip() for field in next(self.records)[1]]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return self.records

    def places(self, wanted: Mapping[str, str], optional: tuple[str, ...]) -> dict[str, int]:
        """Where each column stands."""
        out: dict[str, int] = {}
        for key, column in wanted.items():
            count = self.header.count(column)
            if count > 1:
                raise DataError(f"{self.name}, line 1: two columns are named {column!r}")
            if count:
                out[key] = self.header.index(column)
            elif key not in optional or column != key:
                raise DataError(
                    f"{self.name}, line 1: there is no column {column!r}, but"
                    f" {', '.join(map(repr, self.header[:8]))}; columns={{{key!r}: ...}} says which it is"
                )
        return out

    def _records(self, first: str, lines: Iterator[str]) -> Generator[tuple[int, list[str]]]:
        def chained() -> Iterator[str]:
            yield first
            yield from lines

        options: dict[str, Any] = (
            {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if self.tabs else {"strict": True}
        )
        reader = csv.reader(chained(), **options)
        width = 0
        while True:
            line = reader.line_num + 1  # where the next record begins
            try:
                fields = next(reader, None)
            except csv.Error as error:
                raise DataError(
                    f"{self.name}, line {line}: cannot be read as CSV ({error})"
                ) from None
            if fields is None:
                return
            if not fields or fields == [""]:
                continue
            width = width or len(fields)
            if len(fields) != width:
                raise DataError(
                    f"{self.name}, line {line}: has {len(fields)} fields, the header {width}"
                    + ("" if self.tabs else "; a field that holds a comma must be quoted")
                )
            yield line, fields


class _Rows:
    """Collects the rows of a file; `dataset` closes it."""

    def __init__(self, name: str, columns: Mapping[str, str]) -> None:
        self.name, self.columns = name, columns
        self.answers: list[str] = []
        self.labels: list[float] = []
        self.queries: list[str] = []
        self.wording: dict[
            str, tuple[str, int]
        ] = {}  # of each query, and the line that has it first

    def add(self, line: int, fields: Mapping[str, str]) -> None:
        question = fields["question"].strip()
        if not question:
            raise DataError(f"{self.name}, line {line}: the question is empty")
        query = fields.get("qid", question).strip()
        if not query:
            raise DataError(f"{self.name}, line {line}: {self.columns['qid']} is empty")
        known, first = self.wording.setdefault(query, (question, line))
        if known != question:
            raise DataError(
                f"{self.name}, line {line}: query {query} asks {question[:40]!r}, but on line {first}"
                f" {known[:40]!r}; a query has one question"
            )
        self.queries.append(query)
        self.answers.append(fields["answer"].strip())
        if "label" in fields:
            self.labels.append(self._label(line, fields["label"]))

    def _label(self, line: int, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise DataError(
                f"{self.name}, line {line}: {self.columns['label']} is {text.strip()[:40]!r}; labels are"
                " numbers, higher is better"
            )
        return value

    def dataset(self, labelled: bool, numbered: bool) -> Dataset:
        """All rows, those of one query brought together."""
        if not self.answers:
            raise DataError(f"{self.name}: has a header and no rows")
        first = list(self.wording)
        numbers = {query: number for number, query in enumerate(first)}
        groups, rows = Groups.from_qid(
            [numbers[query] for query in self.queries], len(self.queries)
        )
        groups = Groups(groups.offsets, _identifiers(first) if numbered else groups.qids)
        answers = np.array(self.answers, dtype=object)
        y = np.array(self.labels) if labelled else None
        if rows is not None:
            answers, y = answers[rows], None if y is None else y[rows]
        questions = np.array([self.wording[query][0] for query in first], dtype=object)
        return Dataset(
            np.empty((len(answers), 0)), y, groups, rows=rows, name=self.name,
            texts=Texts(questions, answers),
        )  # fmt: skip


def _identifiers(queries: list[str]) -> Any:
    """Identifiers as integers where every one is written like one, else as text."""
    plain = all(query.isascii() and query.isdigit() and len(query) < 19 for query in queries)
    if plain and all(str(int(query)) == query for query in queries):
        return np.array([int(query) for query in queries])
    return np.array(queries)
