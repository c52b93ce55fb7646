"""rankopt demo: the main job on data that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankopt.cli import options
from rankopt.cli.compare import print_comparison
from rankopt.cli.output import print_json, print_table

if TYPE_CHECKING:
    from rankopt.arrays import Floats
    from rankopt.data.demo import DemoSearch
    from rankopt.evaluation.compare import Comparison

_START = "title_bm25"  # what the shop ranks by before anything is learned
_SHOWN = "directboost"
_SYSTEMS: dict[str, dict[str, Any]] = {
    "ridge": {},
    "directrank": {"restarts": 3},
    "smoothrank": {"normalize": "standard"},
    "approxrank": {"normalize": "standard"},
    "marginrank": {"bound": "tight", "normalize": "standard"},
    "functional": {"scorer": "quadratic"},
    "directboost": {},
}


def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="Also write the data, the models and the scores to this folder."),
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Train every system on a simulated shop's search, and compare on queries held out.

    Examples:

    `rankopt demo`

    `rankopt demo --out demo && rankopt evaluate demo/test.txt --model demo/directrank.rankopt`
    """
    from rankopt.data.demo import demo_search
    from rankopt.evaluation.compare import compare

    search = demo_search(seed)
    rankers = _trained(search, seed)
    column = search.test.features.index(_START)
    rankings = {_START: search.test.restored(search.test.X[:, column].astype(float))}
    rankings |= {name: ranker.predict(search.test) for name, ranker in rankers.items()}
    comparison = compare(rankings, search.test, "ndcg@10", against=_START, random_state=seed)
    if out is not None:
        _write(out, search, rankers, rankings)
    if as_json:
        print_json(
            {
                **comparison.to_dict(),
                "train": {name: ranker.score(search.train) for name, ranker in rankers.items()},
                "out": None if out is None else str(out),
            }
        )
        return
    _print(search, rankers["directrank"], rankings, comparison)


def _trained(search: DemoSearch, seed: int) -> dict[str, Any]:
    """Every system, fitted; where it can watch validation data it does."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from rankopt.estimators import system
    from rankopt.progress import progress

    rankers: dict[str, Any] = {}
    with progress("demo", len(_SYSTEMS), True) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the best round counts, not the last
        for name, settings in _SYSTEMS.items():
            cls = system(name)
            values = {"measure": "ndcg@10", "random_state": seed, **settings}
            known = cls._get_param_names()
            ranker = cls(**{key: value for key, value in values.items() if key in known})
            rankers[name] = ranker.fit(search.train, eval_set=[search.valid])
            advance(name)
    return rankers


def _print(
    search: DemoSearch, ranker: Any, rankings: dict[str, Floats], comparison: Comparison
) -> None:
    import numpy as np

    train, test = search.train, search.test
    print(
        f"A shop's search, simulated: {train.groups.n_queries} queries and {train.n_rows} products"
        f" to train on, {test.groups.n_queries} queries held out.\n"
    )
    print_comparison(comparison)
    strongest = sorted(
        zip(test.features, ranker.coef_, strict=True), key=lambda item: -abs(item[1])
    )[:6]
    spread = dict(zip(train.features, np.asarray(train.X).std(axis=0), strict=True))
    print_table(
        ["feature", "weight", "weight x spread"],
        [[name, f"{w:+.4g}", f"{w * spread[name]:+.3f}"] for name, w in strongest],
        title="What directrank learned",
    )
    _print_query(search, rankings)
    print("Next: rankopt train directrank TRAIN --valid VALID -m ndcg@10 -o model.rankopt")


def _print_query(search: DemoSearch, rankings: dict[str, Floats]) -> None:
    """A held-out query of the upper quarter of gains, before and after: a good case, not the best."""
    import numpy as np

    from rankopt.measures import as_measure

    test = search.test
    bound = as_measure("ndcg@10").bind(test.labels, test.groups)
    before, after = (bound.values(test.stored(rankings[name])) for name in (_START, _SHOWN))
    gain = after - before
    q = int(np.argsort(gain)[gain.size // 2 + gain.size // 4])
    rows = slice(test.groups.offsets[q], test.groups.offsets[q + 1])
    assert test.docs is not None
    titles = [search.titles[str(doc)] for doc in test.docs[rows]]
    grades = test.labels[rows].astype(int)
    columns = [
        np.argsort(-test.stored(rankings[name])[rows], kind="stable")[:5]
        for name in (_START, _SHOWN)
    ]
    print_table(
        ["rank", f"grade, before ({_START})", f"grade, after ({_SHOWN})"],
        [
            [str(rank + 1), *(f"{grades[order[rank]]}  {titles[order[rank]]}" for order in columns)]
            for rank in range(min(5, len(titles)))
        ],
        left=3,
        title=f"Query {search.queries[int(test.groups.qids[q])]!r}: ndcg@10 {before[q]:.3f} before,"
        f" {after[q]:.3f} after",
    )


def _write(
    out: Path, search: DemoSearch, rankers: dict[str, Any], rankings: dict[str, Floats]
) -> None:
    from rankopt.data.letor import write_letor
    from rankopt.data.scores import write_scores

    out.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", search.train), ("valid", search.valid), ("test", search.test)):
        write_letor(out / f"{name}.txt", part)
    for name, ranker in rankers.items():
        ranker.save(out / f"{name}.rankopt")
    for name, scores in rankings.items():
        write_scores(out / f"{name}.scores", scores)
