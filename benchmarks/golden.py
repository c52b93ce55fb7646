"""Makes tests/golden/*.json by running the other tools on simulated data.

    python benchmarks/golden.py [TOOL ...]

Every tool scores each query alone (`per_query`), all queries together (`mean`) and, where it takes
weights, all of them weighted (`weighted`). `faults` holds what a tool says where it is wrong or
gives up. Needs the group `oracles` of pyproject.toml, and perl for gdeval.
"""

from __future__ import annotations

import json
import pkgutil
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "golden"
SIZES = [1, 5, 30, 2, 12, 1, 8, 21, 3, 17, 1, 6, 25, 4, 10, 2, 14, 7, 1, 28, 9, 3, 19, 5]
BLANK = [1, 5, 8, 11, 15]  # queries without a relevant row, of several sizes
LEVEL = [6]  # queries whose rows all score the same
CUTOFFS = [1, 3, 5, 10, 25]


def simulated() -> dict[str, Any]:
    """Scores are multiples of 1/64, so that tools in single precision see the same ties."""
    rng = np.random.default_rng(20080)
    offsets = np.concatenate(([0], np.cumsum(SIZES)))
    labels = rng.choice(5, size=offsets[-1], p=[0.45, 0.25, 0.15, 0.1, 0.05])
    tied = np.round(rng.normal(labels / 3.0, 1.0) * 4.0) / 64.0
    distinct = np.empty(offsets[-1])
    for q, (start, stop) in enumerate(pairwise(offsets)):
        if q in BLANK:
            labels[start:stop] = 0
        elif labels[start:stop].max() == 0:
            labels[start] = 1 + q % 4
        if q in LEVEL:
            tied[start:stop] = 0.25
        distinct[start:stop] = rng.permutation(stop - start) / 64.0
    return {
        "sizes": SIZES,
        "weights": (rng.integers(1, 13, size=len(SIZES)) / 4.0).tolist(),
        "docs": [f"doc{number}" for number in rng.permutation(offsets[-1])],
        "labels": {
            "graded": labels.tolist(),
            "binary": (labels >= 2).astype(int).tolist(),
            "chances": (labels / 4.0).tolist(),
        },
        "scores": {"tied": tied.tolist(), "distinct": distinct.tolist()},
    }


@dataclass(frozen=True)
class Part:
    """What a tool is run on: one query or all of them; `weights` are one per query, or None."""

    labels: Any
    scores: Any
    qid: Any
    docs: Any
    sizes: Any
    weights: Any = None

    @property
    def row_weights(self) -> Any:
        return None if self.weights is None else np.repeat(self.weights, self.sizes)

    def nested(self, values: Any, kind: type) -> dict[str, dict[str, Any]]:
        """``{query: {document: value}}``, as trec_eval's relatives take rankings."""
        out: dict[str, dict[str, Any]] = {}
        for q, d, v in zip(self.qid.tolist(), self.docs.tolist(), values.tolist(), strict=True):
            out.setdefault(str(q), {})[d] = kind(v)
        return out


