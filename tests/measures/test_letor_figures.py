"""The figures published with third-party score files, by the ``letor`` convention."""

import csv

import numpy as np
import pytest

import rankopt
from rankopt.data.scores import read_scores
from rankopt.measures import as_convention

MEASURE_OF = {
    **{f"NDCG@{k}": f"ndcg@{k}" for k in range(1, 11)},
    "MeanNDCG": "mean-ndcg",
    "MAP": "map",
}
TEST_FILE = {"mq2008": "Fold{}/test.txt.gz", "ohsumed_letor3": "QueryLevelNorm/Fold{}/test.txt.gz"}


@pytest.fixture(scope="module")
def test_sets(real_data):
    return {
        (name, fold): rankopt.read_letor(real_data / name / path.format(fold))
        for name, path in TEST_FILE.items()
        for fold in range(1, 6)
    }


@pytest.mark.parametrize("system", ["svm_rank", "RankBoost"])
@pytest.mark.parametrize("name", list(TEST_FILE))
def test_all_figures_of_all_folds_to_four_decimals(real_data, test_sets, name, system):
    folder = real_data / name / "reference_scores" / system
    with (folder / "expected.tsv").open(encoding="utf-8") as lines:
        published = {row.pop("fold"): row for row in csv.DictReader(lines, delimiter="\t")}
    found = {}
    for fold in range(1, 6):
        scores = read_scores(folder / f"Fold{fold}.test.score.gz")
        results = rankopt.evaluate(
            scores, test_sets[name, fold], list(MEASURE_OF.values()), convention="letor"
        )
        found[f"Fold{fold}"] = {m: f"{results.mean[text]:.4f}" for m, text in MEASURE_OF.items()}
    # The published mean is that of the rounded figures.
    folds = list(found.values())
    found["mean"] = {m: f"{np.mean([float(row[m]) for row in folds]):.4f}" for m in MEASURE_OF}
    assert found == published


def test_file_order_is_worth_points_and_pessimistic_ties_give_it_none(test_sets):
    means = {
        ties: np.mean(
            [
                rankopt.evaluate(
                    np.zeros(data.n_rows),
                    data,
                    ["ndcg@10"],
                    convention=as_convention("rankopt", ties=ties),
                ).mean["ndcg@10"]
                for (name, _), data in test_sets.items()
                if name == "ohsumed_letor3"
            ]
        )
        for ties in ("stable", "pessimistic", "average")
    }
    assert means["stable"] == pytest.approx(0.40, abs=0.005)
    assert means["pessimistic"] == 0.0
    assert means["average"] == pytest.approx(0.19, abs=0.005)
