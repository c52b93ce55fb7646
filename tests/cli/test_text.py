"""Question and answer text on the command line, from training to prediction."""

import json

import numpy as np
import pytest

import rankopt
from rankopt.cli import main as command_line

CAPITALS = {"france": "paris", "spain": "madrid", "egypt": "cairo", "japan": "tokyo"}


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*words):
        monkeypatch.setattr("sys.argv", ["rankopt", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            command_line.main()
        captured = capsys.readouterr()
        return end.value.code or 0, captured.out, captured.err

    return call


def pairs(path, seed, separator="\t"):
    """Every country asked after in many words, with every city for an answer."""
    rng = np.random.default_rng(seed)
    rows = [separator.join(["question", "answer", "label"])]
    for number in range(24):
        country = rng.choice(list(CAPITALS))
        for of, city in CAPITALS.items():
            question = f"{seed} {number} what is the capital of {country}"
            rows.append(separator.join([question, f"it is {city}", str(int(of == country))]))
    path.write_text("\n".join(rows) + "\n")
    return path


def test_train_evaluate_and_predict_text(run, tmp_path):
    train, test = pairs(tmp_path / "train.tsv", 1), pairs(tmp_path / "test.csv", 2, ",")
    status, out, err = run(
        "train", "functional", train, "--text", "--test", test, "-m", "mrr", "-s", "l2=0.001",
        "-s", "scorer=distance(d=4)", "-o", tmp_path / "m.rankopt", "--json",
    )  # fmt: skip
    assert status == 0, err
    result = json.loads(out)
    assert result["test"] == 1.0
    assert result["parameters"]["loss"] == "multiclass"
    status, out, err = run(
        "evaluate", test, "--model", tmp_path / "m.rankopt", "-m", "rr", "--json"
    )
    assert status == 0, err
    assert json.loads(out)["measures"]["rr"] == 1.0
    status, out, err = run("predict", tmp_path / "m.rankopt", test)
    assert status == 0, err
    scores = rankopt.load(tmp_path / "m.rankopt").predict(rankopt.read_pairs(test))
    np.testing.assert_allclose(np.array(out.split(), float), scores)


def test_text_for_a_system_of_features_is_refused_in_one_line(run, tmp_path):
    status, out, err = run("train", "directrank", pairs(tmp_path / "train.tsv", 1), "--text")
    assert (status, out) == (1, "")
    assert "holds text" in err
    assert err.count("\n") == 1
