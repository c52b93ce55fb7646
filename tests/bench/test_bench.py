"""The bench on tiny simulated folds: protocol, resuming, tables, figure, command."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rankopt
from rankopt.bench import cells as cells_module
from rankopt.bench.cells import Cell
from rankopt.bench.letor import bench
from rankopt.bench.markdown import page
from rankopt.bench.sets import find_sets
from rankopt.bench.systems import ENTRIES, Entry, chosen
from rankopt.bench.tables import differences, pooled, winning_numbers, winning_table
from rankopt.errors import DataError, SpecError
from rankopt.estimators import SYSTEMS

QUICK = "ridge,ranksvm,adarank-ndcg"


def write_fold(folder, seed, parts=("train", "vali", "test")):
    folder.mkdir(parents=True)
    for i, part in enumerate(parts):
        data = rankopt.simulate(
            n_queries=15, n_features=6, largest=12, typical=8, seed=10 * seed + i
        )
        rankopt.write_letor(folder / f"{part}.txt", data)


@pytest.fixture(scope="module")
def folds(tmp_path_factory):
    root = tmp_path_factory.mktemp("folds")
    for fold in (1, 2):
        write_fold(root / "set" / f"Fold{fold}", fold)
    return root / "set"


@pytest.fixture(scope="module")
def finished(folds, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    return bench(folds, out, systems=QUICK, jobs=1, verbose=False), out


def test_every_entry_has_settings_of_its_system():
    for label, entry in ENTRIES.items():
        if entry.system not in SYSTEMS:
            continue
        names = rankopt.estimators.system(entry.system)._get_param_names()
        for values in entry.settings("ndcg@10"):
            assert set(values) <= set(names), label
        assert ("random_state" in names) or not entry.seeded


def test_unknown_systems_are_named():
    with pytest.raises(SpecError, match="did you mean 'ranksvm'"):
        chosen("rank-svm")


def test_sets_are_found_by_the_names_of_publishers(tmp_path):
    write_fold(tmp_path / "letor" / "Fold1", 1)
    write_fold(tmp_path / "letor" / "Fold2", 2)
    write_fold(tmp_path / "yahoo", 3, ("set1.train", "set1.valid", "set1.test"))
    write_fold(tmp_path / "istella", 4, ("train", "test"))
    found = {s.name: s for s in find_sets(tmp_path)}
    assert sorted(found) == ["istella", "letor", "yahoo"]
    assert len(found["letor"].folds) == 2
    assert found["yahoo"].folds[0].vali.name == "set1.valid.txt"
    write_fold(tmp_path / "both", 5, ("set1.train", "set1.valid", "set1.test"))
    for part in ("train", "valid", "test"):
        first = tmp_path / "both" / f"set1.{part}.txt"
        (tmp_path / "both" / f"set2.{part}.txt").write_bytes(first.read_bytes())
    both = find_sets(tmp_path / "both")
    assert [s.name for s in both] == ["both/set1", "both/set2"]
    assert both[1].folds[0].test.name == "set2.test.txt"
    parts = found["istella"].folds[0].read()
    assert parts["train"].groups.n_queries + parts["vali"].groups.n_queries == 15
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    with pytest.raises(DataError, match="holds no folds"):
        find_sets(nothing)


def test_parts_of_a_fold_are_of_one_width(tmp_path):
    (tmp_path / "train.txt").write_text("1 qid:1 1:0.5 3:1\n0 qid:1 1:0.1\n0 qid:2 1:1\n")
    (tmp_path / "test.txt").write_text("1 qid:3 1:0.5 2:1\n")
    parts = find_sets(tmp_path)[0].folds[0].read()
    assert {part.n_features for part in parts.values()} == {3}


def test_several_folders_hold_sets_of_different_names(folds, tmp_path):
    write_fold(tmp_path / "one", 3)
    write_fold(tmp_path / "elsewhere" / "one", 4)
    assert [s.name for s in find_sets(tmp_path / "one", folds)] == ["one", "set"]
    with pytest.raises(DataError, match="a set 'one' was there before"):
        find_sets(tmp_path / "one", tmp_path / "elsewhere" / "one")


def test_features_are_scaled_by_the_training_part_or_within_queries(folds):
    (found,) = find_sets(folds)
    raw, standard, query = (found.folds[0].read(how) for how in (None, "standard", "query"))
    np.testing.assert_allclose(standard["train"].X.std(axis=0), 1.0, rtol=1e-4)
    center, scale = raw["train"].X.mean(axis=0), raw["train"].X.std(axis=0)
    np.testing.assert_allclose(standard["test"].X, (raw["test"].X - center) / scale, atol=1e-3)
    first = raw["test"].X[: raw["test"].groups.sizes[0]]
    spread = np.ptp(first, axis=0)
    expected = np.where(
        spread > 0, (first - first.min(axis=0)) / np.where(spread > 0, spread, 1), 0
    )
    np.testing.assert_allclose(query["test"].X[: len(first)], expected, atol=1e-5)
    with pytest.raises(SpecError, match="normalize: unknown 'max'"):
        bench(folds, folds, normalize="max")


def test_settings_name_the_measure_to_train_on():
    entry = Entry("softrank", {"objective": "softrank(MEASURE)"}, {"l2": (0.1,)})
    assert list(entry.settings("ndcg@5")) == [
        {"measure": "ndcg@5", "objective": "softrank(ndcg@5)", "l2": 0.1}
    ]


def test_figures_are_those_of_a_fit_by_hand(folds, finished):
    summary, _ = finished
    means = []
    for fold in (1, 2):
        train, vali, test = (
            rankopt.read_letor(folds / f"Fold{fold}" / f"{part}.txt")
            for part in ("train", "vali", "test")
        )
        tried = []
        for values in ENTRIES["ranksvm"].settings("ndcg@10"):
            model = rankopt.baselines.RankSVM(**values, random_state=0).fit(train, eval_set=[vali])
            value = rankopt.evaluate(model, vali, "ndcg@10", convention="letor").mean["ndcg@10"]
            tried.append((value, model))
        model = max(tried, key=lambda pair: pair[0])[1]
        means.append(rankopt.evaluate(model, test, "ndcg@3", convention="letor").mean["ndcg@3"])
    row = summary["sets"]["set"]["systems"]["ranksvm"]
    assert row["means"]["ndcg@3"] == pytest.approx(np.mean(means), abs=1e-12)
    assert row["folds"] == 2
    assert row["cpu_all"] >= row["cpu"] > 0.0


def test_the_test_part_decides_nothing(folds, tmp_path, finished):
    """With other test labels the same settings are chosen, and the same rounds."""
    changed = tmp_path / "set"
    for fold in (1, 2):
        (changed / f"Fold{fold}").mkdir(parents=True)
        for part in ("train", "vali", "test"):
            text = (folds / f"Fold{fold}" / f"{part}.txt").read_text()
            if part == "test":
                lines = text.splitlines()
                text = (
                    "\n".join(("0" if i % 2 else "2") + line[1:] for i, line in enumerate(lines))
                    + "\n"
                )
            (changed / f"Fold{fold}" / f"{part}.txt").write_text(text)
    other = bench(changed, tmp_path / "out", systems=QUICK, jobs=1, verbose=False)
    for name, row in other["sets"]["set"]["systems"].items():
        mine = finished[0]["sets"]["set"]["systems"][name]
        assert row["chosen"] == mine["chosen"]
        assert row["vali"] == mine["vali"]
        assert row["means"] != mine["means"]


def test_a_second_run_does_nothing_again(folds, finished, monkeypatch):
    summary, out = finished
    files = {path: path.stat().st_mtime_ns for path in out.rglob("*.json")}
    assert len([path for path in files if "cells" in path.parts]) == 6

    def refuse(*_):
        raise AssertionError("ran again")

    monkeypatch.setattr("rankopt.bench.work.run", refuse)
    again = bench(folds, out, systems=QUICK, jobs=1, verbose=False)
    assert again["work"]["done_now"] == 0
    told = {"work", "setting"}
    assert {k: v for k, v in again.items() if k not in told} == {
        k: v for k, v in summary.items() if k not in told
    }
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.json")} == files


def test_a_damaged_or_outdated_cell_is_done_again(folds, tmp_path):
    (found,) = find_sets(folds)
    cell = Cell("set", 1, found.folds[0], "ridge", Entry("ridge"), "ndcg@10", "ndcg@10", "letor", 0)
    assert cell.done(tmp_path) is None
    first = cells_module.run(cell, tmp_path)
    assert cell.done(tmp_path) == first
    assert replace(cell, measure="map").done(tmp_path) is None
    assert replace(cell, entry=Entry("ridge", {"l2": 1.0})).done(tmp_path) is None
    cell.path(tmp_path).write_text("{")
    assert cell.done(tmp_path) is None


def test_a_cell_that_fails_is_told_and_the_others_go_on(folds, tmp_path, monkeypatch):
    from rankopt.baselines import Ridge

    def fail(*_, **__):
        raise DataError("no way")

    monkeypatch.setattr(Ridge, "_fit", fail)
    summary = bench(folds, tmp_path, systems="ridge,adarank-ndcg", jobs=1, verbose=False)
    assert list(summary["sets"]["set"]["systems"]) == ["adarank-ndcg"]
    assert sorted(summary["failed"].values()) == ["no way", "no way"]
    assert "no way" in page(summary)


def test_winning_numbers_are_lius():
    means = [{"a": 0.5, "b": 0.4, "c": 0.4}, {"a": 0.1, "b": 0.2, "c": 0.3, "d": 1.0}]
    assert winning_numbers(means) == {"a": 2, "b": 1, "c": 2}


def test_tables_of_several_seeds(folds, tmp_path):
    summary = bench(
        folds, tmp_path, systems="ridge,coordinate-ascent", seeds=2, jobs=1, verbose=False
    )
    row = summary["sets"]["set"]["systems"]["coordinate-ascent"]
    assert row["seeds"] == 2
    assert row["spread"]["ndcg@10"] >= 0.0
    assert summary["sets"]["set"]["systems"]["ridge"]["seeds"] == 1


def test_pooled_values_are_those_of_all_test_queries(finished):
    _, out = finished
    results = [json.loads(path.read_text()) for path in sorted((out / "cells").rglob("*.json"))]
    found = pooled(results)
    ridge = found["set"]["ridge"]
    assert ridge.values["map"].size == 30
    halves = [result["per_query"]["map"] for result in results if result["system"] == "ridge"]
    np.testing.assert_allclose(ridge.values["map"], np.concatenate(halves))
    rows = differences(found["set"], "ridge", "map")
    expected = np.mean(found["set"]["ranksvm"].values["map"] - ridge.values["map"])
    assert rows["ranksvm"]["difference"] == pytest.approx(expected)
    assert 0.0 < rows["ranksvm"]["p"] <= rows["ranksvm"]["p_holm"] <= 1.0
    wins = winning_table(found, "map")
    assert sum(row["first"] for row in wins.values()) >= 1.0
    assert all(row["lo"] <= row["wins"] <= row["hi"] for row in wins.values())


def test_figure(finished, tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    from rankopt.bench.figure import draw

    draw(finished[0], tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_bytes().startswith(b"<?xml")


def test_command_in_two_processes(folds, tmp_path):
    script = tmp_path / "run.py"
    script.write_text("from rankopt.cli.main import main\nif __name__ == '__main__':\n    main()\n")
    command = [
        sys.executable, script, "bench", "letor", folds, "--systems", "ridge,adarank-ndcg",
        "-o", tmp_path / "out", "--json",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert list(summary["sets"]["set"]["systems"]) == ["ridge", "adarank-ndcg"]
    page_text = (tmp_path / "out" / "tables.md").read_text()
    assert "Winning numbers over 1 sets" in page_text


BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_page_of_benchmarks_is_made_of_results(folds, tmp_path):
    summary = bench(folds, tmp_path / "mq2008", systems=QUICK, jobs=1, verbose=False)
    (tmp_path / "mq2008" / "results.json").write_text(json.dumps(summary))
    row = {"step": "read", "seconds": 2.0, "cpu": 1.0, "peak_gb": 3.25}
    steps = [row | {"queries": 5, "rows": 9, "file_gb": 1.0}]
    (tmp_path / "web_scale.json").write_text(json.dumps(steps))
    boosted = {"leaves": 10, "data": "train", "ndcg@1": 0.25, "ndcg@10": 0.5, "p ndcg@10": 0.125}
    names = [(name, system) for name in ("set", "mean") for system in ("ours", "theirs")]
    rows = [{"set": name, "system": system, **boosted} for name, system in names]
    (tmp_path / "boosting.json").write_text(json.dumps({"rows": rows}))
    command = [sys.executable, BENCHMARKS / "page.py", tmp_path, "--out", tmp_path / "page.md"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.md").read_text()
    assert f"{summary['sets']['set']['systems']['ridge']['means']['map']:.4f}" in text
    assert "## Winning numbers over 1 sets" in text
    assert "| read | 2 | 1 | 3.2 |" in text
    assert "| theirs | 0.2500 / 0.5000 (0.125) | 0.2500 / 0.5000 (0.125) |" in text
    assert "Jumping points" not in text


def test_jumping_points_do_not_grow_as_lists_do():
    script = BENCHMARKS / "jumping_points.py"
    command = [sys.executable, script, "--json", "--features", "1", "--scale", "0.06"]
    environment = {k: v for k, v in os.environ.items() if k != "RANKOPT_DATA"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["measured"]["gov_like"]
    assert [row["m"] for row in rows] == [50, 100, 200, 500, 1000]
    assert 5 < rows[0]["first"] < rows[-1]["first"] < 3 * rows[0]["first"]
    assert all(row["steps"] <= row["mean"] for row in rows)


DATA = os.environ.get("RANKOPT_DATA")


@pytest.mark.skipif(DATA is None, reason="RANKOPT_DATA names no folder of real data")
def test_script_of_the_full_sets_on_the_sample_of_mslr(tmp_path):
    sample = Path(DATA) / "mslr_web30k_sample"
    command = [
        sys.executable, BENCHMARKS / "full_sets.py", "mslr", sample, "-o", tmp_path,
        "--systems", "ridge,ranksvm", "-j", "1",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "results.json").read_text())
    (found,) = summary["sets"].values()
    assert found["size"]["train of fold 1"] == "53 queries, 5488 rows, 136 features"
    assert (summary["convention"], summary["normalize"]) == ("yahoo", "standard")
    # raw features of very different ranges: scaled, a linear model beats chance (about 0.2) by far
    assert found["systems"]["ranksvm"]["train"]["ndcg@10"] > 0.35
    assert not summary["failed"]
