"""MarginRank: its certificate, its options and what it refuses, as users meet them."""

import json
import signal
import warnings
from unittest import mock

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankopt
from rankopt.baselines import SVMMAP
from rankopt.cli import main as command_line
from rankopt.errors import IncompatibleError, SpecError
from rankopt.objectives import OBJECTIVES
from rankopt.scorers import Linear
from rankopt.solvers import L2, Problem
from rankopt.solvers.bundle import downhill
from rankopt.solvers.starts import grades

SOLVERS_OF_ISSUE = ("cutting-plane", "cutting-plane(slacks=n)", "subgradient", "bundle")


def problem(n_queries=30, width=4, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 12, n_queries)
    X = rng.normal(size=(sizes.sum(), width))
    scores = X @ np.linspace(1, -0.5, width) + noise * rng.normal(size=len(X))
    y = np.clip(np.round(scores + 1), 0, 4)
    return X, y, np.repeat([f"q{i}" for i in range(n_queries)], sizes)


def at(model, X, y, qid, text, towards=None):
    """The problem that a fitted model solved, at its weights."""
    data = rankopt.dataset(X, y, qid)
    loss = OBJECTIVES.build(text).bind(data.labels, data.groups)
    return Problem(data, Linear(), loss, L2(model.l2_, towards)).value_grad(model.coef_)[0]


