"""The commands, run as a user runs them: results, exit status, one-line errors."""

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import rankopt
from rankopt.cli import main as command_line
from rankopt.data.scores import write_scores


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command line; its status, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr("sys.argv", ["rankopt", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "120")
        try:
            command_line.main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def ok(result):
    status, out, err = result
    assert status == 0, err
    return json.loads(out)


def refused(result):
    """The one line that a bad request gets."""
    status, out, err = result
    assert (status, out) == (1, "")
    assert err.startswith("rankopt: ")
    assert err.count("\n") == 1
    return err


def problem(seed, n_queries=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 6, 4)).astype(np.float32)
    y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + 1), 0, 4)
    return rankopt.dataset(X, y, np.repeat(np.arange(100, 100 + n_queries), 6))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train.txt", 0), ("valid.txt.gz", 1), ("test.txt.xz", 2)):
        rankopt.write_letor(name, problem(seed))
    test = problem(2)
    write_scores("good.txt", test.X[:, 0].astype(np.float64))
    write_scores("bad.txt", test.X[:, 3].astype(np.float64))
    return tmp_path


def test_inspect_names_the_products_of_a_quadratic_model(folder, run):
    options = ("-s", "scorer=quadratic(rho=0.1)", "-s", "normalize=standard", "-s", "max_iter=50")
    ok(run("train", "functional", "train.txt", *options, "-o", "q.rankopt", "--json"))
    weights = ok(run("inspect", "q.rankopt", "--json"))["weights"]
    assert list(weights)[:4] == ["1", "2", "3", "4"]
    assert "1 * 1" in weights
    assert all("*" in name for name in list(weights)[4:])
    status, out, _ = run("inspect", "q.rankopt", "--top", "3")
    assert status == 0
    assert f"of {len(weights)} weights are not 0; the largest 3 are shown" in out


def test_train_predict_evaluate_and_inspect_agree(folder, run):
    trained = ok(run("train", "directrank", "train.txt", "--valid", "valid.txt.gz", "--test", "test.txt.xz",
                     "-m", "ndcg@5", "-o", "m.rankopt", "-s", "restarts=2", "--json"))  # fmt: skip
    assert {
        "system",
        "measure",
        "train",
        "valid",
        "test",
        "n_iter",
        "seconds",
        "parameters",
    } <= set(trained)
    assert trained["parameters"]["restarts"] == 2
    evaluated = ok(
        run(
            "evaluate", "test.txt.xz", "--model", "m.rankopt", "-m", "ndcg@5", "-m", "map", "--json"
        )
    )
    assert evaluated["measures"]["ndcg@5"] == pytest.approx(trained["test"], abs=1e-12)
    assert (evaluated["queries"], set(evaluated)) == (
        30,
        {"measures", "queries", "blank", "convention"},
    )
    assert run("predict", "m.rankopt", "test.txt.xz", "-o", "s.txt")[0] == 0
    again = ok(run("evaluate", "test.txt.xz", "--scores", "s.txt", "-m", "ndcg@5", "--json"))
    assert again["measures"]["ndcg@5"] == evaluated["measures"]["ndcg@5"]
    status, printed, _ = run("predict", "m.rankopt", "test.txt.xz")
    assert status == 0
    assert printed == (folder / "s.txt").read_text()
    shown = ok(run("inspect", "m.rankopt", "--json"))
    assert shown["system"] == "directrank"
    assert list(shown["weights"]) == ["1", "2", "3", "4"]


def test_the_same_seed_writes_the_same_model(folder, run):
    for name in ("a.rankopt", "b.rankopt"):
        ok(
            run(
                "train",
                "directrank",
                "train.txt",
                "-s",
                "order=random",
                "-s",
                "kicks=2",
                "-o",
                name,
                "--seed",
                3,
                "--json",
            )
        )
    assert (folder / "a.rankopt").read_bytes() == (folder / "b.rankopt").read_bytes()


def test_evaluate_by_query_and_conventions(folder, run):
    out = ok(run("evaluate", "test.txt.xz", "--scores", "good.txt", "-m", "rr", "--by-query", "--json",
                 "--convention", "lightgbm", "--ties", "average", "--blank", "skip"))  # fmt: skip
    assert out["convention"]["ties"] == "average"
    assert list(out["per_query"]["rr"])[:2] == ["100", "101"]
    values = [v for v in out["per_query"]["rr"].values() if v is not None]
    assert np.mean(values) == pytest.approx(out["measures"]["rr"])


