"""Ensembles read from files, told apart by their content, or taken from live objects."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from rankopt.ensembles import ubjson
from rankopt.ensembles.catboost import CatBoostModel
from rankopt.ensembles.ensemble import Document, Ensemble
from rankopt.ensembles.lightgbm_dump import LightGBMDump
from rankopt.ensembles.lightgbm_text import LightGBMText
from rankopt.ensembles.xgboost import XGBoostModel
from rankopt.errors import ModelError, SpecError

_FORMATS = (
    "LightGBM text (save_model) or JSON (dump_model), XGBoost .json or .ubj (save_model), CatBoost JSON"
    ' (save_model(format="json"))'
)
_OTHERS = {
    b"CBM1": 'is a CatBoost model in binary; write it by save_model(path, format="json")',
    b"binf": 'is an XGBoost model of the old binary form; write it by save_model("model.json")',
    b"PK": "is a zip, such as a model of rankopt; an ensemble of another library is needed",
    b"\x1f\x8b": "is compressed; unpack it first",
    b"\x80": "is a pickle, which runs code when it is read; write the model by its library's save_model",
    b"[": "is a list of trees in JSON, such as XGBoost's dump_model gives; write the model by save_model",
    b"booster[": "is a text dump of XGBoost; write the model by save_model",
}


def read_ensemble(source: Any, *, iterations: int | None = None) -> Ensemble:
    """Read a tree ensemble of LightGBM, XGBoost or CatBoost.

    Parameters
    ----------
    source : a file (LightGBM text or JSON dump, XGBoost JSON or UBJSON, CatBoost JSON), or a live
        ``lightgbm.Booster``, ``xgboost.Booster`` or ``catboost.CatBoost``, or the scikit-learn model that
        holds one. Of a live object the trees count that its own ``predict`` takes: up to the best
        iteration with LightGBM and in scikit-learn's models.
        An ensemble that has been read stands for itself.
    iterations : so many iterations from the first one; None is all of a file.

    Examples
    --------
    >>> import numpy as np, lightgbm, rankopt
    >>> X = np.arange(40.0).reshape(20, 2)
    >>> quiet = {"verbosity": -1, "min_data_in_leaf": 2}
    >>> booster = lightgbm.train(quiet, lightgbm.Dataset(X, X[:, 0]), 3)
    >>> ensemble = rankopt.read_ensemble(booster)
    >>> ensemble
    <Ensemble LightGBM text: 3 trees, 2 features>
    >>> bool(np.all(ensemble.predict(rankopt.dataset(X)) == booster.predict(X)))
    True
    """
    if iterations is not None and iterations < 1:
        raise SpecError("iterations: 1 or more")
    if isinstance(source, Ensemble):
        ensemble = source
    elif isinstance(source, (str, os.PathLike)):
        path = Path(cast("str | os.PathLike[str]", source))
        content = path.read_bytes()
        ensemble = named(str(path), lambda: parsed(content).ensemble())
    else:
        name = type(source).__name__
        found, best = _live(source)
        iterations = best if iterations is None else iterations
        ensemble = named(name, found.ensemble)
    return ensemble if iterations is None else first(ensemble, iterations)


def parsed(content: bytes) -> Document:
    """The document of a file's content."""
    for magic, reason in _OTHERS.items():
        if content.lstrip(b" \t\r\n").startswith(magic):
            raise ModelError(reason)
    if content.startswith((b"tree\n", b"tree\r\n")):
        return LightGBMText.parsed(content.decode("utf-8"))
    if not content.lstrip().startswith(b"{"):
        raise ModelError(f"is no tree ensemble; rankopt reads {_FORMATS}")
    binary = content[:1] == b"{" and content[1:2] in (b"L", b"l", b"i", b"U", b"I", b"#", b"$")
    value = ubjson.decoded(content) if binary else msgspec.json.decode(content)
    if not isinstance(value, dict):
        raise ModelError(f"is no tree ensemble; rankopt reads {_FORMATS}")
    if "learner" in value:
        return XGBoostModel(value, binary)
    if "tree_info" in value:
        return LightGBMDump(value)
    if "oblivious_trees" in value or "trees" in value:
        return CatBoostModel(value)
    raise ModelError(f"is no tree ensemble; rankopt reads {_FORMATS}")


def named(name: str, read: Callable[[], Any]) -> Any:
    """What `read` gives, or one line that names the model and what is wrong with it."""
    try:
        return read()
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None
    except (
        LookupError, ValueError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError,
        msgspec.MsgspecError,
    ) as error:  # fmt: skip
        reason = " ".join(repr(error).split())[:200]
        raise ModelError(f"{name}: is damaged, or no model ({reason})") from None


def first(ensemble: Ensemble, iterations: int) -> Ensemble:
    """The first iterations of an ensemble."""
    document, trees = ensemble.document, iterations
    if isinstance(document, XGBoostModel):
        edges = document.booster["model"].get("iteration_indptr", range(ensemble.n_trees + 1))
        if iterations < len(edges):
            trees = int(edges[iterations])
    if trees >= ensemble.n_trees:
        return ensemble
    cut = ensemble.reweighted((np.arange(ensemble.n_trees) < trees).astype(np.float64))
    return replace(cut, notes=())


def _live(source: Any) -> tuple[Document, int | None]:
    """The document of a live object, and how many iterations its own ``predict`` takes."""
    if hasattr(source, "booster_"):  # lightgbm.LGBMModel
        source = source.booster_
    if hasattr(
        source, "model_to_string"
    ):  # lightgbm.Booster, which leaves out what it does not use
        return LightGBMText.parsed(source.model_to_string()), None
    best = None
    if hasattr(source, "get_booster"):  # xgboost.XGBModel
        source = source.get_booster()
        number = source.attr("best_iteration")
        best = None if number is None else int(number) + 1
    if hasattr(source, "save_raw"):  # xgboost.Booster
        return XGBoostModel(ubjson.decoded(bytes(source.save_raw("ubj"))), True), best
    if hasattr(source, "get_leaf_values"):  # catboost.CatBoost
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.json"
            source.save_model(str(path), format="json")
            return parsed(path.read_bytes()), None
    raise ModelError(
        f"{type(source).__name__} is no tree ensemble; rankopt takes boosters of LightGBM, XGBoost and"
        f" CatBoost, and files: {_FORMATS}"
    )
