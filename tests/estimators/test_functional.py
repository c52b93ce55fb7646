"""FunctionalRank: its losses by their parts, its prior, scikit-learn's contract."""

import json
import warnings
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankopt
from rankopt.errors import DataError, IncompatibleError, RankoptError, SpecError
from rankopt.objectives import OBJECTIVES


def problem(n_queries=30, width=4, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    X = rng.normal(size=(sizes.sum(), width)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, -3.0]
    y = np.clip(np.round(X @ [1.0, 0.1, 0.0, 0.0] + rng.normal(size=len(X)) * 0.5 + 0.5), 0, 4)
    return rankopt.dataset(X, y, np.repeat(np.arange(n_queries), sizes))


@parametrize_with_checks([rankopt.FunctionalRank(max_iter=10)])
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"loss": "hinge", "weight": "max-ndcg"}, "pairwise(loss=hinge, weight=max-ndcg)"),
        ({"loss": "plackett-luce", "group": "max"}, "plackett-luce(group=max)"),
        ({"loss": "pseudo-likelihood(max_grade=2)", "weight": "grade"},
         "pseudo-likelihood(weight=grade, max_grade=2)"),
        ({"loss": "multiclass"}, "multiclass"),
    ],
)  # fmt: skip
def test_weight_and_group_go_into_the_loss(parameters, text):
    _, loss, _ = rankopt.FunctionalRank(**parameters)._parts()
    assert loss == OBJECTIVES.build(text)


def test_the_minimum_is_that_of_loss_and_prior():
    """The derivative of the mean loss plus l2 times the squared norm vanishes at the weights."""
    data, l2 = problem(), 0.01
    model = rankopt.FunctionalRank(loss="logistic", weight="inverse-size", l2=l2, tol=1e-9).fit(
        data
    )

    def total(w):
        loss, slope = rankopt.value_grad(
            "pairwise(logistic, weight=inverse-size)", data.X @ w, data.y,
            data.groups.spread(data.groups.qids),
        )  # fmt: skip
        return loss + l2 * w @ w, data.X.T @ slope + 2 * l2 * w

    assert np.abs(total(model.coef_)[1]).max() < 1e-5
    assert check_grad(lambda w: total(w)[0], lambda w: total(w)[1], np.ones(4)) < 1e-5


def test_standardisation_is_folded_into_the_weights():
    data = problem()
    center, scale = data.X.mean(axis=0), data.X.std(axis=0)
    by_hand = rankopt.dataset((data.X - center) / scale, data.y, group=data.groups.sizes)
    model = rankopt.FunctionalRank(loss="multiclass", normalize="standard").fit(data)
    other = rankopt.FunctionalRank(loss="multiclass").fit(by_hand)
    np.testing.assert_allclose(model.coef_ * scale, other.coef_, rtol=1e-6)
    np.testing.assert_allclose(data.X @ model.coef_, model.predict(data), rtol=1e-12)


@pytest.mark.parametrize("solver", ["adam(learning_rate=0.05)", "sgd(learning_rate=0.05, batch=8)"])
def test_stochastic_solvers_come_near_the_minimum(solver):
    data = problem()
    options = {"loss": "plackett-luce", "normalize": "standard", "random_state": 0}
    exact = rankopt.FunctionalRank(**options).fit(data)
    rough = rankopt.FunctionalRank(**options, solver=solver, max_iter=60).fit(data)
    assert rough.history_[-1].value == pytest.approx(exact.history_[-1].value, rel=0.01)


def test_what_does_not_fit_is_refused():
    data = problem()
    for parameters, words in {
        ("approx(ndcg)", "grade", None): "weight: the loss approx takes none",
        (
            "logistic",
            None,
            "max",
        ): "group: the loss pairwise takes none; those that do: multiclass, plackett",
        ("logistic", "gain", None): "unknown weight 'gain'",
        ("direct", None, None): None,
    }.items():
        loss, weight, group = parameters
        model = rankopt.FunctionalRank(loss=loss, weight=weight, group=group)
        with pytest.raises(IncompatibleError if words is None else SpecError, match=words):
            model.fit(data)


