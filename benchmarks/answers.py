"""Answer ranking from raw text (the form of the paper's table 4): two functionals, three losses.

Questions and answers of WikiQA and of TREC QA are written as pairs, read by `rankopt.read_pairs` and trained
on by `FunctionalRank`: bilinear (f1) and distance (f2), with the multiclass logistic loss, MRR smoothed, and
the pairwise logistic loss. As in the paper, words are features: the 3,000 most frequent ones of questions and
of answers apart, without stop words; and there are ten dimensions. Beside them two baselines, which know when
a word of the answer is one of the question:

word overlap   how many different words of the question, no stop words, the answer has
tf-idf cosine  of question and answer, over the words of the training part

and, as the other way to represent them, a linear functional of four features of question and answer together:
the two baselines, the overlap by inverse document frequency, and the logarithm of the answer's length.

Penalty and iteration are chosen by MRR on the development part, for each seed. The figures are means over
the questions of the test part, and over the seeds with the deviation among them. Rows of equal score are
ranked the worst first; next to that stands the mean over their orders, from which word overlap gains.

The sets are read from RANKOPT_DATA. Of TREC QA, questions with answers of one kind alone are left out. The
third set is simulated, and more like the paper's: 2,000 questions with one best answer each, to be told by
words that go with those of the question and never repeat them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sets import Cpu, root
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import rankopt
from rankopt.data.dataset import Dataset
from rankopt.data.text import texts_of
from rankopt.measures import as_convention

Pair = tuple[str, str, str, int]  # qid, question, answer, label
PARTS = ("train", "dev", "test")
FUNCTIONALS = {
    "f1 bilinear": "bilinear(tanh, d=10)",
    "f2 distance": "distance(d=10)",
    "linear, combined": "linear",
}
LOSSES = {
    "multiclass": "multiclass",
    "smoothed MRR": "approx(mrr, alpha=1)",
    "pairwise logistic": "logistic",
}
MEASURES = ["mrr", "map"]
AVERAGED = as_convention("rankopt", ties="average")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


def wikiqa(folder: Path, part: str) -> Iterator[Pair]:
    """Four files, aligned line by line."""
    columns = (
        lines(folder / part / f"{name}.gz") for name in ("id.txt", "a.toks", "b.toks", "sim.txt")
    )
    for qid, question, answer, label in zip(*columns, strict=True):
        yield qid, question, answer, int(label)


def trecqa(folder: Path, part: str) -> Iterator[Pair]:
    """Blocks of tagged lines; the first line after a tag holds the words, between tabs."""
    kept: dict[str, list[Pair]] = {}
    qid = question = tag = ""
    for line in lines(folder / f"{part.upper()}.xml.gz"):
        if line.startswith("<QApairs"):
            qid = line.split("'")[1]
        elif line.startswith("<"):
            tag = line.strip("<>")
        elif tag:
            words = line.replace("\t", " ")
            if tag == "question":
                question = words
            else:
                kept.setdefault(qid, []).append((qid, question, words, int(tag == "positive")))
            tag = ""
    for rows in kept.values():
        if len({label for *_, label in rows}) == 2:
            yield from rows


def simulated(folder: Path, part: str) -> Iterator[Pair]:
    """Questions on one of 40 topics, and one answer on the same topic among several on others.

    Half of the words are of the topic, in a language of questions and another one of answers; the rest is
    common to all topics. So nothing is in common between the words of a question and of its answer.
    """
    n_topics, n_words = 40, 2000
    of_topics = np.random.default_rng(0).integers(0, n_words, (2, n_topics, 60))
    rng = np.random.default_rng(PARTS.index(part) + 1)

    def wording(side: int, topic: int, length: int) -> str:
        common = np.minimum(rng.zipf(1.3, length), n_words) - 1
        words = np.where(
            rng.random(length) < 0.5, rng.choice(of_topics[side, topic], length), common
        )
        return " ".join(f"{'qa'[side]}{word}" for word in words)

    for number in range(QUESTIONS[part]):
        topic = int(rng.integers(n_topics))
        asked, best, size = wording(0, topic, 8), int(rng.integers(3)), int(rng.integers(3, 10))
        for place in range(size):
            about = topic if place == best else int(rng.integers(n_topics))
            yield str(number), asked, wording(1, about, 15), int(place == best)


@dataclass(frozen=True)
class Source:
    """Where the pairs of a set come from, and how it is trained on."""

    pairs: Callable[[Path, str], Iterator[Pair]]
    solver: str = "lbfgs(max_iter=60)"
    penalties: tuple[float, ...] = (1e-5, 1e-4, 1e-3, 1e-2)


SETS = {
    "wikiqa": Source(wikiqa),
    "trecqa": Source(trecqa),
    "simulated": Source(simulated, "adam(max_iter=20)", (1e-5,)),
}
QUESTIONS = {"train": 2000, "dev": 500, "test": 1000}  # of the simulated set


def read(name: str, part: str, place: Path) -> Dataset:
    """One part of a set, by way of a file of pairs."""
    folder = root() or Path()
    path = place / f"{name}.{part}.tsv"
    with path.open("w", encoding="utf-8") as file:
        file.write("qid\tquestion\tanswer\tlabel\n")
        for row in SETS[name].pairs(folder / name, part):
            file.write("\t".join(map(str, row)) + "\n")
    return rankopt.read_pairs(path)


def overlap(train: Dataset, data: Dataset) -> np.ndarray:
    """The number of different words that question and answer share."""
    questions, answers = both_sides(CountVectorizer(binary=True, stop_words="english"), data, data)
    return np.asarray(questions.multiply(answers).sum(axis=1)).ravel().astype(float)


def cosine(train: Dataset, data: Dataset) -> np.ndarray:
    """The cosine of the words of question and answer, by tf-idf of the training part."""
    questions, answers = both_sides(TfidfVectorizer(stop_words="english"), train, data)
    return np.asarray(questions.multiply(answers).sum(axis=1)).ravel()


def both_sides(vectorizer: Any, train: Dataset, data: Dataset) -> tuple[Any, Any]:
    """Words of the question, and of the answer, of every row, in one vocabulary."""
    known, texts = texts_of(train), texts_of(data)
    vectorizer.fit([*known.questions, *known.answers])
    query = data.groups.spread(np.arange(data.groups.n_queries))
    return vectorizer.transform(texts.questions)[query], vectorizer.transform(texts.answers)


def no_order(train: Dataset, data: Dataset) -> np.ndarray:
    """All answers tied: with ties averaged, what chance reaches."""
    return np.zeros(data.n_rows)


BASELINES = {"no order": no_order, "word overlap": overlap, "tf-idf cosine": cosine}


def combined(train: Dataset, data: Dataset) -> Dataset:
    """The data with features of question and answer together instead of text."""
    by_idf = TfidfVectorizer(stop_words="english", binary=True, norm=None)
    questions, answers = both_sides(by_idf, train, data)
    shared = np.asarray(questions.minimum(answers).sum(axis=1)).ravel()
    lengths = np.log1p([len(text.split()) for text in texts_of(data).answers])
    features = [overlap(train, data), cosine(train, data), shared, lengths]
    return replace(data, X=np.column_stack(features), texts=None)


def figures(scores: Any, data: Dataset) -> dict[str, float]:
    """The measures with ties ranked the worst first, and over all orders of ties."""
    strict = rankopt.evaluate(scores, data, MEASURES).mean
    tied = rankopt.evaluate(scores, data, MEASURES, convention=AVERAGED).mean
    return strict | {f"{measure}, ties averaged": value for measure, value in tied.items()}


def trained(scorer: str, loss: str, source: Source, parts: dict[str, Dataset], seed: int) -> Any:
    """The model that does best on the development part."""
    best: Any = None
    normalize = None if parts["train"].texts is not None else "standard"
    for l2 in source.penalties:
        model = rankopt.FunctionalRank(
            scorer, loss, solver=source.solver, l2=l2, measure="mrr", normalize=normalize,
            early_stopping_rounds=20, random_state=seed, n_jobs=1,
        ).fit(parts["train"], eval_set=[parts["dev"]])  # fmt: skip
        if best is None or model.best_score_ > best.best_score_:
            best = model
    return best


def table(name: str, of_seeds: list[int]) -> list[dict[str, Any]]:
    """The rows of one set."""
    with tempfile.TemporaryDirectory() as place:
        parts = {part: read(name, part, Path(place)) for part in PARTS}
    for data in parts.values():
        say(f"{data}, {data.labels.sum():.0f} right")
    out: list[dict[str, Any]] = []
    for row, baseline in BASELINES.items():
        found = figures(baseline(parts["train"], parts["test"]), parts["test"])
        out.append({"set": name, "row": row, **found})
        say(str(out[-1]))
    together = {part: combined(parts["train"], data) for part, data in parts.items()}
    for functional, scorer in FUNCTIONALS.items():
        used = together if scorer == "linear" else parts
        seeds = (
            of_seeds[:1] if scorer == "linear" else of_seeds
        )  # nothing of a linear fit is random
        for loss, spec in LOSSES.items():
            with Cpu() as cpu:
                models = [trained(scorer, spec, SETS[name], used, seed) for seed in seeds]
            row = {"set": name, "row": f"{functional}, {loss}", **over_seeds(models, used)}
            out.append({**row, "cpu": cpu.seconds})
            say(str(out[-1]))
    return out


def over_seeds(models: list[Any], parts: dict[str, Dataset]) -> dict[str, Any]:
    """Means over the models, with the deviation of those of the test part, and what was chosen."""
    found = [figures(model, parts["test"]) for model in models]
    out: dict[str, Any] = {key: float(np.mean([f[key] for f in found])) for key in found[0]}
    out |= {f"{key} +-": float(np.std([f[key] for f in found])) for key in MEASURES}
    out["development mrr"] = float(np.mean([model.best_score_ for model in models]))
    out["training mrr"] = float(np.mean([model.score(parts["train"]) for model in models]))
    chosen = {"l2": [m.l2 for m in models], "iterations": [m.best_iteration_ for m in models]}
    return {**out, **chosen}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--set", choices=SETS, help="one set alone")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", ConvergenceWarning)
    asked = [args.set] if args.set else list(SETS)
    if root() is None:
        say("WikiQA and TREC QA are real sets: set RANKOPT_DATA")
        asked = [name for name in asked if name == "simulated"]
    rows = [row for name in asked for row in table(name, args.seeds)]
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        cells = (f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items())
        print("  ".join(cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