@parametrize_with_checks(
    [
        rankopt.MarginRank(max_iter=30, tol=0.1),
        rankopt.MarginRank(bound="tight", max_iter=5, tol=0.1),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.mark.parametrize("solver", SOLVERS_OF_ISSUE)
def test_the_certificate_is_true(solver):
    X, y, qid = problem()
    model = rankopt.MarginRank("ndcg@5", solver=solver, l2=0.01, tol=1e-4).fit(X, y, qid=qid)
    assert model.objective_ == pytest.approx(at(model, X, y, qid, "margin(ndcg@5)"), rel=1e-12)
    assert model.gap_ == model.objective_ - model.bound_ == model.history_[-1].gap
    assert 0.0 <= model.gap_ <= 1e-4 * model.objective_
    best = rankopt.MarginRank("ndcg@5", l2=0.01, tol=1e-6).fit(X, y, qid=qid)
    assert model.bound_ <= best.objective_ <= model.objective_ + 1e-6
    assert "stopping rule" in model.status_
    assert not model.collapsed_
    notes = model.model_.recipe.notes
    assert (notes["primal"], notes["dual"]) == (model.objective_, model.bound_)
    assert 1.0 - model.score(X, y, qid=qid) <= model.objective_


@pytest.mark.parametrize("solver", ["auto", "bundle", "cutting-plane(slacks=n)"])
def test_the_tight_bound_starts_at_the_regression_and_is_pulled_there(solver):
    X, y, qid = problem(noise=1.5)
    data = rankopt.dataset(X, y, qid)
    start = grades(data, 2.0**data.labels - 1.0)
    model = rankopt.MarginRank("ndcg@5", bound="tight", solver=solver, l2=0.1).fit(X, y, qid=qid)
    value = at(model, X, y, qid, "margin(ndcg@5, bound=tight)", start)
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    loss = OBJECTIVES.build("margin(ndcg@5, bound=tight)").bind(data.labels, data.groups)
    assert value < loss.value_grad(data.X @ start)[0]
    assert model.bound_ is None
    assert model.gap_ is None
    held = rankopt.MarginRank("ndcg@5", bound="tight", solver=solver, l2=1e6).fit(X, y, qid=qid)
    np.testing.assert_allclose(held.coef_, start, atol=1e-4)


def test_the_convex_bound_collapses_where_nothing_can_be_learned():
    X, y, qid = problem(n_queries=80)
    y = np.random.default_rng(5).permutation(y)
    with pytest.warns(ConvergenceWarning, match="no lower than at w = 0"):
        model = rankopt.MarginRank("ndcg@5", l2=1e-3).fit(X, y, qid=qid)
    assert model.collapsed_
    assert model.bound_ >= 0.99 * model.objective_


def test_a_kernel_of_degree_one_is_the_linear_model():
    X, y, qid = problem()
    kernel = "kernel(polynomial, gamma=1, degree=1, method=kpca)"
    for bound in ("convex", "tight"):
        options = {"bound": bound, "l2": 0.01, "tol": 1e-6, "start": "zero"}
        flat = rankopt.MarginRank("ndcg@5", **options).fit(X, y, qid=qid)
        bent = rankopt.MarginRank("ndcg@5", scorer=kernel, **options).fit(X, y, qid=qid)
        assert bent.objective_ == pytest.approx(
            flat.objective_, rel=2e-3 if bound[0] == "t" else 2e-6
        )
        assert not hasattr(bent, "coef_")
    convex = rankopt.MarginRank("ndcg@5", l2=0.01, tol=1e-8).fit(X, y, qid=qid)
    bent = rankopt.MarginRank("ndcg@5", scorer=kernel, l2=0.01, tol=1e-8).fit(X, y, qid=qid)
    difference = bent.predict(X) - convex.predict(X)
    np.testing.assert_allclose(difference, difference.mean(), atol=2e-3)


def test_a_kernel_learns_what_no_line_can(tmp_path):
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(300, 2)), np.repeat(np.arange(30), 10)
    y = (X[:, 0] * X[:, 1] > 0.3).astype(float)
    scores = {}
    for scorer in ("kernel(rbf, gamma=0.5, components=60)", "kernel(rbf, gamma=0.5, method=kpca)"):
        model = rankopt.MarginRank("ap", scorer=scorer, l2=1e-4, tol=0.01, random_state=0)
        scores[scorer] = model.fit(X, y, qid=qid).score(X, y, qid=qid)
        assert model.gap_ <= 0.01 * model.objective_
        model.save(tmp_path / "model.rankopt")
        again = rankopt.load(tmp_path / "model.rankopt")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert min(scores.values()) > 0.95


@pytest.mark.parametrize(
    "positions", ["linear", "root", "discount", [3, 2, 1], np.array([1.0, 0.5])]
)
def test_position_weights(positions):
    X, y, qid = problem()
    model = rankopt.MarginRank("ndcg@5", position_weights=positions, l2=1e-3, tol=0.01)
    assert model.fit(X, y, qid=qid).score(X, y, qid=qid) > 0.8
    kept = model.position_weights_
    assert kept == positions if isinstance(positions, str) else list(kept) == list(positions)


def test_strengths_and_positions_are_chosen_on_validation_data():
    X, y, qid = problem()
    Xv, yv, qv = problem(seed=1)
    valid = {"eval_set": [(Xv, yv)], "eval_qid": [qv]}
    strengths = (1e-3, 0.1, 10.0)
    scores = {
        l2: rankopt.MarginRank("ndcg@3", l2=l2).fit(X, y, qid=qid).score(Xv, yv, qid=qv)
        for l2 in strengths
    }
    model = rankopt.MarginRank("ndcg@3", l2=strengths).fit(X, y, qid=qid, **valid)
    assert model.best_score_ == pytest.approx(max(scores.values()), abs=1e-12)
    assert scores[model.l2_] == max(scores.values())
    values = model.evals_result_["valid_0"]["ndcg@3"]
    assert values[model.best_iteration_] == model.best_score_
    learned = rankopt.MarginRank("ndcg@3", l2=0.1, position_weights="learned")
    learned.fit(X, y, qid=qid, **valid)
    assert learned.best_score_ >= scores[0.1]
    table = np.array(learned.position_weights_)
    assert table.size == 3
    assert table[0] == 3.0
    assert np.all(np.diff(table) <= 0.0)
    again = rankopt.MarginRank("ndcg@3", l2=0.1, position_weights=table).fit(X, y, qid=qid)
    np.testing.assert_array_equal(again.coef_, learned.coef_)


@pytest.mark.parametrize("normalize", ["standard", "query"])
@pytest.mark.parametrize("bound", ["convex", "tight"])
def test_scalings(bound, normalize):
    X, y, qid = problem()
    X = X * [1e3, 1.0, 1e-3, 1.0] + [5.0, 0.0, 0.0, 0.0]
    model = rankopt.MarginRank("ndcg@5", bound=bound, normalize=normalize, l2=1e-3)
    model.fit(X, y, qid=qid)
    scores = model.predict(X, qid)
    assert rankopt.evaluate(scores, rankopt.dataset(X, y, qid), "ndcg@5").mean["ndcg@5"] > 0.8


def test_weights_of_queries_count_as_copies():
    X, y, qid = problem(n_queries=6)
    twice = qid == "q2"
    options = {"l2": 0.05, "tol": 1e-6}
    weights = np.where(twice, 2.0, 1.0)
    a = rankopt.MarginRank("ndcg@5", **options).fit(X, y, qid=qid, query_weight=weights)
    copies = np.concatenate((qid, np.full(twice.sum(), "more")))
    b = rankopt.MarginRank("ndcg@5", **options).fit(
        np.concatenate((X, X[twice])), np.concatenate((y, y[twice])), qid=copies
    )
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-5)
    np.testing.assert_allclose(a.coef_, b.coef_, atol=5e-3)