def test_tables_name_the_convention(folder, run):
    status, out, _ = run(
        "evaluate", "test.txt.xz", "--scores", "good.txt", "-m", "ndcg@5", "--by-query"
    )
    assert status == 0
    assert "convention rankopt: ties pessimistic, blank zero" in " ".join(out.split())
    status, out, _ = run("compare", "test.txt.xz", "good.txt", "bad.txt", "-m", "ndcg@5")
    assert status == 0
    assert "w/t/l" in out
    assert re.search(r"bad\.txt - good\.txt\s+-0\.\d+", out)


def test_compare_prints_every_pair(folder, run):
    write_scores("third.txt", problem(2).X[:, 1].astype(np.float64))
    out = ok(
        run(
            "compare",
            "test.txt.xz",
            "good.txt",
            "bad.txt",
            "third.txt",
            "-m",
            "map",
            "--test",
            "t",
            "--json",
        )
    )
    assert [(p["a"], p["b"]) for p in out["pairs"]] == [
        ("good.txt", "bad.txt"), ("good.txt", "third.txt"), ("bad.txt", "third.txt"),
    ]  # fmt: skip
    names = ("good.txt", "bad.txt", "third.txt")
    out = ok(run("compare", "test.txt.xz", *names, "--against", "third.txt", "--json"))
    assert [(p["a"], p["b"]) for p in out["pairs"]] == [
        ("third.txt", "good.txt"), ("third.txt", "bad.txt"),
    ]  # fmt: skip
    assert all(p["p_holm"] >= p["p"] for p in out["pairs"])


def test_a_run_and_judgements(folder, run):
    (folder / "qrels").write_text("1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 1\n")
    (folder / "run").write_text("1 Q0 b 1 3.0 x\n1 Q0 a 2 2.0 x\n2 Q0 a 1 1.0 x\n")
    out = ok(
        run(
            "evaluate",
            "--run",
            "run",
            "--qrels",
            "qrels",
            "-m",
            "map",
            "-m",
            "ndcg",
            "--convention",
            "trec_eval",
            "--json",
        )
    )
    assert out["measures"]["map"] == pytest.approx((0.25 + 1.0) / 2)
    ideal = 2 + 1 / np.log2(3)
    assert out["measures"]["ndcg"] == pytest.approx((2 / np.log2(3) / ideal + 1) / 2)


def test_boosts(folder, run):
    out = ok(
        run(
            "boosts",
            "train.txt",
            "--valid",
            "valid.txt.gz",
            "-m",
            "ndcg@5",
            "--current",
            "1=1,2=1,3=1,4=1",
            "--json",
        )
    )
    assert {"train_before", "train", "valid_before", "valid", "weights"} <= set(out)
    assert set(out["weights"][0]) == {"feature", "weight", "lo", "hi"}
    assert out["train"] >= out["train_before"]
    status, printed, _ = run("boosts", "train.txt", "-m", "ndcg@5")
    assert status == 0
    assert "cross-validation" in printed
    assert "keeps the optimum in" in printed
    assert re.search(r"\d \* f1\b", printed)  # a number is no name to put into a query


def test_boosts_fuse_rankings(folder, run):
    assert run("train", "directrank", "train.txt", "-o", "m.rankopt", "--json")[0] == 0
    command = ["boosts", "test.txt.xz", "--scores", "good.txt", "--scores", "worse=bad.txt"]
    out = ok(run(*command, "--scores", "m.rankopt", "--current", "good=1", "--json"))
    assert [weight["feature"] for weight in out["weights"]] == ["good", "worse", "m"]
    before = ok(run("evaluate", "test.txt.xz", "--scores", "good.txt", "--json"))
    assert out["train_before"] == pytest.approx(before["measures"]["ndcg@10"], abs=1e-12)
    assert out["train"] > out["train_before"]
    assert "two rankings are called 'good'" in refused(run(*command, "--scores", "good.txt"))
    assert run(*command, "--valid", "valid.txt.gz")[0] == 2


