"""ApproxRank, SmoothRank and Ranker as scikit-learn's users meet them, and what they have in common."""

import json
import signal
import warnings
from unittest import mock

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from typer.testing import CliRunner

import rankopt
from rankopt.cli.main import app
from rankopt.errors import IncompatibleError, SpecError
from rankopt.measures import as_measure
from rankopt.objectives import OBJECTIVES
from rankopt.scorers import Linear
from rankopt.solvers import L2, LBFGS, Problem
from rankopt.solvers.starts import ranksvm, ridge

SYSTEMS = {
    "ApproxRank": lambda **given: rankopt.ApproxRank("ndcg@5", **given),
    "SmoothRank": lambda **given: rankopt.SmoothRank("ndcg@5", **{"sigma": 0.25, **given}),
    "Ranker": lambda **given: rankopt.Ranker(
        objective="approx(ap, alpha=3)", measure="ndcg@5", **given
    ),
}
every_system = pytest.mark.parametrize("name", list(SYSTEMS))


def problem(n_queries=40, width=5, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, n_queries)
    X = rng.normal(size=(sizes.sum(), width))
    y = np.clip(np.round(X @ np.linspace(1, 0, width) + rng.normal(size=len(X)) * 0.7 + 1), 0, 4)
    return X, y, np.repeat([f"q{i}" for i in range(n_queries)], sizes)