def test_rescaled_slacks_are_near_the_measure():
    X, y, qid = problem(noise=0.2)
    model = rankopt.MarginRank("ndcg@3", rescale="slack", l2=0.01, tol=0.01, max_iter=300)
    model.fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) > 0.9
    assert 1.0 - model.score(X, y, qid=qid) <= model.objective_


def test_file_keeps_the_model_and_its_certificate(tmp_path):
    import pandas as pd

    X, y, qid = problem()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = rankopt.MarginRank("map", l2=0.01).fit(frame, y, qid=qid)
    model.save(tmp_path / "m.rankopt")
    read = rankopt.load(tmp_path / "m.rankopt")
    assert isinstance(read, rankopt.MarginRank)
    np.testing.assert_array_equal(read.predict(frame), model.predict(frame))
    assert read.get_params() == model.get_params()
    assert read.model_.recipe.notes["gap"] == model.gap_


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"bound": "loose"}, SpecError, "unknown bound 'loose'"),
        ({"solver": "cuting-plane"}, SpecError, "did you mean 'cutting-plane'"),
        ({"position_weights": "cubic"}, SpecError, "unknown positions 'cubic'"),
        ({"position_weights": [1, 2]}, SpecError, "grow with rank"),
        ({"position_weights": "learned"}, SpecError, "needs validation data"),
        ({"l2": 0.0}, SpecError, "must be positive"),
        ({"l2": []}, SpecError, "must be positive"),
        ({"l2": [0.1, 1.0]}, SpecError, "need validation data"),
        ({"start": "high"}, SpecError, "start: unknown 'high'"),
        ({"rescale": "slack", "bound": "tight"}, SpecError, "needs bound=convex"),
        ({"measure": "err"}, IncompatibleError, "two gains"),
        ({"scorer": "quadratic"}, IncompatibleError, "takes the scorers linear and kernel"),
        ({"scorer": "kernel", "normalize": "standard"}, IncompatibleError, "StandardScaler"),
        ({"solver": "bundle(near=0)"}, SpecError, "near is above 0"),
    ],
)
def test_wrong_parameters_are_named(options, error, words):
    X, y, qid = problem()
    with pytest.raises(error, match=words):
        rankopt.MarginRank(**options).fit(X, y, qid=qid)


def test_too_few_iterations_warn_and_still_give_a_model():
    X, y, qid = problem()
    for solver in SOLVERS_OF_ISSUE:
        model = rankopt.MarginRank("ndcg@5", solver=solver, max_iter=2, tol=1e-9)
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            model.fit(X, y, qid=qid)
        assert model.n_iter_ == 2
        assert np.isfinite(model.coef_).all()
        assert model.gap_ is None or model.gap_ > 1e-9


