"""The trained systems, by name; and reading a saved one back."""

from __future__ import annotations

import os
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from rankopt.errors import ModelError, SpecError

SYSTEMS: dict[str, tuple[str, str]] = {
    "adarank": ("rankopt.baselines.adarank", "AdaRank"),
    "approxrank": ("rankopt.estimators.approxrank", "ApproxRank"),
    "coordinate-ascent": ("rankopt.baselines.coordinate_ascent", "CoordinateAscent"),
    "directboost": ("rankopt.estimators.directboost", "DirectBoost"),
    "directrank": ("rankopt.estimators.directrank", "DirectRank"),
    "functional": ("rankopt.estimators.functional", "FunctionalRank"),
    "lambdamart": ("rankopt.baselines.lambdamart", "LambdaMART"),
    "lambdarank": ("rankopt.baselines.lambdarank", "LambdaRank"),
    "listmle": ("rankopt.baselines.listmle", "ListMLE"),
    "listnet": ("rankopt.baselines.listnet", "ListNet"),
    "marginrank": ("rankopt.estimators.marginrank", "MarginRank"),
    "mart": ("rankopt.baselines.mart", "MART"),
    "rankboost": ("rankopt.baselines.rankboost", "RankBoost"),
    "rankcosine": ("rankopt.baselines.rankcosine", "RankCosine"),
    "ranker": ("rankopt.estimators.ranker", "Ranker"),
    "ranknet": ("rankopt.baselines.ranknet", "RankNet"),
    "ranksvm": ("rankopt.baselines.ranksvm", "RankSVM"),
    "ridge": ("rankopt.baselines.ridge", "Ridge"),
    "smoothgrad": ("rankopt.baselines.smoothgrad", "SmoothGrad"),
    "smoothrank": ("rankopt.estimators.smoothrank", "SmoothRank"),
    "softrank": ("rankopt.baselines.softrank", "SoftRank"),
    "svmmap": ("rankopt.baselines.svmmap", "SVMMAP"),
}


def system(name: str) -> type[Any]:
    """The class of a system, by the name it has on the command line."""
    if name not in SYSTEMS:
        near = get_close_matches(name.lower(), SYSTEMS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(SYSTEMS)}"
        raise SpecError(f"unknown system {name!r}; {hint}")
    module, cls = SYSTEMS[name]
    return getattr(import_module(module), cls)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a saved model: the fitted estimator, ready to predict and score.

    A file that is no model, or a damaged one, is a `ModelError`. Nothing in it is executed.
    """
    from rankopt.models.storage import load_model

    model = load_model(path)
    try:
        cls = system(model.recipe.system)
        return cls.from_model(model)
    except (SpecError, TypeError) as error:
        raise ModelError(f"{path}: {error}") from None
