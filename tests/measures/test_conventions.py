"""Conventions: their names, what they set, and how they are changed."""

import math

import numpy as np
import pytest

import rankopt
from rankopt.errors import SpecError
from rankopt.measures import CONVENTIONS, MEASURES, Convention, as_convention, as_measure

BLANK_FIRST = {"y": [0, 0, 3, 0, 1], "group": [2, 3], "query_weight": [3.0, 1.0]}
SCORES = [1.0, 2.0, 1.0, 2.0, 3.0]


def evaluated(measure, convention):
    data = rankopt.dataset(np.zeros((5, 1)), docs=list("abcde"), **BLANK_FIRST)
    results = rankopt.evaluate(SCORES, data, [measure], convention=convention)
    return results.per_query[measure], results.mean[measure]


def test_the_named_conventions():
    assert set(CONVENTIONS) == {
        "rankopt", "letor", "trec_eval", "gdeval", "lightgbm", "xgboost", "catboost", "sklearn",
        "ranx", "ranklib", "yahoo",
    }  # fmt: skip
    for name, convention in CONVENTIONS.items():
        assert convention.name == name
        assert as_convention(name) is convention
        assert as_convention(convention) is convention


@pytest.mark.parametrize("name", list(CONVENTIONS))
def test_a_convention_sets_parameters_that_exist(name):
    convention = CONVENTIONS[name]
    assert set(convention.defaults) | set(convention.blanks) <= set(MEASURES)
    for measure, parameters in convention.defaults.items():
        k = "" if measure in ("mean-ndcg", "tau") else "@5"
        made = as_measure(f"{measure}{k}", convention)
        assert {key: getattr(made, key) for key in parameters} == parameters


def test_what_the_text_says_wins_over_the_convention():
    assert str(as_measure("ndcg@5", "sklearn")) == "ndcg(gain=linear)@5"
    assert str(as_measure("ndcg(gain=exponential)@5", "sklearn")) == "ndcg@5"
    assert str(as_measure("map@5", "trec_eval")) == "ap(denominator=relevant)@5"
    assert str(as_measure("map(denominator=min)@5", "trec_eval")) == "ap@5"


@pytest.mark.parametrize(
    ("measure", "convention", "blank"),
    [
        ("ndcg@5", "rankopt", 0.0),
        ("ndcg@5", "lightgbm", 1.0),
        ("map", "lightgbm", 1.0),
        ("recall@5", "catboost", 1.0),
        ("map", "catboost", 0.0),
        ("p@5", "xgboost", 0.0),
        ("mrr", "lightgbm", 0.0),
        ("dcg", "lightgbm", 0.0),
        ("err", "yahoo", 0.0),
        ("ndcg@10", "yahoo", 1.0),
        ("ndcg@5", "gdeval", math.nan),
        ("mrr", "gdeval", math.nan),
    ],
)
def test_blank_queries_count_as_the_convention_says(measure, convention, blank):
    per_query, mean = evaluated(measure, convention)
    assert per_query[0] == pytest.approx(blank, nan_ok=True)
    kept = np.array([0.0 if math.isnan(blank) else 3.0, 1.0])
    assert mean == pytest.approx(np.nansum(kept * per_query) / kept.sum(), rel=1e-14)


def test_all_queries_blank_and_left_out_is_zero_and_not_an_error():
    data = rankopt.dataset(np.zeros((2, 1)), [0, 0], docs=["a", "b"])
    assert rankopt.evaluate([1.0, 2.0], data, ["ndcg"], convention="gdeval").mean == {"ndcg": 0.0}


def test_ties_and_blank_queries_can_be_counted_otherwise():
    changed = as_convention("catboost", ties="average", blank="zero")
    assert (changed.ties, changed.blank, dict(changed.blanks)) == ("average", "zero", {})
    assert changed.defaults == CONVENTIONS["catboost"].defaults
    assert CONVENTIONS["catboost"].blanks == {"ap": "zero"}
    assert as_convention("catboost", ties="stable").blanks == {"ap": "zero"}
    assert as_convention(changed, blank="skip").ties == "average"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: as_convention("letr"), "unknown convention 'letr'; did you mean 'letor'?"),
        (lambda: as_convention("zzz"), "unknown convention 'zzz'; known: rankopt, letor, "),
        (lambda: as_convention("letor", ties="file"), "unknown ties 'file'; use one of pess"),
        (lambda: as_convention("letor", blank="drop"), "unknown blank 'drop'; use zero, one or sk"),
        (lambda: Convention("mine", blanks={"ap": "two"}), "unknown blank 'two'; use zero"),
    ],
)
def test_an_unknown_word_is_refused_with_a_way_out(make, message):
    with pytest.raises(SpecError) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_a_convention_describes_itself_in_plain_values():
    assert CONVENTIONS["rankopt"].describe() == {
        "name": "rankopt",
        "ties": "pessimistic",
        "blank": "zero",
    }
    said = CONVENTIONS["catboost"].describe()
    assert said["blanks"] == {"ap": "zero"}
    assert said["p"] == {"denominator": "rows"}
    assert said["err"] == {"gain": "linear", "max_grade": 1.0}
    assert CONVENTIONS["letor"].describe()["ndcg"] == {"discount": "letor", "short": "zero"}


def test_document_ties_need_documents():
    data = rankopt.dataset(np.zeros((2, 1)), [0, 1])
    with pytest.raises(rankopt.DataError, match="need identifiers, and the data has none"):
        rankopt.evaluate([1.0, 1.0], data, ["map"], convention="trec_eval")