def fit(name, X, y, qid, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SYSTEMS[name](**{"max_iter": 15, **given}).fit(X, y, qid=qid)


@parametrize_with_checks(
    [
        rankopt.ApproxRank(max_iter=5),
        rankopt.SmoothRank(max_iter=2, sigma_start=1.0, sigma=0.5),
        rankopt.Ranker(max_iter=5),
        rankopt.Ranker("kernel(components=20)", "smooth(ap)", "adam", max_iter=2),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@every_system
def test_the_loss_falls_and_the_model_is_its_minimum(name):
    """Against the solver itself, on the problem that the definition states."""
    X, y, qid = problem()
    model = fit(name, X, y, qid, max_iter=300, l2=0.01)
    data = rankopt.dataset(X, y, qid)
    w0 = ridge(data, model._measure().bind(data.y, data.groups).gains, 0.1)
    text = {
        "ApproxRank": "approx(ndcg@5)",
        "SmoothRank": "smooth(ndcg@5, sigma=0.25)",
        "Ranker": "approx(ap, alpha=3)",
    }[name]
    loss = OBJECTIVES.build(text).bind(data.y, data.groups)
    whole = Problem(data, Linear(), loss, L2(0.01, w0))
    value, grad = whole.value_grad(model.coef_)
    assert value < whole.value_grad(w0)[0]
    assert np.abs(grad).max() < 1e-5
    assert model.history_[-1].value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("name", ["ApproxRank", "SmoothRank"])
@pytest.mark.parametrize("start", ["ridge", "ranksvm", "uniform", "zero", "array", "model"])
@pytest.mark.parametrize("normalize", [None, "standard", "query"])
def test_a_strong_penalty_leaves_the_model_where_it_starts(name, start, normalize):
    """Whatever it starts from and however the features are scaled."""
    X, y, qid = problem(n_queries=15)
    X = X * [1e3, 1.0, 1e-2, 1.0, 1.0] + [5.0, 0.0, 0.0, 1.0, 0.0]
    given = np.array([0.002, 1.0, -3.0, 0.5, 0.0])
    first = rankopt.DirectRank("ndcg@5", start=given, max_iter=0).fit(X, y, qid=qid)
    begin = {"array": given, "model": first}.get(start, start)
    model = fit(name, X, y, qid, l2=1e12, start=begin, normalize=normalize, max_iter=3)
    if start in ("array", "model"):
        np.testing.assert_allclose(model.coef_, given, rtol=1e-6, atol=1e-9)
        return
    data = rankopt.dataset(X, y, qid)
    if normalize == "query":
        from rankopt.data.scale import scale_per_query

        data = scale_per_query(data)
    elif normalize == "standard":
        from rankopt.data.scale import scale_standard

        data, scaling = scale_standard(data)
    gains = as_measure("ndcg").bind(data.y, data.groups).gains
    expected = {
        "ridge": lambda: ridge(data, gains, 0.1),
        "ranksvm": lambda: ranksvm(data),
        "uniform": lambda: np.ones(5),
        "zero": lambda: np.zeros(5),
    }[start]()
    if normalize == "standard":
        expected = scaling.fold(expected)[0]
    found, expected = model.predict(X, qid), data_scores(X, qid, expected, normalize)
    spread = max(np.std(expected), 1.0)
    np.testing.assert_allclose(found / spread, expected / spread, atol=1e-4)


def data_scores(X, qid, weights, normalize):
    data = rankopt.dataset(X, None, qid)
    if normalize == "query":
        from rankopt.data.scale import scale_per_query

        data = scale_per_query(data)
    return data.restored(Linear().scores(weights, data))


@every_system
def test_any_row_order_gives_the_same_predictions(name):
    X, y, qid = problem()
    first = fit(name, X, y, qid, start="uniform")
    order = np.random.default_rng(1).permutation(len(y))
    second = fit(name, X[order], y[order], qid[order], start="uniform")
    np.testing.assert_allclose(second.predict(X), first.predict(X), rtol=1e-4, atol=1e-6)


@every_system
def test_one_and_two_threads_give_the_same_bits(name, monkeypatch):
    monkeypatch.setattr("rankopt.threads._SMALL", 0)
    X, y, qid = problem()
    models = [fit(name, X, y, qid, n_jobs=n, polish="ndcg@5").coef_.tobytes() for n in (1, 2)]
    assert models[0] == models[1]


@every_system
def test_the_best_iteration_on_validation_data_is_kept(name):
    X, y, qid = problem()
    Xv, yv, qv = problem(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SYSTEMS[name](max_iter=15).fit(X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv])
    values = model.evals_result_["valid_0"]["ndcg@5"]
    assert model.best_score_ == max(values) == values[model.best_iteration_]
    assert model.score(Xv, yv, qid=qv) == pytest.approx(model.best_score_, abs=1e-12)
    assert len(values) == len(model.history_)


@every_system
def test_early_stopping_counts_iterations_or_levels(name):
    X, y, qid = problem()
    Xv, yv, qv = problem(n_queries=4, seed=2)
    model = SYSTEMS[name](early_stopping_rounds=2, l2=0.0).fit(
        X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv]
    )
    values = model.evals_result_["valid_0"]["ndcg@5"]
    assert len(values) - 1 - model.best_iteration_ <= 2
    if len(values) - 1 - model.best_iteration_ == 2:
        assert model.status_.startswith("Stopped early")


@every_system
@pytest.mark.parametrize("valid", [False, True])
def test_polish_never_lowers_the_training_measure(name, valid):
    for seed in range(2):
        X, y, qid = problem(n_queries=20, seed=seed)
        Xv, yv, qv = problem(seed=seed + 10)
        extra = {"eval_set": [(Xv, yv)], "eval_qid": [qv]} if valid else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            plain = SYSTEMS[name](max_iter=8).fit(X, y, qid=qid, **extra)
            polished = SYSTEMS[name](max_iter=8, polish="ndcg@5").fit(X, y, qid=qid, **extra)
        before, after = plain.score(X, y, qid=qid), polished.score(X, y, qid=qid)
        assert after >= before
        assert polished.polish_["train_before"] == pytest.approx(before, abs=1e-12)
        assert polished.polish_["train_after"] == pytest.approx(after, abs=1e-12)
        if valid:
            assert polished.polish_["valid_0_after"] >= polished.polish_["valid_0_before"]
            assert polished.polish_["valid_0_after"] == pytest.approx(
                polished.score(Xv, yv, qid=qv), abs=1e-12
            )
            assert polished.evals_result_ == plain.evals_result_
        else:
            assert after > before


def test_polish_after_standardising_and_in_a_kernel_map():
    X, y, qid = problem()
    X = X * [1e3, 1.0, 1e-2, 1.0, 1.0]
    for options in ({"normalize": "standard"}, {"scorer": "kernel(gamma=0.1, components=15)"}):
        before = rankopt.Ranker(max_iter=3, solver="sgd", random_state=0, **options).fit(
            X, y, qid=qid
        )
        after = rankopt.Ranker(
            max_iter=3, solver="sgd", polish="ndcg@10", random_state=0, **options
        )
        after.fit(X, y, qid=qid)
        assert after.score(X, y, qid=qid) > before.score(X, y, qid=qid)
        assert after.polish_["train_after"] == pytest.approx(after.score(X, y, qid=qid), abs=1e-3)


def test_polish_needs_a_linear_scorer():
    X, y, qid = problem()
    with pytest.raises(IncompatibleError, match="polish: the exact line search needs a linear"):
        rankopt.Ranker("stumps", polish="ndcg@5", max_iter=1, solver="sgd").fit(X, y, qid=qid)


@every_system
def test_ctrl_c_keeps_the_best_model_so_far(name):
    X, y, qid = problem()
    calls = [0]
    original = Problem.value_grad

    def interrupted(self, params):
        calls[0] += 1
        if calls[0] == 12:
            signal.raise_signal(signal.SIGINT)
        return original(self, params)

    with mock.patch.object(Problem, "value_grad", interrupted):
        model = fit(name, X, y, qid, polish="ndcg@5")
    assert model.status_.startswith("Interrupted")
    assert np.isfinite(model.predict(X)).all()
    assert not hasattr(model, "polish_")


def test_the_measured_error_is_what_the_definition_says_and_inspect_prints_it(tmp_path):
    X, y, qid = problem()
    model = fit("ApproxRank", X, y, qid, alpha=20.0)
    data = rankopt.dataset(X, y, qid)
    scores, errors = X @ model.coef_, []
    for q in dict.fromkeys(qid):
        rows = qid == q
        soft = 1.0 - rankopt.value_grad("approx(ndcg@5, alpha=20)", scores[rows], y[rows])[0]
        exact = rankopt.evaluate(scores[rows], rankopt.dataset(X[rows], y[rows]), "ndcg@5")
        errors.append(abs(soft - exact.mean["ndcg@5"]))
    stated = model.model_.recipe.notes["approximation_error"]
    assert stated == pytest.approx(np.mean(errors), rel=1e-9)
    assert 0.0 < stated < 0.2
    model.save(tmp_path / "m.rankopt")
    printed = CliRunner().invoke(app, ["inspect", str(tmp_path / "m.rankopt"), "--json"])
    assert json.loads(printed.stdout)["notes"]["approximation_error"] == stated
    assert data.groups.n_queries == len(errors)


def test_the_error_of_an_annealed_model_is_that_at_its_own_level():
    X, y, qid = problem()
    Xv, yv, qv = problem(n_queries=6, seed=4)
    options = {"sigma_start": 4.0, "sigma": 2.0**-6, "l2": 1e-4, "max_iter": 5}
    last = rankopt.SmoothRank("ndcg@5", **options).fit(X, y, qid=qid)
    assert last.temperature_ == 2.0**-6
    best = rankopt.SmoothRank("ndcg@5", **options).fit(
        X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv]
    )
    assert best.temperature_ == 4.0 * 0.5**best.best_iteration_
    data = rankopt.dataset(X, y, qid)
    loss = OBJECTIVES.build(f"smooth(ndcg@5, sigma={best.temperature_!r})")
    estimates = loss.bind(data.y, data.groups).estimates(X @ best.coef_)
    exact = 1.0 - as_measure("ndcg@5").bind(data.y, data.groups).values(X @ best.coef_)
    stated = best.model_.recipe.notes["approximation_error"]
    assert stated == pytest.approx(np.mean(np.abs(estimates - exact)), rel=1e-9)


def test_a_second_fit_forgets_the_first():
    X, y, qid = problem()
    model = fit("SmoothRank", X, y, qid, polish="ndcg@5", sigma_start=1.0)
    assert model.polish_
    assert model.temperature_ == 0.25
    model.set_params(polish=None, sigma_start=None, max_iter=200).fit(X, y, qid=qid)
    assert not hasattr(model, "polish_")
    assert not hasattr(model, "temperature_")


def test_annealing_is_that_of_algorithm_1():
    """Level by level by hand: each minimum is the start of the next, and w0 stays the centre."""
    X, y, qid = problem()
    data = rankopt.dataset(X, y, qid)
    w = w0 = ridge(data, 2.0**data.y - 1.0, 0.1)
    for sigma in (4.0, 2.0, 1.0, 0.5):
        loss = OBJECTIVES.build(f"smooth(ndcg@50, sigma={sigma})").bind(data.y, data.groups)
        whole = Problem(data, Linear(), loss, L2(0.003, w0))
        w = LBFGS(max_iter=30).solve(whole, w, np.random.default_rng(0)).params
    model = rankopt.SmoothRank(
        "ndcg@10", train_measure="ndcg@50", sigma_start=4.0, sigma=0.5, l2=0.003
    ).fit(X, y, qid=qid)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-12)
    assert len(model.history_) == 4


