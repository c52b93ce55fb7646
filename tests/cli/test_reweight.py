"""rankopt reweight, and other libraries' models where a command takes a model."""

import json

import lightgbm as lgb
import numpy as np
import pytest
from tests.cli.test_commands import ok, problem, refused
from tests.cli.test_commands import run as run  # a fixture

import rankopt
from rankopt.data.scores import read_scores


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train.txt", 0), ("valid.txt.gz", 1), ("test.txt", 2)):
        rankopt.write_letor(name, problem(seed))
    data = rankopt.read_letor("train.txt")
    settings = {"objective": "regression", "num_leaves": 5, "verbosity": -1, "num_threads": 1}
    lgb.train(settings, lgb.Dataset(data.X, data.y), 10).save_model("model.txt")
    return tmp_path


def test_a_model_is_reweighted_and_lightgbm_loads_it(run, folder):
    words = ("reweight", "model.txt", "train.txt", "--valid", "valid.txt.gz", "-m", "ndcg@3")
    out = ok(run(*words, "-o", "new.txt", "--json"))
    assert out["train"] >= out["train_before"]
    assert out["valid"] >= out["valid_before"]
    assert (out["library"], out["format"], out["trees_before"]) == ("LightGBM", "text", 10)
    loaded = lgb.Booster(model_file="new.txt")
    assert loaded.num_trees() == out["trees"]
    data = rankopt.read_letor("valid.txt.gz")
    scores = data.restored(loaded.predict(data.X, num_threads=1))
    assert rankopt.evaluate(scores, data, "ndcg@3").mean["ndcg@3"] == pytest.approx(out["valid"])


def test_it_prints_a_table_and_says_where_nothing_helps(run, folder):
    status, out, _ = run("reweight", "model.txt", "train.txt", "-o", "new.txt", "--drop")
    assert status == 0
    assert "training" in out
    assert "validation" not in out
    status, out, _ = run(
        "reweight", "model.txt", "train.txt", "--max-iter", "0", "-o", "same.txt", "--blocks", "2"
    )
    assert "the model is as it was" in " ".join(out.split())
    same = (folder / "same.txt").read_bytes()
    assert same == (folder / "model.txt").read_bytes()


def test_a_text_file_that_leaves_out_zeros_gets_the_models_width(run, folder):
    (folder / "short.txt").write_text("1 qid:1 1:0.5\n0 qid:1 2:0.5\n2 qid:1 1:-1\n")
    out = ok(run("reweight", "model.txt", "short.txt", "-o", "new.txt", "--json"))
    assert out["train"] >= out["train_before"]


def test_predict_evaluate_and_compare_take_models_of_other_libraries(run, folder):
    data = rankopt.read_letor("test.txt")
    expected = lgb.Booster(model_file="model.txt").predict(data.X, num_threads=1)
    assert run("predict", "model.txt", "test.txt", "-o", "scores.txt")[0] == 0
    np.testing.assert_array_equal(read_scores("scores.txt"), expected)
    mean = rankopt.evaluate(expected, data).mean["ndcg@10"]
    for option in ("--model", "--scores"):
        out = ok(run("evaluate", "test.txt", option, "model.txt", "--json"))
        assert out["measures"]["ndcg@10"] == pytest.approx(mean)
    out = ok(run("compare", "test.txt", "model.txt", "scores.txt", "--json"))
    assert out["pairs"][0]["difference"] == 0.0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("nowhere.txt", "train.txt", "-o", "new.txt"), "nowhere.txt: No such file"),
        (("train.txt", "train.txt", "-o", "new.txt"), "train.txt: is no tree ensemble"),
        (("bad.json", "train.txt", "-o", "new.txt"), "bad.json: is no tree ensemble"),
        (("model.txt", "narrow.parquet", "-o", "new.txt"), "has 1 features, but the model"),
        (("model.txt", "train.txt", "-o", "new.txt", "--low", "1.5"), "low <= 1 <= high"),
        (("model.txt", "train.txt", "-o", "nowhere/new.txt", "--max-iter", "1"), "No such file"),
    ],
)
def test_bad_requests_get_one_line(run, folder, words, reason):
    import pandas as pd

    (folder / "bad.json").write_text(json.dumps({"a": 1}))
    pd.DataFrame({"label": [0, 1], "qid": [1, 1], "a": [0.5, 0.6]}).to_parquet("narrow.parquet")
    assert reason in refused(run("reweight", *words))
    assert not (folder / "new.txt").exists()
