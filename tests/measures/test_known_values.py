"""Each measure on lists worked out by hand or printed in the literature."""

import math

import numpy as np
import pytest

import rankopt
from rankopt.measures import ERR, NDCG, RBP, as_measure

LOG3 = math.log2(3)


def value(text, labels, convention="rankopt"):
    """The value of labels that stand in ranked order."""
    data = rankopt.dataset(np.zeros((len(labels), 1)), labels, docs=range(len(labels)))
    scores = -np.arange(len(labels), dtype=float)
    return rankopt.evaluate(scores, data, [text], convention=convention).mean[text]


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        # Linear gain on 3 2 3 0 1 2, the worked example that most textbooks share.
        ("dcg(gain=linear)", [3, 2, 3, 0, 1, 2], 6.861126688593502),
        ("ndcg(gain=linear)", [3, 2, 3, 0, 1, 2], 0.9608081943360617),
        ("dcg", [3, 2, 3, 0, 1, 2], 13.848263629272981),
        ("ndcg", [3, 2, 3, 0, 1, 2], 0.9488107485678985),
        ("dcg@1", [3, 2], 7.0),
        ("dcg", [0, 1], 1 / LOG3),
        ("dcg(discount=letor)", [1, 1, 1, 1], 1 + 1 + 1 / LOG3 + 1 / 2),
        ("dcg(discount=rank)", [1, 1, 1], 1 + 1 / 2 + 1 / 3),
        ("dcg(gain=[0, 10, 11])", [2, 1], 11 + 10 / LOG3),
        ("ndcg@1", [0, 4], 0.0),
        ("ndcg@2", [0, 4], 1 / LOG3),
        ("ndcg(short=zero)@3", [4, 0], 0.0),
        ("ndcg(short=zero)@2", [4, 0], 1.0),
        ("mean-ndcg", [0, 1], (0 + 1 / LOG3) / 2),
        ("mean-ndcg(discount=letor)", [0, 1, 0], (0 + 1 + 1) / 3),
        ("ap", [1, 0, 1, 0, 1], (1 / 1 + 2 / 3 + 3 / 5) / 3),
        ("ap@3", [1, 0, 1, 0, 1], (1 / 1 + 2 / 3) / 3),
        ("ap@2", [1, 0, 1, 0, 1], (1 / 1) / 2),
        ("ap(denominator=relevant)@2", [1, 0, 1, 0, 1], (1 / 1) / 3),
        ("ap(relevant_from=2)", [1, 2, 1, 3], (1 / 2 + 2 / 4) / 2),
        ("p@2", [1, 0, 1], 1 / 2),
        ("p@5", [1, 0, 1], 2 / 5),
        ("p(denominator=rows)@5", [1, 0, 1], 2 / 3),
        ("recall@1", [1, 0, 1], 1 / 2),
        ("recall@9", [1, 0, 1], 1.0),
        ("success@1", [0, 3], 0.0),
        ("success@2", [0, 3], 1.0),
        ("rr", [0, 0, 1, 1], 1 / 3),
        ("rr@2", [0, 0, 1, 1], 0.0),
        # ERR of one perfect row of the highest grade is (2^4 - 1) / 2^4 and not 1.
        ("err", [4], 15 / 16),
        ("err", [2, 4], 3 / 16 + (13 / 16) * (15 / 16) / 2),
        ("err@1", [2, 4], 3 / 16),
        ("err(max_grade=2)", [2, 1], 3 / 4 + (1 / 4) * (1 / 4) / 2),
        ("err(gain=linear, max_grade=1)", [0.5, 1], 0.5 + 0.5 / 2),
        ("rbp(max_grade=1)", [1, 0, 1], 0.2 * (1 + 0.64)),
        ("rbp(p=0.5, max_grade=2)@2", [1, 2, 2], 0.5 * (0.5 + 0.5)),
        ("tau", [3, 2, 1], 1.0),
        ("tau", [1, 2, 3], -1.0),
        ("tau", [2, 2, 1], 1.0),
        ("tau", [2, 0, 1], 1 / 3),
    ],
)
def test_values_by_hand(text, labels, expected):
    assert value(text, labels) == pytest.approx(expected, rel=1e-14)


def test_a_constant_scorer_earns_nothing_from_the_order_of_the_file():
    data = rankopt.dataset(np.zeros((30, 1)), [4] * 3 + [0] * 27)
    results = rankopt.evaluate(np.zeros(30), data, ["ndcg@10", "map@10", "mrr@10", "p@10"])
    assert set(results.mean.values()) == {0.0}


def test_err_and_rbp_do_not_depend_on_the_labels_at_hand():
    for measure in (ERR(), RBP()):
        low, high = [1.0, 0.0], [1.0, 0.0, 4.0]
        text = str(measure)
        first = measure.gains(np.array(low))
        assert np.array_equal(first, measure.gains(np.array(high))[:2]), text


def test_a_gain_table_is_a_gain_of_its_own():
    exponential = as_measure("ndcg(gain=[0, 1, 3, 7, 15])")
    labels = np.array([0.0, 4.0, 2.0, 3.0, 1.0])
    assert np.array_equal(exponential.gains(labels), NDCG().gains(labels))


def test_gains_of_real_labels():
    labels = np.array([0.0, 0.5, 2.25])
    np.testing.assert_allclose(NDCG().gains(labels), [0.0, 2**0.5 - 1, 2**2.25 - 1], rtol=1e-15)
    assert NDCG(gain="linear").gains(labels).tolist() == [0.0, 0.5, 2.25]


@pytest.mark.parametrize(
    ("text", "label", "words"),
    [
        ("ndcg", 31.5, "from 0 to 31"),
        ("ndcg", -0.5, "from 0 to 31"),
        ("ndcg(gain=linear)", -1.0, "from 0"),
        ("ndcg(gain=[0, 1, 3])", 3.0, "whole numbers from 0 to 2 (the gain table)"),
        ("dcg(gain=[0, 1, 3])", 0.5, "whole numbers from 0 to 2 (the gain table)"),
        ("err", 5.0, "from 0 to max_grade = 4 (set max_grade)"),
        ("rbp(max_grade=1)", 2.0, "from 0 to max_grade = 1 (set max_grade)"),
    ],
)
def test_a_label_outside_the_domain_says_what_the_domain_is(text, label, words):
    data = rankopt.dataset(np.zeros((3, 1)), [0, 1, label], qid=["b", "a", "b"])
    with pytest.raises(rankopt.DataError) as caught:
        rankopt.evaluate([1.0, 2.0, 3.0], data, [text])
    line = str(caught.value)
    assert line.startswith(f"labels: row 3 (query b) has label {label:g}, outside the domain of ")
    assert line.endswith(words)


@pytest.mark.parametrize("text", ["ap", "rr", "p@2", "recall@2", "success@2", "tau"])
def test_any_number_is_a_label_of_a_binary_measure(text):
    assert value(text, [-3.5, 1e9]) == value(text, [0.0, 1.0])


@pytest.mark.parametrize("text", ["ndcg", "ndcg(gain=linear)@2", "err(max_grade=31)"])
def test_high_labels_stay_finite(text):
    assert 0.0 < value(text, [30, 31, 0]) < 1.0