class Problem:
    """The simulated data, whole and query by query."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.sizes = np.array(data["sizes"])
        self.qid = np.repeat(np.arange(1, self.sizes.size + 1), self.sizes)
        self.docs = np.array(data["docs"])

    def whole(self, labels: str, scores: str, weighted: bool = False) -> Part:
        y, s = np.array(self.data["labels"][labels], float), np.array(self.data["scores"][scores])
        weights = np.array(self.data["weights"]) if weighted else None
        return Part(y, s, self.qid, self.docs, self.sizes, weights)

    def queries(self, labels: str, scores: str) -> list[Part]:
        p = self.whole(labels, scores)
        rows = [np.flatnonzero(p.qid == q) for q in np.unique(p.qid)]
        return [
            Part(p.labels[r], p.scores[r], p.qid[r], p.docs[r], np.array([r.size])) for r in rows
        ]

    def answers(
        self,
        run: Callable[[Part], dict[str, float]],
        names: dict[str, str],
        labels: str = "graded",
        scores: str = "tied",
        weighted: bool = False,
    ) -> list[dict[str, Any]]:
        """One answer per measure of `names`, which maps the tool's spelling to rankopt's."""
        alone = [run(part) for part in self.queries(labels, scores)]
        together = run(self.whole(labels, scores))
        heavy = run(self.whole(labels, scores, weighted=True)) if weighted else {}
        out: list[dict[str, Any]] = []
        for asked, measure in names.items():
            answer = {"asked": asked, "measure": measure, "labels": labels, "scores": scores}
            answer |= {"per_query": [values.get(asked) for values in alone]}
            answer |= {"mean": together[asked]} if asked in together else {}
            out.append(answer | ({"weighted": heavy[asked]} if weighted else {}))
        return out


def made(tools: Sequence[str], answers: list[dict[str, Any]], **faults: Any) -> dict[str, Any]:
    return {"versions": {t: version(t) for t in tools}, "answers": answers, "faults": faults}


def at(names: dict[str, str], cutoffs: Sequence[int] = CUTOFFS) -> dict[str, str]:
    """The names at each cut-off: ``{}`` stands for it in both spellings."""
    return {a.format(k): b.format(k) for a, b in names.items() for k in cutoffs}


def trec_eval(problem: Problem) -> dict[str, Any]:
    """trec_eval, through ir_measures and pytrec_eval."""
    import ir_measures

    names = {"nDCG": "ndcg", "AP": "map", "RR": "mrr", "AP(rel=2)": "ap(relevant_from=2)"}
    names |= at({"nDCG@{}": "ndcg@{}", "AP@{}": "map@{}", "P@{}": "p@{}", "R@{}": "recall@{}"})
    names |= at({"Success@{}": "success@{}", "R(rel=3)@{}": "recall(relevant_from=3)@{}"}, [1, 5])
    asked = {ir_measures.parse_measure(name): name for name in names}

    def run(part: Part) -> dict[str, float]:
        qrels, ranking = part.nested(part.labels, int), part.nested(part.scores, float)
        found = ir_measures.pytrec_eval.calc_aggregate(list(asked), qrels, ranking)
        return {asked[measure]: float(value) for measure, value in found.items()}

    return made(["ir_measures", "pytrec_eval-terrier"], problem.answers(run, names))


def gdeval(problem: Problem) -> dict[str, Any]:
    """gdeval.pl, as ir_measures ships it; it prints five decimals and no line for a blank query."""
    script = pkgutil.get_data("ir_measures", "bin/gdeval.pl") or b""

    def run(part: Part) -> dict[str, float]:
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("gdeval.pl", "qrels", "run")]
            rows = list(zip(part.qid, part.docs, part.labels, part.scores, strict=True))
            paths[0].write_bytes(script)
            paths[1].write_text("".join(f"{q} 0 {d} {int(y)}\n" for q, d, y, _ in rows))
            paths[2].write_text("".join(f"{q} Q0 {d} 1 {float(s)!r} x\n" for q, d, _, s in rows))
            values: dict[str, float] = {}
            for k in CUTOFFS:
                command = ["perl", *map(str, paths), str(k)]
                lines = subprocess.check_output(command, text=True).split()[1:]
                table = [[float(v) for v in line.split(",")[2:]] for line in lines]
                if table:
                    ndcg, err = np.mean(table, axis=0).tolist()
                    values |= {f"ndcg@{k}": ndcg, f"err@{k}": err}
            return values

    answers = problem.answers(run, at({"ndcg@{}": "ndcg@{}", "err@{}": "err@{}"}))
    out = made(["ir_measures"], answers)
    out["versions"]["gdeval"] = re.findall(rb"version ([\w.]+)", script)[0].decode()
    return out


def sklearn(problem: Problem) -> dict[str, Any]:
    """scikit-learn's functions; they refuse queries of one row, so the means leave those out."""
    from sklearn.metrics import dcg_score, ndcg_score

    names = at({"ndcg_score(k={})": "ndcg@{}", "dcg_score(k={})": "dcg@{}"})
    names |= {"ndcg_score(k=None)": "ndcg", "dcg_score(k=None)": "dcg"}
    functions = {"ndcg": ndcg_score, "dcg": dcg_score}

    def run(part: Part) -> dict[str, float]:
        if part.sizes.size > 1 or part.sizes[0] == 1:
            return {}
        values: dict[str, float] = {}
        for asked, measure in names.items():
            name, _, k = measure.partition("@")
            y, s = part.labels[None, :], part.scores[None, :]
            values[asked] = float(functions[name](y, s, k=int(k) if k else None))
        return values

    try:
        ndcg_score([[2]], [[1.0]])
        fault = ""
    except ValueError as error:
        fault = str(error)
    return made(["scikit-learn"], problem.answers(run, names), one_row=fault)