def test_ctrl_c_keeps_the_best_so_far():
    X, y, qid = problem()
    Xv, yv, qv = problem(seed=1)
    whole = rankopt.MarginRank("ndcg@5", solver="cutting-plane", l2=0.01).fit(X, y, qid=qid)
    calls = iter(range(10_000))

    def third(problem, near, far, search=downhill):
        if next(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return search(problem, near, far)

    with mock.patch("rankopt.solvers.bundle.downhill", third):
        model = rankopt.MarginRank("ndcg@5", l2=(0.01, 0.1)).fit(
            X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv]
        )
    assert model.status_.startswith("Interrupted")
    assert model.l2_ == 0.01
    assert model.n_iter_ == 3
    assert model.bound_ <= whole.objective_
    assert model.objective_ == pytest.approx(at(model, X, y, qid, "margin(ndcg@5)"), rel=1e-12)


def command(capsys, *args):
    """Exit status and output of `rankopt` with some arguments."""
    with mock.patch("sys.argv", ["rankopt", *map(str, args)]):
        try:
            command_line.main()
        except SystemExit as end:
            return end.code or 0, capsys.readouterr().out
    return 0, capsys.readouterr().out


def test_the_command_line_trains_it(tmp_path, capsys):
    X, y, qid = problem()
    path = tmp_path / "train.txt"
    rankopt.write_letor(path, rankopt.dataset(X, y, qid))
    for system, settings in (
        ("marginrank", ["-s", "bound=tight", "-s", "position_weights=[3, 2, 1]"]),
        ("marginrank", ["-s", "solver=cutting-plane(slacks=n)", "-s", "l2=[0.01, 0.1]"]),
        ("svmmap", ["-s", "l2=0.01"]),
    ):
        code, out = command(
            capsys, "train", system, path, "--valid", path, "-m", "map", *settings, "--json"
        )
        assert code == 0
        assert json.loads(out)["train"] > 0.7
    assert command(capsys, "train", "marginrank", path, "-s", "bound=loose")[0] == 1


def test_svm_map_is_the_same_problem_by_pairs():
    X, y, qid = problem()
    options = {"l2": 0.01, "tol": 1e-5}
    a = rankopt.MarginRank("ap", position_weights="pairs", solver="bundle", **options)
    b = SVMMAP("ap", **options)
    a.fit(X, y, qid=qid)
    b.fit(X, y, qid=qid)
    assert b.history_[-1].value == pytest.approx(a.objective_, rel=1e-4)
    assert b.history_[-1].gap <= 1e-5 * b.history_[-1].value


@pytest.mark.parametrize("valid", [False, True])
@pytest.mark.parametrize("options", [{}, {"normalize": "standard"}, {"scorer": "kernel"}])
def test_polish_never_lowers_the_training_measure(valid, options):
    X, y, qid = problem()
    Xv, yv, qv = problem(seed=5)
    extra = {"eval_set": [(Xv, yv)], "eval_qid": [qv]} if valid else {}
    given = {"l2": 0.01, "tol": 1e-2, "random_state": 0, **options}
    plain = rankopt.MarginRank("ndcg@5", **given).fit(X, y, qid=qid, **extra)
    model = rankopt.MarginRank("ndcg@5", polish="ndcg@5", **given).fit(X, y, qid=qid, **extra)
    before, after = plain.score(X, y, qid=qid), model.score(X, y, qid=qid)
    assert after >= before
    assert model.polish_["train_before"] == pytest.approx(before, abs=1e-12)
    assert model.polish_["train_after"] == pytest.approx(after, abs=1e-12)
    if valid:
        assert model.polish_["valid_0_after"] >= model.polish_["valid_0_before"]
    assert not hasattr(model.set_params(polish=None).fit(X, y, qid=qid), "polish_")
