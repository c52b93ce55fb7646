"""Model files: one zip of a JSON header and plain arrays; versioned, without pickle.

A file that is not what it says is refused with one line: sizes are checked before anything is
unpacked, arrays are read without object types, and names are looked up, never evaluated.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from rankopt.arrays import Floats
from rankopt.data.files import replacing
from rankopt.errors import ModelError, RankoptError
from rankopt.models.model import Model, Recipe
from rankopt.scorers import SCORERS

FORMAT = "rankopt-model"
VERSION = 1
_LARGEST = 4 << 30  # bytes of an unpacked member


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


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a model; the same model gives the same bytes."""
    header = Header(
        FORMAT, VERSION, str(model.scorer), model.n_features, list(model.features), model.normalize,
        model.recipe.system, model.recipe.parameters, model.recipe.notes,
    )  # fmt: skip
    with (
        replacing(path) as partial,
        zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        text = msgspec.json.format(msgspec.json.encode(header, order="sorted"), indent=2)
        archive.writestr(_entry("model.json"), text)
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, model.params, version=(1, 0), allow_pickle=False)
        archive.writestr(_entry("params.npy"), buffer.getvalue())


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
            params = _array(_member(archive, "params.npy", _LARGEST))
        return _checked(header, params)
    except ModelError as error:
        raise ModelError(str(error) if str(name) in str(error) else f"{name}: {error}") from None
    except (
        zipfile.BadZipFile, zlib.error, struct.error, msgspec.MsgspecError, RankoptError, LookupError,
        ValueError, EOFError, RuntimeError, OSError,
    ) as error:  # fmt: skip
        raise ModelError(f"{name}: is not a rankopt model or is damaged ({error})") from None


def _checked(header: Header, params: Floats) -> Model:
    if header.normalize not in (None, "query"):
        raise ModelError(f"unknown normalize {header.normalize!r}")
    if header.features and len(header.features) != header.n_features:
        raise ModelError(f"{len(header.features)} feature names for {header.n_features} features")
    scorer = SCORERS.build(header.scorer)
    if scorer.name == "linear" and params.size != header.n_features:
        raise ModelError(f"{params.size} weights for {header.n_features} features")
    recipe = Recipe(header.system, header.parameters, header.notes)
    return Model(
        scorer, params, header.n_features, tuple(header.features), header.normalize, recipe
    )


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # its fixed date keeps the bytes the same
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _member(archive: zipfile.ZipFile, name: str, largest: int) -> bytes:
    if archive.getinfo(name).file_size > largest:
        raise ModelError(f"{name} is larger than {largest} bytes")
    return archive.read(name)


def _array(raw: bytes) -> Floats:
    """The array of an .npy file, after its header has been held against the bytes that follow it."""
    buffer = io.BytesIO(raw)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ModelError("params.npy has an unknown version")
    shape, _, dtype = np.lib.format.read_array_header_1_0(buffer, max_header_size=1000)
    content = raw[buffer.tell() :]
    if dtype != np.float64 or len(shape) != 1 or len(content) != 8 * shape[0]:
        raise ModelError("params.npy must hold float64 values in one dimension")
    params = np.frombuffer(content, np.float64).copy()
    if not np.isfinite(params).all():
        raise ModelError("params.npy holds values that are not finite")
    return params