def lightgbm(problem: Problem) -> dict[str, Any]:
    """LightGBM's metrics of given scores: a booster without trees on top of `init_score`."""
    import lightgbm as lgb

    names = at({"ndcg@{}": "ndcg@{}", "map@{}": "map@{}"})

    def run(part: Part) -> dict[str, float]:
        quiet = {"verbose": -1, "num_threads": 1}
        train = lgb.Dataset(
            np.zeros((part.labels.size, 1)),
            part.labels,
            group=part.sizes,
            weight=part.row_weights,
            init_score=part.scores,
            params={**quiet, "feature_pre_filter": False},
        )
        asked = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": CUTOFFS}
        results = lgb.Booster({**quiet, **asked}, train).eval_train()
        return {result[1]: float(result[2]) for result in results}

    return made(["lightgbm"], problem.answers(run, names, weighted=True))


def xgboost(problem: Problem) -> dict[str, Any]:
    """XGBoost's metrics of given scores: no rounds on top of `base_margin`."""
    import xgboost as xgb

    def run(names: dict[str, str], **parameters: Any) -> Callable[[Part], dict[str, float]]:
        def eval_part(part: Part) -> dict[str, float]:
            rows = xgb.DMatrix(np.zeros((part.labels.size, 1)), part.labels)
            rows.set_group(part.sizes)
            rows.set_base_margin(part.scores)
            if part.weights is not None:
                rows.set_weight(part.weights)
            quiet = {"nthread": 1, "verbosity": 0, "eval_metric": list(names)}
            line = xgb.Booster({**quiet, **parameters}, [rows]).eval(rows)
            return {name: float(v) for name, v in re.findall(r"eval-(\S+):(\S+)", line)}

        return eval_part

    ndcg = {"ndcg": "ndcg", **at({"ndcg@{}": "ndcg@{}"})}
    binary = {"map": "map", **at({"map@{}": "map@{}", "pre@{}": "p@{}"})}
    linear = {a: f"ndcg(gain=linear)@{a[5:]}" for a in at({"ndcg@{}": ""})}
    answers = problem.answers(run(ndcg, objective="rank:ndcg"), ndcg, weighted=True)
    answers += problem.answers(
        run(linear, objective="rank:ndcg", ndcg_exp_gain=False), linear, weighted=True
    )
    answers += problem.answers(
        run(binary, objective="rank:map"), binary, labels="binary", weighted=True
    )
    zero = {f"{name}@5-": f"{name}@5" for name in ("ndcg", "map", "pre")}
    minus = run(zero, objective="rank:map")(problem.whole("binary", "tied"))
    light = Part(*map(np.array, ([1, 0], [1.0, 1.0], [1, 2], ["a", "b"], [1, 1], [1.0, 0.5])))
    try:
        run({"ndcg@5": ""}, objective="rank:ndcg")(light)
        fault = ""
    except xgb.core.XGBoostError as error:
        fault = str(error).splitlines()[0].partition("Check failed: ")[2]
    return made(["xgboost-cpu"], answers, minus=minus, light_blank_query=fault)


