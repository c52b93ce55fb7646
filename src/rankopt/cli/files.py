"""What commands read: data files by their ending, rankings by their content."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankopt.errors import DataError

if TYPE_CHECKING:
    from rankopt.data.dataset import Dataset


def read_data(
    path: Path,
    *,
    label: str = "label",
    qid: str = "qid",
    missing: str = "zero",
    n_features: int | None = None,
    text: bool = False,
    measure: str | None = None,
) -> Dataset:
    """A dataset from LETOR text, Parquet, or (`text`, or by its name) pairs of question and answer.

    With a `measure`, labels that it has no gain for are refused here, with the name of the file.
    """
    data = _read(path, label, qid, missing, n_features, text)
    if measure is not None:
        from rankopt.measures import as_measure

        as_measure(measure).admit(data.labels, data.groups, data.rows, str(path))
    return data


def _read(
    path: Path, label: str, qid: str, missing: str, n_features: int | None, text: bool
) -> Dataset:
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file in it")
    if path.suffix in (".parquet", ".pq"):
        from rankopt.data.frames import read_parquet

        if missing != "zero":
            raise DataError(
                f"{path}: --missing is for text; missing values of a table stay missing"
            )
        return read_parquet(path, label=label, qid=qid)
    if text or Path(path.name.removesuffix(".gz").removesuffix(".xz")).suffix in (".tsv", ".csv"):
        from rankopt.data.pairs import read_pairs

        return read_pairs(path, columns={"label": label, "qid": qid})
    from rankopt.data.letor import read_letor

    return read_letor(path, missing=missing, n_features=n_features)  # pyright: ignore[reportArgumentType]


def takes_text(model: Any) -> bool:
    """Whether a model scores text instead of features."""
    from rankopt.estimators.base import BaseRanker

    return isinstance(model, BaseRanker) and model.model_.inputs.vocabulary is not None


def require_place(path: Path | None) -> None:
    """Refuse a place where nothing can be written, before any work is done."""
    if path is None:
        return
    if path.is_dir():
        raise DataError(f"{path}: is a folder; name a file in it to write to")
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path}: the folder {path.parent} does not exist; make it first")


def read_model(path: Path) -> Any:
    """A model of rankopt, or a tree ensemble of another library, told apart by the first bytes."""
    if _foreign(path):
        from rankopt.ensembles.reading import read_ensemble

        return read_ensemble(path)
    from rankopt.estimators import load

    return load(path)


def read_ranking(path: Path) -> Any:
    """A model or scores, told apart by the first bytes."""
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"PK\x03\x04" or _foreign(path):
        return read_model(path)
    from rankopt.data.scores import read_scores

    return read_scores(path)


def _foreign(path: Path) -> bool:
    """Whether a file begins like a tree ensemble of another library."""
    with path.open("rb") as file:
        start = file.read(64)
    return start.startswith((b"tree\n", b"tree\r\n")) or start.lstrip().startswith(b"{")
