"""`evaluate` speaks each tool's convention: equal to what the tool itself said.

The answers are made by ``benchmarks/golden.py``, which runs the tools. On these scores all of them
compute in double precision, so the agreement is to 1e-12; gdeval prints five decimals.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import rankopt
from rankopt.measures import CONVENTIONS, as_convention

FOLDER = Path(__file__).parent
DATA = json.loads((FOLDER / "data.json").read_text(encoding="utf-8"))
TOOLS = ("trec_eval", "gdeval", "sklearn", "lightgbm", "xgboost", "catboost", "ranx")
GOLDEN = {tool: json.loads((FOLDER / f"{tool}.json").read_text("utf-8")) for tool in TOOLS}
TOLERANCE = {"gdeval": 5.1e-6}
BLANK = np.array([1, 5, 8, 11, 15])


def problem(labels="graded", weighted=False):
    rows = len(DATA["docs"])
    return rankopt.dataset(
        np.zeros((rows, 1)),
        DATA["labels"][labels],
        group=DATA["sizes"],
        query_weight=DATA["weights"] if weighted else None,
        docs=DATA["docs"],
    )


def evaluated(tool, answer, weighted=False):
    data = problem(answer["labels"], weighted)
    measure = answer["measure"]
    scores = DATA["scores"][answer["scores"]]
    results = rankopt.evaluate(scores, data, [measure], convention=tool)
    return results.mean[measure], results.per_query[measure]


def answer_of(tool, asked, labels="graded"):
    (found,) = [a for a in GOLDEN[tool]["answers"] if a["asked"] == asked and a["labels"] == labels]
    return found


def answers(*tools, having="per_query", asked=None, but=()):
    """Parameters of a test: the answers of tools that hold a kind of figure, by their spelling."""
    return [
        pytest.param(tool, answer, id=f"{tool}-{answer['asked']}-{answer['measure']}")
        for tool in tools or TOOLS
        for answer in GOLDEN[tool]["answers"]
        if having in answer
        and (asked is None or answer["asked"].startswith(asked))
        and (tool, answer["asked"].rstrip("0123456789").partition(":")[0]) not in but
    ]


# Of these a weighted mean is not the mean weighted by the weights of the queries; see below.
UNWEIGHTED = (
    ("lightgbm", "ndcg@"),
    ("xgboost", "ndcg@"),
    ("xgboost", "ndcg"),
    ("catboost", "MAP"),
    ("catboost", "PrecisionAt"),
    ("catboost", "RecallAt"),
)


def test_every_convention_of_a_tool_that_can_be_run_has_answers():
    # letor is held to published figures; RankLib needs Java; yahoo has no program of its own.
    assert set(CONVENTIONS) - {"rankopt", "letor", "ranklib", "yahoo"} == set(TOOLS)


def test_the_data_holds_what_tools_disagree_on():
    data = problem()
    sizes = data.groups.sizes
    best = np.maximum.reduceat(data.y, data.groups.offsets[:-1])
    assert (sizes == 1).sum() >= 4
    assert sizes.max() == 30
    assert np.flatnonzero(best == 0.0).tolist() == BLANK.tolist()
    assert set(data.y) == {0.0, 1.0, 2.0, 3.0, 4.0}
    tied = np.array(DATA["scores"]["tied"])
    distinct = [np.unique(tied[data.groups.spread(np.arange(24)) == q]).size for q in range(24)]
    assert (np.array(distinct) < sizes).sum() >= 12
    assert np.array_equal(tied.astype(np.float32), tied)


@pytest.mark.parametrize(("tool", "answer"), answers())
def test_each_query_counts_as_the_tool_counts_it(tool, answer):
    expected = np.array([np.nan if v is None else v for v in answer["per_query"]])
    _, per_query = evaluated(tool, answer)
    if tool == "sklearn":  # refuses queries of one row
        assert np.isnan(expected).tolist() == [size == 1 for size in DATA["sizes"]]
        per_query = np.where(np.isnan(expected), np.nan, per_query)
    np.testing.assert_allclose(per_query, expected, rtol=0, atol=TOLERANCE.get(tool, 1e-12))


@pytest.mark.parametrize(("tool", "answer"), answers(having="mean"))
def test_the_mean_is_the_tools(tool, answer):
    mean, _ = evaluated(tool, answer)
    assert mean == pytest.approx(answer["mean"], rel=0, abs=TOLERANCE.get(tool, 1e-12))


@pytest.mark.parametrize(("tool", "answer"), answers(having="weighted", but=UNWEIGHTED))
def test_the_weighted_mean_is_the_tools(tool, answer):
    mean, _ = evaluated(tool, answer, weighted=True)
    assert mean == pytest.approx(answer["weighted"], rel=0, abs=1e-12)


@pytest.mark.parametrize(("tool", "answer"), answers("lightgbm", "xgboost", asked="ndcg"))
def test_weighted_ndcg_differs_by_the_missing_weights_of_blank_queries(tool, answer):
    # Both add 1, and not the query's weight, for each blank query; in NDCG alone.
    mean, per_query = evaluated(tool, answer, weighted=True)
    weights = np.array(DATA["weights"])
    assert mean == pytest.approx(weights @ per_query / weights.sum(), rel=0, abs=1e-12)
    missing = (weights[BLANK] - 1.0).sum() / weights.sum()
    assert abs(missing) > 0.01
    assert mean - answer["weighted"] == pytest.approx(missing, rel=0, abs=1e-12)


@pytest.mark.parametrize(
    ("tool", "answer"), answers("catboost", asked=("MAP", "PrecisionAt", "RecallAt"))
)
def test_catboost_forgets_the_weights_in_some_measures(tool, answer):
    mean, per_query = evaluated(tool, answer, weighted=True)
    weights = np.array(DATA["weights"])
    assert mean == pytest.approx(weights @ per_query / weights.sum(), rel=0, abs=1e-12)
    assert answer["weighted"] == answer["mean"]
    assert mean != pytest.approx(answer["weighted"], rel=0, abs=1e-4)


def test_xgboost_gives_up_on_a_light_blank_query_and_rankopt_does_not():
    assert "Invalid output score" in GOLDEN["xgboost"]["faults"]["light_blank_query"]
    data = rankopt.dataset([[0.0]] * 2, [1, 0], group=[1, 1], query_weight=[1.0, 0.5])
    assert rankopt.evaluate([1.0, 1.0], data, ["ndcg@5"], convention="xgboost").mean == {
        "ndcg@5": 1.0
    }


def test_xgboosts_minus_is_blank_as_zero():
    zero = as_convention("xgboost", blank="zero")
    minus = GOLDEN["xgboost"]["faults"]["minus"]
    for asked, measure in (("ndcg@5-", "ndcg@5"), ("map@5-", "map@5"), ("pre@5-", "p@5")):
        results = rankopt.evaluate(
            DATA["scores"]["tied"], problem("binary"), [measure], convention=zero
        )
        assert results.mean[measure] == pytest.approx(minus[asked], rel=0, abs=1e-12)


def test_sklearn_refuses_one_row_and_rankopt_scores_it():
    assert "more than 1 document" in GOLDEN["sklearn"]["faults"]["one_row"]
    data = rankopt.dataset([[0.0]] * 2, [2, 0], group=[1, 1])
    results = rankopt.evaluate([1.0, 1.0], data, ["ndcg"], convention="sklearn")
    assert results.per_query["ndcg"].tolist() == [1.0, 0.0]


def test_ranx_orders_equal_scores_arbitrarily_within_what_ties_allow():
    ranx = np.array(GOLDEN["ranx"]["faults"]["tied"])
    bounds = {
        ties: rankopt.evaluate(
            DATA["scores"]["tied"], problem(), ["ndcg@5"], convention=as_convention("ranx", ties)
        ).per_query["ndcg@5"]
        for ties in ("pessimistic", "stable", "optimistic")
    }
    assert np.all(bounds["pessimistic"] <= ranx + 1e-12)
    assert np.all(ranx <= bounds["optimistic"] + 1e-12)
    assert np.abs(ranx - bounds["stable"]).max() > 0.01


def test_catboost_counts_a_blank_query_as_one_in_ndcg_and_recall_but_not_in_map():
    for asked, value in (("NDCG:top=10", 1.0), ("RecallAt:top=10", 1.0), ("MAP:top=10", 0.0)):
        answer = answer_of("catboost", asked)
        assert {answer["per_query"][q] for q in BLANK} == {value}
        assert set(evaluated("catboost", answer)[1][BLANK].tolist()) == {value}


def test_gdeval_leaves_blank_queries_out_of_its_means():
    mean, per_query = evaluated("gdeval", answer_of("gdeval", "ndcg@10"))
    assert np.flatnonzero(np.isnan(per_query)).tolist() == BLANK.tolist()
    assert mean == pytest.approx(np.nanmean(per_query), rel=0, abs=1e-12)


def test_one_ranking_counts_differently_under_each_convention():
    # The reason why rankopt prints the convention next to every number.
    means = {
        tool: rankopt.evaluate(
            DATA["scores"]["tied"], problem(), ["ndcg@10"], convention=tool
        ).mean["ndcg@10"]
        for tool in ("rankopt", "letor", "trec_eval", "gdeval", "lightgbm", "catboost", "sklearn")
    }
    assert len({round(mean, 3) for mean in means.values()}) == len(means)
