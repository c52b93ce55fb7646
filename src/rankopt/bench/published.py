"""Figures that others have published on sets that are known by their size, by LETOR's conventions.

Sources: ``letor3``, the baselines of the LETOR 3.0 pages as transcribed since; ``table 2``, table 2 of
[chapelle2010gradient]_; ``third party``, one author's runs of public tools on the same folds; a library's
name, that library tuned by NDCG@10 on the same validation parts.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """Figures of one system: its name in the bench, the source, and the means over the folds."""

    system: str
    source: str
    figures: dict[str, float]


def _row(system: str, source: str, text: str, values: str) -> Published:
    numbers = [float(value) for value in values.split()]
    return Published(system, source, dict(zip(text.split(), numbers, strict=True)))


_LETOR3 = "ndcg@1 ndcg@3 ndcg@5 ndcg@10 p@1 p@10 map"
_THIRD = "ndcg@1 ndcg@3 ndcg@5 ndcg@10 map"
_TABLE2 = _LIBRARY = "map ndcg@10"

# (queries, rows, features) of all test folds together
KNOWN: dict[tuple[int, int, int], tuple[str, tuple[Published, ...]]] = {
    (106, 16_140, 45): (
        "OHSUMED (LETOR 3.0)",
        (
            _row("ranksvm", "letor3", _LETOR3, ".4958 .4207 .4164 .4140 .5974 .4864 .4334"),
            _row("rankboost", "letor3", _LETOR3, ".4632 .4555 .4494 .4302 .5576 .4966 .4411"),
            _row("listnet", "letor3", _LETOR3, ".5326 .4732 .4432 .4410 .6524 .4975 .4457"),
            _row("adarank-map", "letor3", _LETOR3, ".5388 .4682 .4613 .4429 .6338 .4976 .4487"),
            _row("svmmap", "table 2", _TABLE2, ".445 .432"),
            _row("adarank-ndcg", "table 2", _TABLE2, ".450 .450"),
            _row("ridge", "table 2", _TABLE2, ".444 .444"),
            _row("ranksvm", "table 2", _TABLE2, ".445 .450"),
            _row("smoothrank", "table 2", _TABLE2, ".448 .457"),
            _row("ranksvm", "third party", _THIRD, ".5263 .5087 .4811 .4537 .4436"),
            _row("rankboost", "third party", _THIRD, ".4952 .4547 .4479 .4399 .4429"),
            _row("coordinate-ascent", "fastrank", _LIBRARY, ".4441 .4522"),
            _row("coordinate-ascent", "RankLib", _LIBRARY, ".4409 .4452"),
            _row("mart", "LightGBM", _LIBRARY, ".4184 .4180"),
            _row("lambdamart", "LightGBM", _LIBRARY, ".4203 .4345"),
        ),
    ),
    (784, 15_211, 46): (
        "MQ2008 (LETOR 4.0)",
        (
            _row("ranksvm", "third party", _THIRD, ".3694 .4247 .4657 .2254 .4677"),
            _row("rankboost", "third party", _THIRD, ".3644 .4288 .4693 .2306 .4752"),
            _row("adarank-ndcg", "third party", _THIRD, ".3745 .4278 .4718 .2266 .4766"),
            _row("listnet", "third party", _THIRD, ".3244 .3916 .4396 .2093 .4415"),
            _row("coordinate-ascent", "fastrank", _LIBRARY, ".4767 .2278"),
            _row("coordinate-ascent", "RankLib", _LIBRARY, ".4784 .2310"),
            _row("mart", "LightGBM", _LIBRARY, ".4727 .2242"),
            _row("lambdamart", "LightGBM", _LIBRARY, ".4752 .2312"),
        ),
    ),
}