@pytest.mark.parametrize(
    "solver", ["lbfgs", "cg", "adam", "sgd(learning_rate=0.1)", "restarts(n=2)"]
)
def test_every_solver_improves_on_the_start(solver):
    X, y, qid = problem(n_queries=20)
    limits = {"max_iter": 10 if solver in ("lbfgs", "cg") else 20}
    limits = {"max_iter": 5} if solver.startswith("restarts") else limits
    for objective in ("approx(ndcg)", "smooth(ap, sigma=1)", "smooth(ap, sigma=1, by=pairs)"):
        model = rankopt.Ranker(objective=objective, solver=solver, start="zero", l2=0.0, **limits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y, qid=qid)
        flat = rankopt.value_grad(objective, np.zeros(len(y)), y, qid)[0]
        assert min(step.value for step in model.history_) < flat - 0.05


def test_kernel_maps_learn_what_no_linear_model_can():
    """Section 6: useful rows lie on a ring."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(300, 2)), np.repeat(np.arange(15), 20)
    y = (np.abs(np.linalg.norm(X, axis=1) - 1.0) < 0.3).astype(float)
    linear = rankopt.Ranker(objective="approx(ap)", l2=1e-4).fit(X, y, qid=qid)
    options = {"objective": "approx(ap)", "l2": 1e-4, "max_iter": 20, "random_state": 0}
    for text in ("kernel(gamma=1, components=40)", "kernel(gamma=1, components=30, method=kpca)"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = rankopt.Ranker(text, **options).fit(X, y, qid=qid)
        assert model.score(X, y, qid=qid) > linear.score(X, y, qid=qid) + 0.2


@pytest.mark.parametrize("system", [rankopt.ApproxRank, rankopt.SmoothRank])
def test_grids_of_the_papers_are_parameters(system):
    known = set(system().get_params())
    assert set(system.grids) <= known
    assert system.grids["l2"] == pytest.approx([10.0**p for p in range(-6, 4)])
    if system is rankopt.ApproxRank:
        assert (min(system.grids["alpha"]), max(system.grids["alpha"])) == (10.0, 300.0)
        assert system.grids["beta"] == (1.0, 10.0, 20.0, 50.0, 100.0)


@every_system
def test_files_hold_the_model(name, tmp_path):
    X, y, qid = problem()
    model = fit(name, X, y, qid, polish="ndcg@5")
    model.save(tmp_path / "m.rankopt")
    read = rankopt.load(tmp_path / "m.rankopt")
    assert type(read) is type(model)
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    assert read.score(X, y, qid=qid) == model.score(X, y, qid=qid)
    assert clone(model).get_params().keys() == read.get_params().keys()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rankopt.ApproxRank("ndgc"), "did you mean 'ndcg'"),
        (lambda: rankopt.ApproxRank(alpha=-1.0), "alpha = -1.0 must be positive"),
        (lambda: rankopt.ApproxRank(sigmoid="step"), "unknown sigmoid 'step'"),
        (lambda: rankopt.ApproxRank(solver="newton"), "newton"),
        (lambda: rankopt.ApproxRank(l2=-1.0), "l2: -1.0 must not be negative"),
        (lambda: rankopt.ApproxRank(start="svm"), "start: unknown 'svm'; use ridge, ranksvm"),
        (lambda: rankopt.ApproxRank(start=[1.0]), "1 weights for 5 features"),
        (lambda: rankopt.ApproxRank(solver="adam", tol=0.1), "tol: the solver adam has none"),
        (lambda: rankopt.ApproxRank(polish="ndgc"), "did you mean 'ndcg'"),
        (lambda: rankopt.SmoothRank(sigma=1.0, sigma_start=0.5), "must be at least sigma = 1.0"),
        (lambda: rankopt.SmoothRank("tau"), "concordance measures have no slopes"),
        (lambda: rankopt.SmoothRank(by="rows"), "unknown by 'rows'"),
        (lambda: rankopt.Ranker(objective="direct(ndcg)"), "lbfgs needs an objective with grad"),
        (lambda: rankopt.Ranker("kernel", normalize="standard"), "put scikit-learn's StandardScaler"),
        (lambda: rankopt.Ranker("kernel(kernel=linear)"), "use rbf or polynomial"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named_before_any_work(make, words):
    X, y, qid = problem(n_queries=8)
    with (
        mock.patch.object(Problem, "value_grad", side_effect=AssertionError("work was done")),
        pytest.raises((SpecError, IncompatibleError), match=words),
    ):
        make().fit(X, y, qid=qid)


def test_out_of_steps_is_a_warning():
    X, y, qid = problem()
    with pytest.warns(ConvergenceWarning, match="ApproxRank: Stopped after max_iter"):
        rankopt.ApproxRank(max_iter=1, start="zero").fit(X, y, qid=qid)
