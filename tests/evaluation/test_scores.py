"""evaluate: row order, weights, blank queries, and what it refuses."""

import re

import numpy as np
import pytest

import rankopt
from rankopt.errors import DataError, SpecError
from rankopt.measures import NDCG, Convention, as_measure

LABELS = [2, 0, 1, 0, 0, 1, 0]
QIDS = ["a", "b", "a", "a", "c", "b", "c"]
SCORES = [0.1, 0.9, 0.5, 0.7, 0.2, 0.3, 0.4]


def data(**options):
    return rankopt.dataset(np.zeros((7, 1)), LABELS, QIDS, **options)


def test_scores_are_taken_in_the_callers_order():
    results = rankopt.evaluate(SCORES, data(), ["rr"])
    assert dict(zip(results.qids, results.per_query["rr"], strict=True)) == {
        "a": 0.5,
        "b": 0.5,
        "c": 0.0,
    }
    assert (results.queries, results.blank) == (3, 1)


@pytest.mark.parametrize(("blank", "expected"), [("zero", 1 / 3), ("one", 2 / 3), ("skip", 1 / 2)])
def test_blank_queries_count_as_the_convention_says(blank, expected):
    perfect = [2.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0]
    convention = Convention("mine", blank=blank)
    results = rankopt.evaluate(perfect, data(), ["ndcg", "rr"], convention=convention)
    b = 1 / np.log2(3)
    assert results.mean["ndcg"] == pytest.approx(
        expected * 3 / 3 + {"zero": b / 3, "one": b / 3, "skip": b / 2}[blank]
    )
    rr = {"zero": 1.5 / 3, "one": 1.5 / 3, "skip": 1.5 / 2}[blank]
    assert results.mean["rr"] == pytest.approx(
        rr
    )  # nothing to divide by: a blank query cannot be 1


def test_weights_of_queries_weigh_the_mean():
    results = rankopt.evaluate(SCORES, data(query_weight=[3.0, 1.0, 0.0]), ["rr"])
    assert results.mean["rr"] == pytest.approx((3 * 0.5 + 1 * 0.5) / 4)


def test_json_form_has_per_query_values_by_identifier():
    results = rankopt.evaluate(SCORES, data(), ["rr"], convention=Convention("mine", blank="skip"))
    out = results.to_dict(by_query=True)
    assert out["per_query"]["rr"] == {"a": 0.5, "b": 0.5, "c": None}
    assert out["convention"]["blank"] == "skip"


def test_a_frame_has_one_row_per_query():
    frame = rankopt.evaluate(SCORES, data(), ["rr", "p@1"]).to_frame()
    assert list(frame.columns) == ["qid", "rr", "p@1"]
    assert len(frame) == 3


def test_measure_objects_are_used_as_they_are():
    results = rankopt.evaluate(SCORES, data(), NDCG(k=2), convention="sklearn")
    assert list(results.mean) == ["ndcg@2"]
    assert (
        results.mean["ndcg@2"]
        == rankopt.evaluate(SCORES, data(), "ndcg(gain=exponential)@2").mean[
            "ndcg(gain=exponential)@2"
        ]
    )


@pytest.mark.parametrize(
    ("scores", "measures", "error", "words"),
    [
        (SCORES[:-1], "rr", DataError, "6 values, but data has 7 rows in 3 queries"),
        ([*SCORES[:-1], np.nan], "rr", DataError, "row 7 is nan"),
        ([*SCORES[:-1], np.inf], "rr", DataError, "row 7 is inf"),
        (SCORES, "ndgc@10", SpecError, "did you mean 'ndcg'"),
        (SCORES, "tau@3", SpecError, "tau has no cut-off"),
        (SCORES, [], SpecError, "no measure"),
        (["high"] * 7, "rr", DataError, "scores: not numbers"),
        (SCORES, "ndcg(gain=[0, 1])", DataError, r"row 1 \(query a\) has label 2"),
    ],
)
def test_what_is_refused_is_named(scores, measures, error, words):
    with pytest.raises(error, match=words):
        rankopt.evaluate(scores, data(), measures)


def test_data_must_be_a_dataset():
    with pytest.raises(
        DataError, match=r"data: ndarray is no Dataset; make one by rankopt\.dataset"
    ):
        rankopt.evaluate(SCORES, np.zeros(7), "rr")


def test_results_print_on_one_line():
    results = rankopt.evaluate(SCORES, data(), ["rr", "p@1"], convention="letor")
    assert re.fullmatch(
        r"<Results: rr \d\.\d{4}, p@1 \d\.\d{4}; 3 queries, \d blank; convention letor>",
        repr(results),
    )


@pytest.mark.parametrize(
    ("spelling", "measure"),
    [
        ("nDCG@10", "ndcg@10"),
        ("NDCG@3", "ndcg@3"),
        ("ndcg_cut_10", "ndcg@10"),
        ("map", "ap"),
        ("MAP@5", "ap@5"),
        ("map_cut_5", "ap@5"),
        ("mrr", "rr"),
        ("RR@10", "rr@10"),
        ("recip_rank", "rr"),
        ("P_5", "p@5"),
        ("precision@5", "p@5"),
        ("R@20", "recall@20"),
        ("recall_1000", "recall@1000"),
        ("hit_rate@1", "success@1"),
        ("success_1", "success@1"),
    ],
)
def test_other_tools_spellings_keep_their_text_and_mean_the_same(spelling, measure):
    found = rankopt.evaluate(SCORES, data(), [spelling, measure])
    assert found.mean[spelling] == found.mean[measure]
    assert str(as_measure(spelling)) == measure


def test_an_unknown_convention_names_the_nearest():
    with pytest.raises(SpecError, match="did you mean 'sklearn'"):
        rankopt.evaluate(SCORES, data(), "rr", convention="sklern")


def test_document_order_needs_identifiers():
    with pytest.raises(DataError, match="the data has none"):
        rankopt.evaluate(SCORES, data(), "rr", convention="trec_eval")
