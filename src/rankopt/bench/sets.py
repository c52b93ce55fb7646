"""Sets: the folds of a benchmark in a folder, by the names that publishers give their files."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rankopt.data.dataset import Dataset
from rankopt.data.letor import read_letor
from rankopt.data.scale import scale_per_query, scale_standard
from rankopt.data.split import holdout
from rankopt.errors import DataError

_PARTS = {
    "train": ("train", "train.letor", "training"),
    "vali": ("vali", "valid", "validation", "dev"),
    "test": ("test", "test.letor"),
}
_STEMS = ("", "set1.", "set2.")  # Yahoo's two sets are in one folder
_ENDINGS = (".txt", "")
_PACKED = ("", ".gz", ".xz")
_DEPTH = 3  # folders below the one that is named


@dataclass(frozen=True)
class Fold:
    """The files of one fold; without `vali`, a fifth of the training queries is held out."""

    train: Path
    vali: Path | None
    test: Path

    def read(self, normalize: str | None = None) -> dict[str, Dataset]:
        """The parts train, vali and test, all of one width, their features scaled as `normalize` says."""
        parts = {"train": read_letor(self.train), "test": read_letor(self.test)}
        if self.vali is not None:
            parts["vali"] = read_letor(self.vali)
        parts = _same_width(parts)
        if self.vali is None:
            parts["train"], parts["vali"] = holdout(parts["train"], 0.2, 0)
        return _scaled(parts, normalize)


@dataclass(frozen=True)
class Set:
    """A named set of folds."""

    name: str
    folds: tuple[Fold, ...]


def find_sets(*folders: Path) -> list[Set]:
    """The sets in each folder: it is one itself, or there are some in the folders below it.

    A set is a folder with folders ``Fold1``, ``Fold2``, ..., or with the files of one fold: ``train.txt``,
    ``vali.txt``, ``test.txt``, or with ``valid`` and the names of Yahoo's (``set1.train.txt`` and
    ``set2.train.txt``, two sets) and others; each may be packed (.gz, .xz).
    """
    out: dict[str, Set] = {}
    for folder in folders:
        if not folder.is_dir():
            raise DataError(f"{folder}: is no folder")
        found = _below(folder, folder, 0)
        if not found:
            raise DataError(
                f"{folder}: holds no folds: folders Fold1, Fold2, ... with train.txt, vali.txt and test.txt,"
                " or these files themselves (plain, .gz or .xz)"
            )
        for each in found:
            if each.name in out:
                raise DataError(
                    f"{folder}: a set {each.name!r} was there before; give a folder that holds both"
                )
            out[each.name] = each
    return list(out.values())


def _below(folder: Path, root: Path, depth: int) -> list[Set]:
    name = folder.name if folder == root else str(folder.relative_to(root))
    name = name or folder.resolve().name
    numbered = {
        int(match[1]): path
        for path in folder.iterdir()
        if path.is_dir() and (match := re.fullmatch(r"fold[ _-]?(\d+)", path.name, re.IGNORECASE))
    }
    folds = [fold for _, path in sorted(numbered.items()) if (fold := _fold(path)) is not None]
    if folds:
        return [Set(name, tuple(folds))]
    alone = {stem: fold for stem in _STEMS if (fold := _fold(folder, stem)) is not None}
    if alone:
        return [
            Set(name if len(alone) == 1 else f"{name}/{stem}".strip("./"), (fold,))
            for stem, fold in alone.items()
        ]
    if depth == _DEPTH:
        return []
    below = sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")
    return [found for path in below for found in _below(path, root, depth + 1)]


def _fold(folder: Path, stem: str = "") -> Fold | None:
    files = {
        part: _file(folder, tuple(stem + name for name in names)) for part, names in _PARTS.items()
    }
    train, test = files["train"], files["test"]
    return None if train is None or test is None else Fold(train, files["vali"], test)


def _file(folder: Path, names: tuple[str, ...]) -> Path | None:
    for name in names:
        for ending in _ENDINGS:
            for packed in _PACKED:
                path = folder / f"{name}{ending}{packed}"
                if path.is_file():
                    return path
    return None


def _scaled(parts: dict[str, Dataset], normalize: str | None) -> dict[str, Dataset]:
    """Within each query, or by mean and deviation of the training part."""
    if normalize is None:
        return parts
    if normalize == "query":
        return {name: scale_per_query(part) for name, part in parts.items()}
    train, scaling = scale_standard(parts["train"])
    return {
        name: train if name == "train" else replace(part, X=scaling.apply(part.X))
        for name, part in parts.items()
    }


def _same_width(parts: dict[str, Dataset]) -> dict[str, Dataset]:
    """Text leaves out zeros, so trailing features may be absent from a part."""
    width = max(part.n_features for part in parts.values())
    names = tuple(map(str, range(1, width + 1)))
    out: dict[str, Dataset] = {}
    for name, part in parts.items():
        missing = width - part.n_features
        if missing and isinstance(part.X, np.ndarray):
            wider = np.hstack((part.X, np.zeros((part.n_rows, missing), part.X.dtype)))
            out[name] = replace(part, X=wider, features=names)
        else:
            out[name] = part
    return out
