"""TREC files: relevance judgements (qrels) and runs, and their join as trec_eval makes it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankopt.arrays import Floats, Ints, as_floats, require_finite
from rankopt.data.dataset import Dataset
from rankopt.data.files import reading, writing
from rankopt.data.groups import Groups
from rankopt.errors import DataError


@dataclass(frozen=True, eq=False, slots=True)
class Qrels:
    """Relevance judgements, contiguous by topic.

    Parameters
    ----------
    groups : the topics, with their names as text.
    docs, labels : the judged documents and their grades; a grade may be negative.
    name : where they came from; error messages say it.
    """

    groups: Groups
    docs: NDArray[np.str_]
    labels: Floats
    name: str = "qrels"


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """Retrieved documents with their scores, contiguous by topic.

    Parameters
    ----------
    groups : the topics, with their names as text.
    docs, scores : the retrieved documents and their scores; higher is better.
    tag : the name of the system.
    name : where the run came from; error messages say it.
    """

    groups: Groups
    docs: NDArray[np.str_]
    scores: Floats
    tag: str = "rankopt"
    name: str = "run"

    @classmethod
    def of(cls, data: Dataset, scores: ArrayLike, tag: str = "rankopt") -> Run:
        """The run that scores make of a dataset with document identifiers.

        Parameters
        ----------
        data : rows with `docs`.
        scores : one per row, in the caller's row order.
        tag : the name of the system.
        """
        if data.docs is None:
            raise DataError(f"{data.name}: has no document identifiers, and a run is made of them")
        values = require_finite(as_floats(scores, "scores"), "scores")
        if values.size != data.n_rows:
            raise DataError(f"scores: {values.size} values, but {data.name} has {data.n_rows} rows")
        groups = Groups(data.groups.offsets, data.groups.qids.astype(np.str_))
        return cls(groups, data.docs.astype(np.str_), data.stored(values), tag, data.name)


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read judgements, ``topic iteration document grade`` per line; plain, .gz or .xz.

    Fields are separated by any blanks. A document judged twice for a topic is an error.

    Examples
    --------
    >>> import rankopt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("301 0 d1 2\\n301 0 d2 0\\n")
    >>> qrels = rankopt.read_qrels(path)
    >>> qrels.groups.qids.tolist(), qrels.docs.tolist(), qrels.labels.tolist()
    (['301'], ['d1', 'd2'], [2.0, 0.0])
    """
    table = _Table(path, "topic iteration document grade", number=3)
    groups, docs, labels, _ = table.read()
    return Qrels(groups, docs, labels, os.fspath(path))


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run, ``topic Q0 document rank score tag`` per line; plain, .gz or .xz.

    Fields are separated by any blanks. The scores order the documents; the ranks are ignored, as
    trec_eval does. A document retrieved twice for a topic is an error.

    Examples
    --------
    >>> import rankopt, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.txt"
    >>> _ = path.write_text("301 Q0 d2 1 7.5 mine\\n301 Q0 d9 2 7.25 mine\\n")
    >>> run = rankopt.read_run(path)
    >>> run.docs.tolist(), run.scores.tolist(), run.tag
    (['d2', 'd9'], [7.5, 7.25], 'mine')
    """
    table = _Table(path, "topic Q0 document rank score tag", number=4)
    groups, docs, scores, last = table.read()
    return Run(groups, docs, scores, last, os.fspath(path))


def write_qrels(path: str | os.PathLike[str], qrels: Qrels) -> None:
    """Write judgements; compressed where the name ends in .gz or .xz."""
    topics = qrels.groups.spread(qrels.groups.qids).tolist()
    with writing(path) as file:
        for topic, doc, label in zip(
            topics, qrels.docs.tolist(), qrels.labels.tolist(), strict=True
        ):
            grade = f"{label!r}".removesuffix(".0")
            file.write(f"{_field(topic)} 0 {_field(doc)} {grade}\n".encode())


def write_run(path: str | os.PathLike[str], run: Run) -> None:
    """Write a run, best first; compressed where the name ends in .gz or .xz.

    Documents of equal scores stand in the order in which trec_eval takes them: identifiers
    descending.
    """
    offsets = run.groups.offsets.tolist()
    with writing(path) as file:
        for topic, start, stop in zip(run.groups.qids.tolist(), offsets, offsets[1:], strict=False):
            scored = zip(
                run.scores[start:stop].tolist(), run.docs[start:stop].tolist(), strict=True
            )
            for rank, (score, doc) in enumerate(sorted(scored, reverse=True), 1):
                line = f"{_field(topic)} Q0 {_field(doc)} {rank} {score!r} {_field(run.tag)}\n"
                file.write(line.encode())


@dataclass(frozen=True, eq=False, slots=True)
class Judged:
    """A run with the grades of its documents: what measures need.

    Parameters
    ----------
    scores, labels, docs : per retrieved document; grades below 0 are 0, as trec_eval counts them.
    groups : the topics that are evaluated.
    missing_offsets, missing_labels : per topic, the grades of the judged documents that the run
        does not list. The ideal order and the number of relevant documents count them.
    unjudged_topics : topics of the run without judgements, which are left out.
    unanswered_topics : judged topics that the run lacks; with `complete`, they are in `groups` too.
    """

    scores: Floats
    labels: Floats
    groups: Groups
    docs: NDArray[np.str_]
    missing_offsets: Ints
    missing_labels: Floats
    unjudged_topics: tuple[str, ...]
    unanswered_topics: tuple[str, ...]


def judged(run: Run, qrels: Qrels, *, unjudged: float = 0.0, complete: bool = False) -> Judged:
    """Join a run with judgements, as trec_eval does.

    Parameters
    ----------
    run, qrels : topics and documents are matched by their text.
    unjudged : the grade of retrieved documents without a judgement.
    complete : whether judged topics that the run lacks count (trec_eval's ``-c``); each then stands
        for one unjudged document without a name, so that its measures are 0.

    Examples
    --------
    >>> groups = Groups(np.array([0, 2]), np.array(["301"]))
    >>> run = Run(groups, np.array(["d2", "d9"]), np.array([7.5, 7.25]))
    >>> rows = judged(run, Qrels(groups, np.array(["d1", "d2"]), np.array([2.0, -1.0])))
    >>> rows.labels.tolist(), rows.missing_labels.tolist()
    ([0.0, 0.0], [2.0])
    """
    judgements = dict(_topics(qrels.groups, qrels.docs, np.maximum(qrels.labels, 0.0)))
    answers = dict(_topics(run.groups, run.docs, run.scores))
    topics = [topic for topic in answers if topic in judgements]
    unanswered = [topic for topic in judgements if topic not in answers]
    if not topics:
        raise DataError(
            f"{run.name}: none of its topics ({_some(answers)}) is judged in {qrels.name}"
            f" ({_some(judgements)})"
        )
    if complete:
        answers |= {topic: {"": float(run.scores.min())} for topic in unanswered}
        topics += unanswered
    docs: list[str] = []
    scores: list[float] = []
    labels: list[float] = []
    missing: list[list[float]] = []
    for topic in topics:
        grades, retrieved = judgements[topic], answers[topic]
        docs += retrieved
        scores += retrieved.values()
        labels += [grades.get(doc, unjudged if doc else 0.0) for doc in retrieved]
        missing.append([grade for doc, grade in grades.items() if doc not in retrieved])
    sizes = np.array([len(answers[topic]) for topic in topics])
    return Judged(
        np.array(scores),
        np.array(labels, np.float64),
        Groups(np.concatenate(([0], np.cumsum(sizes))), np.array(topics)),
        np.array(docs),
        np.concatenate(([0], np.cumsum([len(grades) for grades in missing]))).astype(np.int64),
        np.array([grade for grades in missing for grade in grades], np.float64),
        tuple(topic for topic in answers if topic not in judgements),
        tuple(unanswered),
    )


def _topics(
    groups: Groups, docs: NDArray[np.str_], values: Floats
) -> Iterator[tuple[str, dict[str, float]]]:
    offsets = groups.offsets.tolist()
    names, numbers = docs.tolist(), values.tolist()
    for topic, start, stop in zip(groups.qids.tolist(), offsets, offsets[1:], strict=False):
        yield topic, dict(zip(names[start:stop], numbers[start:stop], strict=True))


def _some(names: dict[str, dict[str, float]]) -> str:
    shown = ", ".join(list(names)[:3])
    return shown if len(names) <= 3 else f"{shown}, ..."


def _field(word: str) -> str:
    if not word or word != "".join(word.split()):
        raise DataError(f"{word!r} cannot be a field of a TREC file: it is empty or has blanks")
    return word


@dataclass(frozen=True, slots=True)
class _Table:
    """Lines of blank-separated fields: topic first, document third, one number."""

    path: str | os.PathLike[str]
    fields: str
    number: int

    def read(self) -> tuple[Groups, NDArray[np.str_], Floats, str]:
        """Topics, documents and numbers, contiguous by topic; and the last field of line 1."""
        width = len(self.fields.split())
        seen: dict[str, dict[str, float]] = {}
        last = ""
        with reading(self.path) as source:
            for line, text in enumerate(source.stream, 1):
                words = text.split()
                if len(words) != width:
                    if not words:
                        continue
                    raise self._fault(line, f"has {len(words)} fields; expected {self.fields!r}")
                try:
                    topic, doc = words[0].decode(), words[2].decode()
                    last = last or words[-1].decode()
                except UnicodeDecodeError:
                    raise self._fault(line, "is not UTF-8; convert the file to it") from None
                documents = seen.setdefault(topic, {})
                if doc in documents:
                    raise self._fault(line, f"document {doc!r} occurs twice for topic {topic!r}")
                documents[doc] = self._finite(line, words[self.number])
        if not seen:
            raise DataError(f"{self.path}: no rows; expected lines of {self.fields!r}")
        sizes = [len(documents) for documents in seen.values()]
        groups = Groups(np.concatenate(([0], np.cumsum(sizes))), np.array(list(seen)))
        docs = np.array([doc for documents in seen.values() for doc in documents])
        values = np.array([value for documents in seen.values() for value in documents.values()])
        return groups, docs, values, last

    def _finite(self, line: int, word: bytes) -> float:
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            what = self.fields.split()[self.number]
            shown = word.decode("utf-8", "replace")[:40]
            raise self._fault(line, f"{what} {shown!r} is not a finite number")
        return value

    def _fault(self, line: int, message: str) -> DataError:
        return DataError(f"{self.path}:{line}: {message}")
