"""Texts of measures, and parameters without sense."""

import numpy as np
import pytest

from rankopt.data.groups import Groups
from rankopt.errors import DataError, SpecError
from rankopt.measures import ERR, MEASURES, NDCG, RBP, AveragePrecision, Precision, as_measure


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("ndcg@10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("NDCG(gain=exponential)@10", "ndcg@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("map", "ap"),
        ("MAP@100", "ap@100"),
        ("map_cut_100", "ap@100"),
        ("mrr", "rr"),
        ("recip_rank", "rr"),
        ("P_5", "p@5"),
        ("precision@5", "p@5"),
        ("recall_20", "recall@20"),
        ("hit@3", "success@3"),
        ("success_3", "success@3"),
        ("rbp(0.9)", "rbp(p=0.9)"),
        ("rbp(p=0.8)", "rbp"),
        ("kendall", "tau"),
        ("MeanNDCG", "mean-ndcg"),
        ("ndcg(gain=[0,1,3])@5", "ndcg(gain=[0, 1, 3])@5"),
    ],
)
def test_spellings(text, printed):
    assert str(as_measure(text)) == printed


def test_a_measure_passes_through_whatever_the_convention():
    measure = NDCG(k=5)
    assert as_measure(measure, "sklearn") is measure


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "unknown measure 'ndgc'; did you mean 'ndcg'?"),
        ("ndcg(gain=linar)", "ndcg: unknown gain 'linar'; use exponential, linear or a table"),
        ("ndcg(gain=3)", "ndcg: a gain table is [0, 1, 3] in text"),
        ("dcg(gain=[1])", "dcg: a gain table holds at least two finite gains, none negative"),
        ("dcg(gain=[0, -1])", "dcg: a gain table holds at least two finite gains, none negative"),
        ("dcg(gain=[0, inf])", "dcg: a gain table holds at least two finite gains, none negative"),
        ("dcg(gain=[0, true])", "dcg: a gain table holds at least two finite gains"),
        ("ndcg(discount=log)", "ndcg: unknown discount 'log'; use log2, letor or rank"),
        ("ndcg(short=drop)@5", "ndcg: unknown short 'drop'; use keep or zero"),
        ("ap(denominator=k)", "ap: unknown denominator 'k'; use min or relevant"),
        ("p(denominator=min)@5", "p: unknown denominator 'min'; use k or rows"),
        ("err(max_grade=0)", "err: max_grade 0 must lie between 0 and 31"),
        ("err(max_grade=40)", "err: max_grade 40 must lie between 0 and 31"),
        ("err(gain=square)", "err: unknown gain 'square'; use exponential or linear"),
        ("rbp(p=1)", "rbp: p = 1 must lie between 0 and 1"),
        ("rbp(p=0)", "rbp: p = 0 must lie between 0 and 1"),
        ("rbp(p=high)", "rbp: p is a finite number, not 'high'"),
        ("rbp(max_grade=-1)", "rbp: max_grade -1 must be positive"),
        ("ap(relevant_from=two)", "ap: relevant_from is a finite number, not 'two'"),
        ("ap(relevant_from=true)", "ap: relevant_from is a finite number, not True"),
        ("rr(relevant_from=inf)", "rr: relevant_from is a finite number, not inf"),
        ("tau@5", "tau has no cut-off: write 'tau' without '@5'"),
        ("mean-ndcg@5", "mean-ndcg has no cut-off: write 'mean-ndcg' without '@5'"),
        ("p", "p needs a cut-off, as in p@10"),
        ("ap(relevant=2)", "ap: no parameter 'relevant'; did you mean 'relevant_from'?"),
    ],
)
def test_a_measure_without_sense_is_refused_with_a_way_out(text, message):
    with pytest.raises(SpecError) as caught:
        as_measure(text)
    assert str(caught.value).startswith(message)


def test_objects_are_checked_as_texts_are():
    for make in (
        lambda: NDCG(gain=[0, 1, 3]),
        lambda: NDCG(k=0),
        Precision,
        lambda: RBP(p=2.0),
        lambda: ERR(max_grade=float("nan")),
        lambda: AveragePrecision(relevant_from=None),
    ):
        with pytest.raises(SpecError):
            make()


def test_measures_are_values():
    assert {NDCG(k=10), as_measure("ndcg@10")} == {NDCG(k=10)}
    assert NDCG(k=10) != NDCG(k=9)
    with pytest.raises(AttributeError):
        NDCG().k = 3


def test_aliases_point_to_registered_names():
    assert set(MEASURES.aliases.values()) <= set(MEASURES)
    assert not set(MEASURES.aliases) & set(MEASURES)


def test_a_cut_off_of_any_size_works():
    bound = as_measure(f"ndcg@{10**20}").bind(np.array([0.0, 1.0]), Groups.from_sizes([2]))
    assert bound.values(np.array([1.0, 2.0])).tolist() == [1.0]
    assert bound.k == 2


def test_ties_by_document_compare_identifiers_as_text():
    bound = as_measure("rr").bind(np.array([1.0, 0.0]), Groups.from_sizes([2]))
    for docs in (np.array([9, 10]), np.array(["9", "10"])):
        assert bound.values(np.zeros(2), "docid", docs).tolist() == [1.0]  # "9" sorts after "10"
    with pytest.raises(DataError, match="ties by document identifier need identifiers"):
        bound.values(np.zeros(2), "docid")
    with pytest.raises(SpecError, match="unknown ties 'random'; use one of pessimistic,"):
        bound.values(np.zeros(2), "random")
