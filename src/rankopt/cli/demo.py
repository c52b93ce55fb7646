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


def demo(
    out: Annotated[
        Path | None,
        typer.Option(help="Also write the data, the model and the scores to this folder."),
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Train on a simulated shop's search, and compare on queries held out.

    Examples:

    `rankopt demo`

    `rankopt demo --out demo && rankopt evaluate demo/test.txt --model demo/directrank.rankopt`
    """
    from rankopt.data.demo import demo_search
    from rankopt.estimators.directrank import DirectRank
    from rankopt.evaluation.compare import compare
    from rankopt.scorers import Linear
    from rankopt.solvers.starts import ridge

    search = demo_search(seed)
    ranker = DirectRank("ndcg@10", restarts=3, random_state=seed).fit(
        search.train, eval_set=[search.valid]
    )
    column = search.test.features.index(_START)
    weights = ridge(search.train, 2.0**search.train.labels - 1.0)
    rankings = {
        _START: search.test.restored(search.test.X[:, column].astype(float)),
        "ridge": search.test.restored(Linear().scores(weights, search.test)),
        "directrank": ranker.predict(search.test),
    }
    comparison = compare(rankings, search.test, "ndcg@10", random_state=seed)
    if out is not None:
        _write(out, search, ranker, rankings)
    if as_json:
        print_json(
            {
                **comparison.to_dict(),
                "train": ranker.score(search.train),
                "out": None if out is None else str(out),
            }
        )
        return
    _print(search, ranker, rankings, comparison)


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
    """The held-out query with the median gain, before and after."""
    import numpy as np

    from rankopt.measures import as_measure

    test = search.test
    bound = as_measure("ndcg@10").bind(test.labels, test.groups)
    before, after = (bound.values(test.stored(rankings[name])) for name in (_START, "directrank"))
    gain = after - before
    q = int(np.argsort(gain)[gain.size // 2 + gain.size // 4])  # a good case, not the best one
    rows = slice(test.groups.offsets[q], test.groups.offsets[q + 1])
    assert test.docs is not None
    titles = [search.titles[str(doc)] for doc in test.docs[rows]]
    grades = test.labels[rows].astype(int)
    columns = [
        np.argsort(-test.stored(rankings[name])[rows], kind="stable")[:5]
        for name in (_START, "directrank")
    ]
    print_table(
        ["rank", f"grade, before ({_START})", "grade, after (directrank)"],
        [
            [str(rank + 1), *(f"{grades[order[rank]]}  {titles[order[rank]]}" for order in columns)]
            for rank in range(min(5, len(titles)))
        ],
        left=3,
        title=f"Query {search.queries[int(test.groups.qids[q])]!r}: ndcg@10 {before[q]:.3f} before,"
        f" {after[q]:.3f} after",
    )


def _write(out: Path, search: DemoSearch, ranker: Any, rankings: dict[str, Floats]) -> None:
    from rankopt.data.letor import write_letor
    from rankopt.data.scores import write_scores

    out.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", search.train), ("valid", search.valid), ("test", search.test)):
        write_letor(out / f"{name}.txt", part)
    ranker.save(out / "directrank.rankopt")
    for name, scores in rankings.items():
        write_scores(out / f"{name}.scores", scores)
