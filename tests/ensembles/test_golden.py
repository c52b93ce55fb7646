"""Models of XGBoost and CatBoost, read without these libraries, against the scores they gave themselves.

``benchmarks/golden_ensembles.py`` makes the models and the scores.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import rankopt
from rankopt.ensembles import ubjson
from rankopt.errors import ModelError
from rankopt.scorers import Forest

FOLDER = Path(__file__).parent.parent / "golden" / "ensembles"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
X = np.array([[np.nan if v is None else v for v in row] for row in ANSWERS["rows"]])
READ = [file for file, answer in ANSWERS["models"].items() if "scores" in answer]
REFUSED = [file for file, answer in ANSWERS["models"].items() if "refused" in answer]
TOLERANCE = {"xgboost": 1e-6, "catboost": 1e-12}  # XGBoost sums up in float32


def data_of(file):
    return rankopt.dataset(np.nan_to_num(X) if "no-nan" in file else X)


def close(file):
    return {"rtol": 0.0, "atol": TOLERANCE[file.partition("-")[0]]}


def test_every_model_is_there():
    on_disk = {path.name for path in FOLDER.iterdir()} - {"answers.json"}
    assert on_disk == set(ANSWERS["models"])
    assert len(READ) > 15
    assert len(REFUSED) > 5


@pytest.mark.parametrize("file", READ)
def test_scores_are_the_librarys_own(file):
    ensemble = rankopt.read_ensemble(FOLDER / file)
    expected = np.array(ANSWERS["models"][file]["scores"])
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(ensemble.predict(data_of(file)), expected, **close(file))
    np.testing.assert_allclose(ensemble.to_model().predict(data_of(file)), expected, **close(file))


@pytest.mark.parametrize("file", REFUSED)
def test_what_cannot_be_read_is_refused_with_the_reason(file):
    with pytest.raises(ModelError, match=ANSWERS["models"][file]["refused"]) as error:
        rankopt.read_ensemble(FOLDER / file)
    assert file in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("file", READ)
def test_written_again_it_scores_as_its_factors_say(file, tmp_path):
    ensemble = rankopt.read_ensemble(FOLDER / file)
    data = data_of(file)
    factors = np.random.default_rng(0).uniform(0.0, 2.0, ensemble.n_trees)
    factors[1] = 0.0
    path = tmp_path / file
    ensemble.reweighted(factors).save(path)
    again = rankopt.read_ensemble(path)
    assert again.n_trees == ensemble.n_trees - 1
    trees = ensemble.trees.scores(factors * ensemble.weights, data)
    np.testing.assert_allclose(again.predict(data), trees + ensemble.base, **close(file))


@pytest.mark.parametrize("file", READ)
def test_without_trees_the_first_one_stays_empty(file, tmp_path):
    ensemble = rankopt.read_ensemble(FOLDER / file)
    none = ensemble.reweighted(np.zeros(ensemble.n_trees))
    assert none.n_trees == 1
    np.testing.assert_array_equal(none.predict(data_of(file)), ensemble.base)


@pytest.mark.parametrize("file", [file for file in READ if file.endswith("json")])
def test_json_keeps_everything_that_is_not_a_weight(file, tmp_path):
    ensemble = rankopt.read_ensemble(FOLDER / file)
    ensemble.save(tmp_path / file)
    before = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    assert json.loads((tmp_path / file).read_text(encoding="utf-8")) == before


@pytest.mark.parametrize("file", [file for file in ANSWERS["models"] if file.endswith("ubj")])
def test_ubjson_comes_back_byte_for_byte(file):
    content = (FOLDER / file).read_bytes()
    assert ubjson.encoded(ubjson.decoded(content)) == content


@pytest.mark.parametrize("file", [file for file in READ if file.endswith("ubj")])
def test_the_ending_of_the_name_chooses_between_json_and_ubjson(file, tmp_path):
    ensemble = rankopt.read_ensemble(FOLDER / file)
    ensemble.save(tmp_path / "model.json")
    text = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    twin = json.loads((FOLDER / file.replace("ubj", "json")).read_text(encoding="utf-8"))
    if "dart" not in file:  # XGBoost writes the weights of trees as the digits of float64 there
        assert text == twin
    rankopt.read_ensemble(tmp_path / "model.json").save(tmp_path / "model.ubj")
    again = rankopt.read_ensemble(tmp_path / "model.ubj")
    assert (tmp_path / "model.ubj").read_bytes()[:2] == b"{L"
    np.testing.assert_array_equal(again.predict(data_of(file)), ensemble.predict(data_of(file)))


def test_the_weights_of_dart_are_read_and_written():
    ensemble = rankopt.read_ensemble(FOLDER / "xgboost-dart.json")
    assert 0 < ensemble.weights.min() < ensemble.weights.max()
    twice = ensemble.reweighted(np.full(ensemble.n_trees, 2.0))
    np.testing.assert_array_equal(twice.weights, 2.0 * ensemble.weights)
    np.testing.assert_array_equal(twice.trees.values, ensemble.trees.values)


def test_categories_and_base_score_are_read():
    assert rankopt.read_ensemble(FOLDER / "xgboost-categories.ubj").trees.sets.size > 0
    base = rankopt.read_ensemble(FOLDER / "xgboost-base-score.json").base
    assert base == pytest.approx(np.log(0.2 / 0.8), rel=1e-7)


def test_some_iterations_and_the_best_one():
    file = FOLDER / "xgboost-plain.json"
    ensemble = rankopt.read_ensemble(file)
    assert "the best of which is number 2" in ensemble.notes[0]
    two = rankopt.read_ensemble(file, iterations=2)
    ones = np.array([1.0, 1.0, 0.0, 0.0])
    expected = ensemble.trees.scores(ones, data_of("")) + ensemble.base
    np.testing.assert_array_equal(two.predict(data_of("")), expected)
    learner = two.document.content["learner"]
    assert learner["attributes"]["best_iteration"] == "1"
    pairs = rankopt.read_ensemble(FOLDER / "xgboost-parallel.ubj", iterations=3)
    assert pairs.n_trees == 6
    assert rankopt.read_ensemble(file, iterations=99).n_trees == 4


def test_a_foreign_model_can_be_stored_as_rankopts_own(tmp_path):
    from rankopt.models.storage import load_model, save_model

    ensemble = rankopt.read_ensemble(FOLDER / "xgboost-categories.ubj")
    save_model(ensemble.to_model(), tmp_path / "model.rankopt")
    again = load_model(tmp_path / "model.rankopt")
    assert isinstance(again.scorer, Forest)
    np.testing.assert_array_equal(
        again.predict(data_of("")), ensemble.to_model().predict(data_of(""))
    )
