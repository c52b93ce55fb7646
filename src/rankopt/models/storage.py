"""Model files: one zip of a JSON header and plain arrays; versioned, without pickle.

``model.json`` is the header, ``params.npy`` the parameters, and ``NAME.npy`` each array that the scorer
holds beside them, such as the splits of trees; the header lists these. The words of a model that takes
text stand in the header, their weights in ``words_questions.npy`` and ``words_answers.npy``.

A file that is not what it says is refused with one line: sizes are checked before anything is
unpacked, arrays are read without object types, and names are looked up, never evaluated.
"""

from __future__ import annotations

import io
import os
import re
import struct
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from rankopt.arrays import Floats
from rankopt.data.files import replacing
from rankopt.data.text import WORDS, Side, Vocabulary
from rankopt.errors import ModelError, RankoptError
from rankopt.models.inputs import Inputs
from rankopt.models.model import Model, Recipe
from rankopt.scorers import SCORERS, Quadratic

FORMAT = "rankopt-model"
VERSION = 3  # 2: arrays of scorers; 3: features of queries, text
_LARGEST = 4 << 30  # bytes of an unpacked member
_TYPES = ("float64", "int64", "int32", "uint32", "uint8")
_NAME = re.compile(r"[a-z][a-z_]{0,40}")


class Text(msgspec.Struct, forbid_unknown_fields=True):
    """How a model makes features of text: the spec, and the words of each side."""

    spec: str
    questions: list[str]
    answers: list[str]


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON header of a model file."""

    format: str
    version: int
    scorer: str
    n_features: int
    features: list[str]
    normalize: str | None
    system: str
    parameters: dict[str, Any]
    notes: dict[str, Any]
    arrays: list[str] = []
    n_query_features: int = 0
    query_columns: list[int] = []
    text: Text | None = None


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; the same model gives the same bytes."""
    text, weights = _text_of(model.inputs.vocabulary)
    arrays = {**model.scorer.arrays(), **weights}
    header = Header(
        FORMAT, VERSION, str(model.scorer), model.n_features, list(model.features), model.normalize,
        model.recipe.system, model.recipe.parameters, model.recipe.notes, list(arrays),
        model.n_query_features, list(model.inputs.query_columns), text,
    )  # fmt: skip
    with (
        replacing(path) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        text = msgspec.json.format(msgspec.json.encode(header, order="sorted"), indent=2)
        archive.writestr(_entry("model.json"), text)
        for name, array in {"params": model.params, **arrays}.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            archive.writestr(_entry(f"{name}.npy"), buffer.getvalue())


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model; a `ModelError` where the file is no model or a damaged one."""
    name = Path(path)
    content = io.BytesIO(name.read_bytes())  # from here on, a failure is the content's
    try:
        with zipfile.ZipFile(content) as archive:
            header = msgspec.json.decode(_member(archive, "model.json", 64 << 20), type=Header)
            if header.format != FORMAT:
                raise ModelError(f"{name}: is not a rankopt model")
            if header.version > VERSION:
                raise ModelError(
                    f"{name}: has format version {header.version}, this rankopt reads up to {VERSION};"
                    " update rankopt"
                )
            arrays = {name: _array(archive, name) for name in ("params", *_names(header))}
        return _checked(header, arrays.pop("params"), arrays)
    except ModelError as error:
        raise ModelError(str(error) if str(name) in str(error) else f"{name}: {error}") from None
    except (
        zipfile.BadZipFile, zlib.error, struct.error, msgspec.MsgspecError, RankoptError, LookupError,
        ValueError, EOFError, RuntimeError, OSError,
    ) as error:  # fmt: skip
        raise ModelError(f"{name}: is not a rankopt model or is damaged ({error})") from None


def _names(header: Header) -> list[str]:
    """The names of the scorer's arrays, which become names of members."""
    for name in header.arrays:
        if not _NAME.fullmatch(name) or name == "params":
            raise ModelError(f"an array cannot be named {name[:40]!r}")
    return header.arrays


def _checked(header: Header, params: Floats, arrays: dict[str, NDArray[Any]]) -> Model:
    if params.dtype != np.float64 or not np.isfinite(params).all():
        raise ModelError("params.npy must hold finite float64 values")
    if header.normalize not in (None, "query"):
        raise ModelError(f"unknown normalize {header.normalize!r}")
    if header.features and len(header.features) != header.n_features:
        raise ModelError(f"{len(header.features)} feature names for {header.n_features} features")
    inputs = _inputs(header, arrays)
    widths = inputs.widths(header.n_features, header.n_query_features)
    scorer = SCORERS.build(header.scorer).holding(arrays)
    if isinstance(scorer, Quadratic) and scorer.width != widths[0]:
        raise ModelError(f"products of {scorer.width} features, but {widths[0]} features")
    expected = scorer.size_for(*widths)
    if expected is not None and params.size != expected:
        raise ModelError(
            f"{params.size} parameters, but {scorer} has {expected} on {widths[0]} features"
            + (f" and {widths[1]} of queries" if widths[1] else "")
        )
    recipe = Recipe(header.system, header.parameters, header.notes)
    return Model(
        scorer, params, header.n_features, tuple(header.features), header.normalize, recipe,
        header.n_query_features, inputs,
    )  # fmt: skip


def _inputs(header: Header, arrays: dict[str, NDArray[Any]]) -> Inputs:
    """What becomes of the data first; its arrays are taken out of `arrays`."""
    columns = header.query_columns
    if min(header.n_features, header.n_query_features) < 0:
        raise ModelError("a number of features is negative")
    if columns and not (
        columns[0] >= 0
        and all(a < b for a, b in pairwise(columns))
        and columns[-1] < header.n_features
    ):
        raise ModelError("query columns must ascend within the features")
    if header.text is None:
        return Inputs(tuple(columns))
    if columns or header.features or header.n_features or header.n_query_features:
        raise ModelError("a model takes text or features, not both")
    sides = [
        Side(tuple(words), arrays.pop(f"words_{name}", np.empty(0)))
        for name, words in (("questions", header.text.questions), ("answers", header.text.answers))
    ]
    vocabulary = Vocabulary(WORDS.build(header.text.spec), *sides)
    vocabulary.check()
    return Inputs((), vocabulary)


def _text_of(vocabulary: Vocabulary | None) -> tuple[Text | None, dict[str, NDArray[Any]]]:
    """The entry of the header, and the arrays beside it."""
    if vocabulary is None:
        return None, {}
    sides = {"questions": vocabulary.questions, "answers": vocabulary.answers}
    weights = {f"words_{name}": side.idf for name, side in sides.items() if side.idf.size}
    words = [list(side.words) for side in sides.values()]
    return Text(str(vocabulary.spec), *words), weights


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # its fixed date keeps the bytes the same
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _member(archive: zipfile.ZipFile, name: str, largest: int) -> bytes:
    if archive.getinfo(name).file_size > largest:
        raise ModelError(f"{name} is larger than {largest} bytes")
    return archive.read(name)


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """The array of a member, after its own header has been held against the bytes that follow it."""
    raw = _member(archive, f"{name}.npy", _LARGEST)
    buffer = io.BytesIO(raw)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ModelError(f"{name}.npy has an unknown version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(buffer, max_header_size=1000)
    content = raw[buffer.tell() :]
    if dtype not in _TYPES or len(shape) != 1 or len(content) != dtype.itemsize * shape[0]:
        raise ModelError(f"{name}.npy must hold numbers ({', '.join(_TYPES)}) in one dimension")
    return np.frombuffer(content, dtype).copy()