def separate(n_queries=60, seed=0):
    """Queries of their own features, which decide what objects are good; a sparse copy of both."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 8, n_queries)
    Q, X = rng.normal(size=(n_queries, 3)), rng.normal(size=(sizes.sum(), 4))
    truth = (np.repeat(Q @ [[1, 0], [0, 1], [1, 1]], sizes, axis=0) * X[:, :2]).sum(axis=1)
    y = np.digitize(truth, [0.0, 1.0, 2.0])
    return rankopt.dataset(X, y, group=sizes, query_features=Q)


@pytest.mark.parametrize("scorer", ["bilinear(d=2)", "bilinear(none, d=2)", "distance(d=3)"])
def test_separate_representations_learn_and_are_kept(scorer, tmp_path):
    data, other = separate(), separate(seed=1)
    sparse = replace(other, X=csr_array(other.X), Q=csr_array(other.Q))
    model = rankopt.FunctionalRank(scorer, random_state=0, l2=1e-5, max_iter=500).fit(data)
    assert model.score(other) > 0.9
    assert rankopt.FunctionalRank().fit(data).score(other) < 0.85
    model.save(tmp_path / "m.rankopt")
    again = rankopt.load(tmp_path / "m.rankopt")
    np.testing.assert_array_equal(again.predict(other), model.predict(other))
    np.testing.assert_allclose(again.predict(sparse), model.predict(other), rtol=1e-9)
    narrow = replace(other, Q=other.Q[:, :2])
    with pytest.raises(DataError, match="has 2 query features, but the model was trained on 3"):
        again.predict(narrow)
    with pytest.raises(DataError, match="0 query features"):
        again.predict(replace(other, Q=None))


def test_standardised_objects_beside_raw_queries():
    data = separate()
    data = replace(data, X=data.X * [1.0, 100.0, 1.0, 0.01] + [0.0, 7.0, 0.0, 1.0])
    scaling = data.X.mean(axis=0), data.X.std(axis=0)
    by_hand = replace(data, X=(data.X - scaling[0]) / scaling[1])
    options = {"scorer": "bilinear(d=2)", "random_state": 0, "max_iter": 30}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        model = rankopt.FunctionalRank(**options, normalize="standard").fit(data)
        other = rankopt.FunctionalRank(**options).fit(by_hand)
    for q in range(5):
        rows = slice(*data.groups.offsets[q : q + 2])
        apart = model.predict(data)[rows] - other.predict(by_hand)[rows]
        np.testing.assert_allclose(apart, apart[0], rtol=1e-4, atol=1e-4)
    with pytest.raises(IncompatibleError, match="which distance cannot do"):
        rankopt.FunctionalRank("distance", normalize="standard").fit(data)


def test_query_columns_split_one_matrix(tmp_path):
    """In any row order, by number or name, from arrays as from a dataset without Q."""
    data = separate()
    both = np.column_stack((data.X[:, :2], data.groups.spread(data.Q), data.X[:, 2:]))
    qid = data.groups.spread(data.groups.qids)
    options = {"scorer": "bilinear(d=2)", "random_state": 0, "max_iter": 50, "tol": 1.0}
    apart = rankopt.FunctionalRank(**options).fit(data)
    whole = rankopt.FunctionalRank(**options, query_columns=[4, 2, 3]).fit(both, data.y, qid=qid)
    wanted = apart.predict(data)
    np.testing.assert_array_equal(whole.predict(both, qid=qid), wanted)
    np.testing.assert_array_equal(whole.predict(both), wanted)
    order = np.random.default_rng(0).permutation(len(qid))
    np.testing.assert_array_equal(whole.predict(both[order], qid=qid[order]), wanted[order])
    np.testing.assert_allclose(whole.predict(csr_array(both)), wanted, rtol=1e-9)
    assert whole.score(both, data.y, qid=qid) == apart.score(data)
    whole.save(tmp_path / "m.rankopt")
    np.testing.assert_array_equal(rankopt.load(tmp_path / "m.rankopt").predict(both), wanted)
    names = ("a", "b", "u", "v", "w", "c", "d")
    named = rankopt.dataset(both, data.y, qid, features=names)
    by_name = rankopt.FunctionalRank(**options, query_columns=["u", "v", "w"]).fit(named)
    np.testing.assert_array_equal(by_name.predict(named), wanted)
    both[1, 3] += 1.0
    with pytest.raises(DataError, match="query column 3 varies within query 0"):
        whole.fit(both, data.y, qid=qid)
    with pytest.raises(DataError, match="query column v varies within query 0"):
        by_name.predict(rankopt.dataset(both, qid=qid, features=names))
    for columns, words in {
        (9,): "no column 9",
        ("z",): "named 'z'",
        tuple(range(7)): "some of",
    }.items():
        with pytest.raises(SpecError, match=words):
            rankopt.FunctionalRank(query_columns=columns).fit(named)


def test_separate_scorers_without_query_features_say_what_is_missing():
    with pytest.raises(DataError, match=r"distance needs features of the queries.*query_columns"):
        rankopt.FunctionalRank("distance").fit(problem())
    with pytest.raises(DataError, match="query_features has 2 rows for 3 queries"):
        rankopt.dataset(np.eye(3), [0, 1, 2], [1, 2, 3], query_features=np.eye(2))


ANSWERS = {"where": "river city town", "who": "painter writer king", "when": "may june july"}


def talk(n_queries=50, seed=0):
    """Answers to where, who and when: one of each kind to every question, and one is right."""
    rng = np.random.default_rng(seed)
    questions, answers, labels = [], [], []
    for q in range(n_queries):
        asked = rng.choice(list(ANSWERS))
        questions += [f"{asked} x{rng.integers(9)} question{q}"] * 3
        answers += [f"some {rng.choice(words.split())}" for words in ANSWERS.values()]
        labels += [float(kind == asked) for kind in ANSWERS]
    return questions, answers, labels


def as_pairs(path, rows):
    lines = [f"{q}\t{a}\t{y:g}" for q, a, y in zip(*rows, strict=True)]
    path.write_text("\n".join(["question\tanswer\tlabel", *lines, ""]))
    return rankopt.read_pairs(path)


@pytest.mark.parametrize("weighting", ["tf", "tf-idf"])
def test_text_is_learned_from_and_its_words_are_kept_in_the_file(tmp_path, weighting):
    train = as_pairs(tmp_path / "train.tsv", talk())
    test = as_pairs(tmp_path / "test.tsv", talk(seed=1))
    text = f"words(n=40, stop_words=none, weighting={weighting})"
    model = rankopt.FunctionalRank(
        "bilinear(d=3)", "multiclass", text=text, random_state=0, measure="rr"
    ).fit(train, eval_set=[test])
    assert model.score(test) > 0.95
    assert model.model_.recipe.notes["words_of_answers"] == 10  # some, and three of each kind
    model.save(tmp_path / "m.rankopt")
    again = rankopt.load(tmp_path / "m.rankopt")
    np.testing.assert_array_equal(again.predict(test), model.predict(test))
    assert rankopt.evaluate(again, test, ["rr"]).mean["rr"] == model.score(test)
    with pytest.raises(DataError, match="holds features, but the model takes text"):
        again.predict(problem())
    with pytest.raises(DataError, match=r"train.tsv: holds text, and DirectRank takes features"):
        rankopt.DirectRank().fit(train)
    with pytest.raises(DataError, match="holds text, but the model takes features"):
        rankopt.FunctionalRank().fit(problem()).predict(test)


def test_a_damaged_vocabulary_is_refused(tmp_path):
    train = as_pairs(tmp_path / "train.tsv", talk(5))
    path = tmp_path / "m.rankopt"
    text = "words(weighting=tf-idf, stop_words=none)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        model = rankopt.FunctionalRank("bilinear(d=2)", text=text, max_iter=2).fit(train)
    damages = {
        "parameters, but bilinear": lambda h: h["text"]["answers"].append("new"),
        "holds a word twice": lambda h: h["text"]["answers"].append(h["text"]["answers"][0]),
        "text or features, not both": lambda h: h.update(n_features=3),
        "unknown text": lambda h: h["text"].update(spec="system"),
        "has no vocabulary": lambda h: h["text"].update(spec="words(hashed=true)"),
        "weights for": lambda h: h["text"].update(spec="words(stop_words=none)"),
    }
    for words, damage in damages.items():
        model.save(path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        header = json.loads(members["model.json"])
        damage(header)
        members["model.json"] = json.dumps(header).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        with pytest.raises(RankoptError, match="weights for" if "but bili" in words else words):
            rankopt.load(path)