def test_a_file_that_leaves_out_zeros_is_read_at_the_width_of_the_model(folder, run):
    assert run("train", "directrank", "train.txt", "-o", "m.rankopt", "--json")[0] == 0
    (folder / "narrow.txt").write_text("1 qid:1 1:0.5\n0 qid:1 2:0.5\n")
    command = ["evaluate", "narrow.txt", "--model", "m.rankopt", "--json"]
    assert "--n-features 4" in refused(run(*command))
    assert ok(run(*command, "--n-features", 4))["queries"] == 1
    write_scores("two.txt", np.array([1.0, 2.0]))
    compared = ["compare", "narrow.txt", "m.rankopt", "two.txt", "--n-features", 4, "--json"]
    assert ok(run(*compared))["means"]["two.txt"] == pytest.approx(1 / np.log2(3))


def test_bad_input_gets_one_line_that_names_it(folder, run):
    (folder / "broken.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:x\n")
    (folder / "empty.txt").write_text("")
    (folder / "noqid.txt").write_text("1 1:0.5\n")
    (folder / "wide.txt").write_text("1 qid:1 1:0.5 9:1\n0 qid:1 1:0.1\n")
    (folder / "nan.txt").write_text("1.0\nnan\n")
    (folder / "short.txt").write_text("1.0\n")
    (folder / "words.txt").write_text("1.0\nhello\n")
    assert run("train", "directrank", "train.txt", "-o", "m.rankopt", "--json")[0] == 0
    (folder / "cut.rankopt").write_bytes((folder / "m.rankopt").read_bytes()[:200])
    cases = {
        ("evaluate", "nowhere.txt", "--scores", "good.txt"): r"nowhere\.txt.*No such file",
        ("evaluate", "broken.txt", "--scores", "good.txt"): r"broken\.txt:2",
        ("evaluate", "empty.txt", "--scores", "good.txt"): r"empty\.txt",
        ("evaluate", "noqid.txt", "--scores", "good.txt"): r"noqid\.txt.*qid",
        ("evaluate", "train.txt", "--scores", "nan.txt"): r"nan\.txt:2",
        ("evaluate", "train.txt", "--scores", "words.txt"): r"words\.txt:2: 'hello' is not a score",
        ("evaluate", "train.txt", "--scores", "empty.txt"): r"empty\.txt: holds no scores",
        (
            "evaluate",
            "wide.txt",
            "--scores",
            "good.txt",
        ): r"good\.txt: 180 values, but .*wide\.txt has 2",
        (
            "evaluate",
            "wide.txt",
            "--model",
            "m.rankopt",
        ): "9 features, but the model was trained on 4; it needs the features that",
        (
            "evaluate",
            "train.txt",
            "--model",
            "cut.rankopt",
        ): r"cut\.rankopt: is not a rankopt model",
        ("evaluate", "train.txt", "--scores", "good.txt", "-m", "ndgc@10"): "did you mean 'ndcg'",
        ("evaluate", "train.txt", "--scores", "good.txt", "-m", "tau@10"): "tau has no cut-off",
        (
            "evaluate",
            "train.txt",
            "--scores",
            "good.txt",
            "--convention",
            "letr",
        ): "did you mean 'letor'",
        ("evaluate", "train.txt", "--model", "good.txt"): r"good\.txt: is not a rankopt model",
        ("compare", "train.txt", "good.txt", "words.txt"): r"words\.txt:2",
        ("compare", "train.txt", "good.txt", "short.txt"): r"short\.txt: 1 values, but",
        (
            "evaluate",
            "t.parquet",
            "--scores",
            "good.txt",
            "--missing",
            "nan",
        ): "--missing is for text",
        ("train", "directrnk", "train.txt"): "did you mean 'directrank'",
        ("train", "directrank", "train.txt", "-s", "restart=2"): "did you mean 'restarts'",
        ("train", "directrank", "train.txt", "-o", "no/such/m"): "no.*does not exist",
        ("train", "directrank", "train.txt", "-o", "."): "is a folder; name a file",
        ("predict", "m.rankopt", "train.txt", "-o", "no/such/s"): "no.*does not exist",
        ("inspect", "train.txt"): "is not a rankopt model",
        ("boosts", "train.txt", "--current", "1:2"): "'1:2' is not name=weight",
        ("boosts", "train.txt", "--current", "2=-1"): "weight -1 of '2'; .*not negative",
    }
    for words, pattern in cases.items():
        assert re.search(pattern, refused(run(*words))), words


@pytest.mark.parametrize(
    "words",
    [
        ["evaluate"],
        ["evaluate", "train.txt"],
        ["evaluate", "--run", "r"],
        ["nonsense"],
        ["compare", "train.txt", "good.txt"],
        ["compare", "train.txt", "good.txt", "good.txt"],
    ],
)
def test_wrong_usage_has_status_two(folder, run, words):
    assert run(*words)[0] == 2