def catboost(problem: Problem) -> dict[str, Any]:
    """CatBoost's `eval_metric`."""
    from catboost.utils import eval_metric

    def run(names: dict[str, str]) -> Callable[[Part], dict[str, float]]:
        def eval_part(part: Part) -> dict[str, float]:
            rows = {"group_id": part.qid, "thread_count": 1}
            if part.weights is not None:
                rows["group_weight"] = part.row_weights
            return {
                name: float(eval_metric(part.labels, part.scores, name, **rows)[0])
                for name in names
            }

        return eval_part

    names = {"NDCG": "ndcg", "DCG": "dcg", "MAP": "map", "MRR": "mrr", "ERR": "err"}
    cut = {
        "NDCG:top={}": "ndcg@{}",
        "NDCG:top={};type=Exp": "ndcg(gain=exponential)@{}",
        "NDCG:top={};denominator=Position": "ndcg(discount=rank)@{}",
        "DCG:top={}": "dcg@{}",
        "MAP:top={}": "map@{}",
        "MAP:top={};border=1.5": "map(relevant_from=2)@{}",
        "MRR:top={}": "mrr@{}",
        "PrecisionAt:top={}": "p@{}",
        "RecallAt:top={}": "recall@{}",
    }
    graded = {a: b for a, b in names.items() if a != "ERR"} | at(cut)
    answers = problem.answers(run(graded), graded, weighted=True)
    chances = {"ERR": "err", **at({"ERR:top={}": "err@{}"})}
    answers += problem.answers(run(chances), chances, labels="chances", weighted=True)
    return made(["catboost"], answers)


def ranx(problem: Problem) -> dict[str, Any]:
    """ranx; among equal scores its order is arbitrary, so it is asked about distinct scores."""
    from ranx import Qrels, Run, evaluate

    def run(names: dict[str, str]) -> Callable[[Part], dict[str, float]]:
        def eval_part(part: Part) -> dict[str, float]:
            qrels = Qrels(part.nested(part.labels, int))
            ranking = Run(part.nested(part.scores, float))
            found = {name: evaluate(qrels, ranking, name) for name in names}
            return {name: float(value) for name, value in found.items()}

        return eval_part

    names = {"ndcg": "ndcg", "map": "map", "mrr": "mrr", "dcg_burges": "dcg(gain=exponential)"}
    names |= at(
        {
            "ndcg@{}": "ndcg@{}",
            "ndcg_burges@{}": "ndcg(gain=exponential)@{}",
            "dcg@{}": "dcg@{}",
            "map@{}": "map@{}",
            "mrr@{}": "mrr@{}",
            "precision@{}": "p@{}",
            "recall@{}": "recall@{}",
            "hit_rate@{}": "success@{}",
        }
    )
    answers = problem.answers(run(names), names, scores="distinct")
    rbp = {"rbp.80": "rbp(max_grade=1)", "rbp.95": "rbp(p=0.95, max_grade=1)"}
    answers += problem.answers(run(rbp), rbp, labels="binary", scores="distinct")
    ties = {"ndcg@5": "ndcg@5"}
    tied = [run(ties)(part)["ndcg@5"] for part in problem.queries("graded", "tied")]
    return made(["ranx"], answers, tied=tied)


TOOLS = (trec_eval, gdeval, sklearn, lightgbm, xgboost, catboost, ranx)


def write(name: str, content: dict[str, Any]) -> None:
    """One line per answer, so that a difference is readable."""
    lines = []
    for key, value in content.items():
        if key in ("answers", "labels", "scores"):
            items = value if isinstance(value, list) else [{k: v} for k, v in value.items()]
            rows = [json.dumps(item) for item in items]
            if isinstance(value, dict):
                rows = [row[1:-1] for row in rows]
            left, right = "[]" if isinstance(value, list) else "{}"
            lines.append(f"{json.dumps(key)}: {left}\n" + ",\n".join(rows) + f"\n{right}")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    warnings.simplefilter("ignore")
    data = simulated()
    write("data", data)
    problem = Problem(data)
    for tool in TOOLS:
        if not argv or tool.__name__ in argv:
            content = tool(problem)
            write(tool.__name__, content)
            print(tool.__name__, content["versions"], len(content["answers"]), "answers")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
