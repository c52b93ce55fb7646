"""The quadratic scorer: its filter against NumPy, its sums against columns laid out, its files."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

import rankopt
from rankopt.errors import DataError, ModelError, SpecError
from rankopt.models.model import Model, Recipe
from rankopt.models.storage import load_model, save_model
from rankopt.scorers import SCORERS, Linear, Quadratic
from rankopt.scorers import products as products_module
from rankopt.scorers.products import Products, block_correlations

WIDTH = 7
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(seed=0, rows=240, sparse=False, dtype=np.float64):
    """Few labels and many kinds of columns: shifted, constant, two-valued, blank, equal; a product counts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, WIDTH))
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 2] = 0.0 if sparse else 2.5
    X[:, 3] = np.where(X[:, 3] > 0, 1.0, -1.0)
    X[:, 4] = X[:, 5]
    X[:, 6] *= 3.0
    if not sparse:
        X[:, 1] += 5.0
    X[5] = X[4]
    y = np.digitize(X[:, 0] * X[:, 6] + X[:, 5] + rng.normal(size=rows), [0.0, 1.5])
    X = X.astype(dtype)
    return rankopt.dataset(csr_array(X) if sparse else X, y, np.repeat(np.arange(rows // 8), 8))


def laid_out(X, pairs):
    """Columns of features and of products, by the definition."""
    X = (X if isinstance(X, np.ndarray) else X.toarray()).astype(np.float64)
    return np.column_stack([X, *(X[:, i] * X[:, j] for i, j in pairs)])


def some(data, seed=0):
    """A scorer with half of the products, and parameters for it."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(data.n_features)
    keep = rng.random(left.size) < 0.5
    left, right = left[keep].astype(np.int32), right[keep].astype(np.int32)
    scorer = Quadratic(products=Products(left, right, np.zeros(data.n_features)))
    return scorer, rng.normal(size=scorer.size(data)), list(zip(left, right, strict=True))


def correlation(u, y):
    """Pearson's, or NaN for a constant product."""
    constant = np.ptp(u) <= 1e-12 * np.abs(u).max(initial=0.0)
    return np.nan if constant else np.corrcoef(u, y)[0, 1]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("values", [4, 4_000_000])
def test_the_filter_agrees_with_numpy_on_every_product(sparse, values, monkeypatch):
    monkeypatch.setattr(products_module, "_VALUES", values)  # blocks of one feature, or all at once
    data = problem(1, sparse=sparse)
    X = laid_out(data.X, [])
    seen = 0
    for first, found in block_correlations(data):
        for a, b in np.ndindex(found.shape):
            i, j = first + a, first + b
            constant_factor = np.ptp(X[:, i]) == 0.0 or np.ptp(X[:, j]) == 0.0
            wanted = np.nan if constant_factor else correlation(X[:, i] * X[:, j], data.y)
            np.testing.assert_allclose(found[a, b], wanted, rtol=1e-9, atol=1e-12)
            seen += i <= j
    assert seen == WIDTH * (WIDTH + 1) // 2


@given(
    seed=st.integers(0, 2**32), rho=st.sampled_from([0.0, 0.05, 0.3, 0.9]), squares=st.booleans()
)
@settings(max_examples=25, deadline=None)
def test_the_filter_keeps_what_the_threshold_says(seed, rho, squares):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (rng.integers(3, 20), 4)).astype(float)
    X[:, rng.integers(4)] = rng.integers(-1, 2)
    data = rankopt.dataset(X, rng.integers(0, 2, len(X)))
    wanted = []
    for i in range(4):
        for j in range(i if squares else i + 1, 4):
            u = X[:, i] * X[:, j]
            if min(np.ptp(X[:, i]), np.ptp(X[:, j]), np.ptp(u)) == 0.0:
                continue
            size = abs(correlation(u, data.y)) if np.ptp(data.y) else 0.0
            if abs(size - rho) < 1e-9 and rho > 0.0:
                return  # rounding decides
            if size >= rho:
                wanted.append((i, j))
    chosen = Products.chosen(data, rho, squares)
    assert list(zip(chosen.left, chosen.right, strict=True)) == wanted
    same = Products.chosen(replace(data, X=csr_array(X)), rho, squares)
    assert list(zip(same.left, same.right, strict=True)) == wanted


def test_the_filter_sees_through_a_large_offset():
    data = problem(2)
    far = replace(data, X=data.X + np.array([0.0, 1e6, 0.0, 0.0, 0.0, -1e7, 0.0]))
    (_, found), exact = next(block_correlations(far)), np.asarray(far.X, np.longdouble)
    u = exact[:, 1] * exact[:, 5]
    u, y = u - u.mean(), data.y - data.y.mean()
    wanted = float((u @ y) / np.sqrt((u @ u) * (y @ y)))
    assert found[1, 5] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [8, 240, 248])
def test_scores_have_the_bits_of_columns_laid_out(sparse, dtype, rows):
    data = problem(3, rows, sparse, dtype)
    scorer, params, pairs = some(data)
    X = laid_out(data.X, pairs)
    np.testing.assert_array_equal(scorer.laid_out(data).X, X)
    np.testing.assert_array_equal(
        scorer.scores(params, data), Linear().scores(params, replace(data, X=X))
    )
    d = np.random.default_rng(4).normal(size=rows)
    np.testing.assert_allclose(scorer.pullback(params, data, d), X.T @ d, rtol=1e-10, atol=1e-10)


def test_duplicate_and_unsorted_entries_of_a_sparse_matrix_are_summed():
    data = problem(5, sparse=True)
    scorer, params, _ = some(data)
    X = data.X.tocoo()
    twice = coo_array(
        (np.tile(X.data / 2, 2), (np.tile(X.row, 2), np.tile(X.col, 2))), X.shape
    ).tocsr(copy=True)
    messy = replace(data, X=csr_array((twice.data, twice.indices, twice.indptr), X.shape))
    d = np.ones(data.n_rows)
    np.testing.assert_array_equal(scorer.scores(params, messy), scorer.scores(params, data))
    np.testing.assert_allclose(scorer.pullback(params, messy, d), scorer.pullback(params, data, d))
    assert Products.chosen(messy, 0.1).left.size == Products.chosen(data, 0.1).left.size


def test_centers_are_taken_off_dense_and_sparse_features_alike():
    data = problem(6, sparse=True)
    scorer, params, pairs = some(data)
    center = np.linspace(-1.0, 2.0, WIDTH)
    centred = replace(scorer, products=replace(scorer.products, center=center))
    X = laid_out(data.X.toarray() - center, pairs)
    dense = replace(data, X=data.X.toarray())
    wanted = Linear().scores(params, replace(data, X=X))
    np.testing.assert_array_equal(centred.scores(params, dense), wanted)
    np.testing.assert_array_equal(centred.scores(params, data), wanted)
    for part in (data, dense):
        pulled = centred.pullback(params, part, wanted)
        np.testing.assert_allclose(pulled, X.T @ wanted, rtol=1e-10, atol=1e-10)
    constant, weights, by_product = centred.expanded(params)
    plain = laid_out(data.X, pairs) @ np.concatenate((weights, by_product)) + constant
    np.testing.assert_allclose(plain, wanted, rtol=1e-10, atol=1e-10)


def test_without_a_choice_it_says_who_makes_one():
    data = problem()
    for use in (lambda q: q.size(data), lambda q: q.scores(np.zeros(3), data)):
        with pytest.raises(SpecError, match="no products have been chosen"):
            use(Quadratic())
    scorer, _, _ = some(data)
    assert scorer.fitted(data).products is scorer.products
    with pytest.raises(DataError, match="has 3 features, but the products were chosen of 7"):
        scorer.size(rankopt.dataset(np.ones((2, 3)), [0, 1]))
    for text in ("quadratic(rho=1)", "quadratic(rho=-0.1)", "quadratic(products=3)"):
        with pytest.raises(SpecError):
            SCORERS.build(text)
    assert str(SCORERS.build("quadratic(rho=0.02, squares=false)")) == (
        "quadratic(rho=0.02, squares=false)"
    )


def fitted(data, **changes):
    settings = {"max_iter": 30, "tol": 1e-2, "l2": 1e-3, "normalize": "standard", **changes}
    scorer = settings.pop("scorer", "quadratic(rho=0.1)")
    return rankopt.Ranker(scorer, "plackett-luce", **settings).fit(data)


def test_a_product_that_counts_is_learned_and_standardisation_is_folded_in():
    data = problem(7)
    model = fitted(data)
    linear = rankopt.Ranker("linear", "plackett-luce", max_iter=30, tol=1e-2).fit(data)
    assert model.score(data) > linear.score(data) + 0.02
    scorer = model.model_.scorer
    notes = model.model_.recipe.notes
    assert (notes["products"], notes["products_among"]) == (scorer.products.count, 28)
    by_name = scorer.named(model.model_.params, [f"f{i}" for i in range(WIDTH)])
    products = {name: weight for name, weight in by_name.items() if "*" in name}
    assert len(products) == scorer.products.count
    assert abs(by_name["f0 * f6"]) * 3.0 > max(
        abs(weight) for name, weight in products.items() if name not in ("f0 * f6", "f6 * f6")
    )
    X = np.asarray(data.X)
    outside = replace(data, X=(X - X.mean(0)) / np.where(X.std(0) > 1e-9, X.std(0), 1.0))
    same = fitted(outside, normalize=None)
    assert same.model_.scorer.products.names("abcdefg") == scorer.products.names("abcdefg")
    np.testing.assert_allclose(same.predict(outside), model.predict(data), rtol=1e-5, atol=1e-6)


def test_starts_are_of_the_features_or_of_all_parameters():
    data = problem(8)
    size = fitted(data).model_.params.size
    for start in ("zero", "ridge", np.ones(WIDTH), rankopt.DirectRank(max_iter=1).fit(data)):
        model = fitted(data, start=start, max_iter=0, l2=0.0)
        weights = np.asarray(getattr(start, "coef_", start))
        if weights.shape == (WIDTH,):
            np.testing.assert_allclose(model.model_.params[:WIDTH], weights)
        assert not model.model_.params[WIDTH:].any()
    start = np.arange(1.0, size + 1.0)
    np.testing.assert_allclose(fitted(data, start=start, max_iter=0).model_.params, start)
    with pytest.raises(SpecError, match=f"3 parameters, but .* has {size}"):
        fitted(data, start=np.ones(3))


def test_the_exact_line_search_takes_products_as_directions():
    data, valid = problem(9), problem(10)
    model = fitted(data, max_iter=3, polish="ndcg@5", measure="ndcg@5")
    assert model.polish_["train_after"] > model.polish_["train_before"]
    assert model.score(data) == pytest.approx(model.polish_["train_after"], abs=1e-12)
    scorer = Quadratic(rho=0.1).fitted(data)
    columns = scorer.laid_out(data)
    direct = rankopt.DirectRank("ndcg@5", random_state=0).fit(columns)
    assert direct.score(columns) > rankopt.DirectRank("ndcg@5", random_state=0).fit(data).score(
        data
    )
    np.testing.assert_array_equal(
        scorer.scores(direct.coef_, valid), direct.predict(scorer.laid_out(valid))
    )


def test_convex_solvers_take_it_and_agree():
    data = problem(11)
    values = []
    for solver in ("lbfgs", "bundle"):
        model = rankopt.Ranker(
            "quadratic(rho=0.1)", "pairwise(quadratic)", solver, l2=0.1, start="zero",
            tol=1e-5, max_iter=500,
        ).fit(data)  # fmt: skip
        loss, _ = rankopt.value_grad(
            "pairwise(quadratic)", model.predict(data), data.y, data_qid(data)
        )
        values.append(loss + 0.1 * float(model.model_.params @ model.model_.params))
    assert values[0] == pytest.approx(values[1], rel=1e-4)


def data_qid(data):
    return data.groups.spread(np.arange(data.groups.n_queries))


def test_laying_out_too_much_is_refused(monkeypatch):
    from rankopt.scorers import quadratic

    data = problem()
    monkeypatch.setattr(quadratic, "_LARGEST", 1000)
    with pytest.raises(DataError, match="choose fewer with a higher rho"):
        fitted(data, polish="ndcg@5", max_iter=1)


def test_files_keep_the_products(tmp_path):
    data = problem(12)
    model = fitted(data)
    path = tmp_path / "m.rankopt"
    model.save(path)
    read = rankopt.load(path)
    np.testing.assert_array_equal(read.predict(data), model.predict(data))
    again = tmp_path / "again.rankopt"
    read.save(again)
    assert path.read_bytes() == again.read_bytes()


BROKEN = {
    "factor": ({"right": [2, 9]}, "a factor is none of the 7"),
    "negative": ({"left": [-1, 1]}, "a factor is none of the 7"),
    "order": ({"left": [1, 0], "right": [1, 1]}, "ascending"),
    "below": ({"left": [3, 3], "right": [2, 3]}, "ascending"),
    "twice": ({"left": [0, 0], "right": [1, 1]}, "ascending"),
    "lengths": ({"left": [0]}, "different lengths"),
    "center": ({"center": [np.nan] * 7}, "not finite"),
    "few": ({"center": [0.0] * 6}, "of 6 features"),
    "type": ({"left": np.array([0, 1])}, "int32"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_names_no_products_is_refused(case, tmp_path):
    good = {
        "left": np.array([0, 1], np.int32),
        "right": np.array([0, 2], np.int32),
        "center": np.zeros(7),
    }
    changes, words = BROKEN[case]
    kinds = {name: array.dtype for name, array in good.items()}
    broken = {
        name: array if isinstance(array, np.ndarray) else np.array(array, kinds[name])
        for name, array in changes.items()
    }
    scorer = Quadratic(products=Products(**{**good, **broken}))
    path = tmp_path / "m.rankopt"
    save_model(Model(scorer, np.ones(9), 7, (), None, Recipe("ranker")), path)
    with pytest.raises(ModelError, match=words):
        load_model(path)


def test_a_file_with_another_number_of_weights_is_refused(tmp_path):
    scorer, params, _ = some(problem())
    path = tmp_path / "m.rankopt"
    save_model(Model(scorer, params[:-1], 7, (), None, Recipe("ranker")), path)
    with pytest.raises(ModelError, match=f"{params.size - 1} parameters"):
        load_model(path)


@parametrize_with_checks([rankopt.Ranker("quadratic(rho=0.1)", max_iter=3, tol=1.0)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learns_own_checks(estimator, check):
    assert sklearn.__version__
    check(estimator)


def test_neither_filter_nor_training_lays_products_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 150)).astype(np.float32)
    data = rankopt.dataset(X, rng.integers(0, 3, 2000), np.repeat(np.arange(200), 10))
    laid_out = 8 * 2000 * (150 * 151 // 2)
    fitted(data, max_iter=2)  # compiles
    tracemalloc.start()
    model = fitted(data, scorer=Quadratic(rho=0.0), max_iter=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.model_.params.size == 150 + 150 * 151 // 2
    assert peak < laid_out / 8, f"{peak / 2**20:.0f} MiB"