def test_labels_without_a_gain_are_refused_with_the_name_of_their_file(folder, run):
    (folder / "odd.txt").write_text("1 qid:7 1:2\n-1 qid:7 1:3\n")
    said = refused(run("train", "directrank", "train.txt", "--test", "odd.txt", "-o", "m.rankopt"))
    assert "odd.txt: row 2 (query 7) has label -1" in said
    assert not (folder / "m.rankopt").exists()


def test_the_package_runs_as_a_module(run):
    words = [sys.executable, "-m", "rankopt", "--version"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert done.stdout == run("--version")[1]


def test_the_version(run):
    assert run("--version")[1] == f"rankopt {rankopt.__version__}\n"


def test_ctrl_c_writes_the_best_model_so_far_and_nothing_half(folder, run, monkeypatch):
    rounds = []

    def interrupt(ascent):
        rounds.append(1)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("rankopt.solvers.coordinate._Ascent.round", interrupt)
    out = ok(run("train", "directrank", "train.txt", "-o", "m.rankopt", "--json"))
    assert rounds
    assert out["status"].startswith("Interrupted")
    assert rankopt.load("m.rankopt").score(rankopt.read_letor("train.txt")) == out["train"]
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]


def test_a_full_disk_leaves_no_model(folder, run, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "No space left" in refused(run("train", "directrank", "train.txt", "-o", "m.rankopt"))
    assert not (folder / "m.rankopt").exists()
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]


def test_the_demo_trains_compares_and_writes_files_that_agree(tmp_path, run):
    out = ok(run("demo", "--out", tmp_path / "demo", "--json"))
    systems = set(out["means"]) - {"title_bm25"}
    assert {"directrank", "smoothrank", "marginrank", "functional", "directboost"} < systems
    assert all(out["means"][name] > out["means"]["title_bm25"] + 0.05 for name in systems)
    assert {pair["a"] for pair in out["pairs"]} == {"title_bm25"}
    evaluated = ok(
        run(
            "evaluate",
            tmp_path / "demo/test.txt",
            "--model",
            tmp_path / "demo/directrank.rankopt",
            "--json",
        )
    )
    assert evaluated["measures"]["ndcg@10"] == pytest.approx(out["means"]["directrank"], abs=1e-12)
    status, printed, _ = run("demo")
    assert status == 0
    assert "after (directboost)" in printed


def test_text_from_training_to_scores(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in ("train.tsv", "test.tsv"):
        lines = ["question\tanswer\tlabel"]
        for q in range(30):
            asked = rng.integers(2)
            for kind, word in enumerate(("london", "shakespeare")):
                lines.append(
                    f"{('where', 'who')[asked]} q{q}\t{word} a{q % 3}\t{int(kind == asked)}"
                )
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    words = ["-s", "text=words(stop_words=none)", "--seed", 1]
    trained = ok(
        run("train", "functional", "train.tsv", "--text", "--valid", "test.tsv", "--test", "test.tsv",
            "-m", "mrr", "-o", "m.rankopt", *words, "--json")
    )  # fmt: skip
    assert trained["test"] == 1.0
    assert trained["parameters"]["scorer"] == "bilinear(d=10)"
    found = ok(
        run("evaluate", "test.tsv", "--model", "m.rankopt", "-m", "mrr", "-m", "map", "--json")
    )
    assert found["measures"] == {"mrr": 1.0, "map": 1.0}
    scored = ok(run("predict", "m.rankopt", "test.tsv", "--json"))
    assert (scored["rows"], scored["queries"]) == (60, 30)
    assert "bilinear" in ok(run("inspect", "m.rankopt", "--json"))["scorer"]
    (tmp_path / "pairs.txt").write_bytes((tmp_path / "test.tsv").read_bytes())
    assert ok(run("predict", "m.rankopt", "pairs.txt", "--json"))["scores"] == scored["scores"]
    assert "holds text, and DirectRank" in refused(run("train", "directrank", "train.tsv"))
    (tmp_path / "bad.tsv").write_text("question\tanswer\tlabel\nwho\ta\tno\n")
    assert "bad.tsv, line 2: label is 'no'" in refused(
        run("train", "functional", "bad.tsv", "--text")
    )
