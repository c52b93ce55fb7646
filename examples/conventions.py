"""One ranking, many figures: what the conventions of other tools make of the same scores.

The data has what conventions differ in: graded labels, tied scores, and a query without a relevant
row.
"""

import numpy as np

import rankopt
from rankopt.measures import CONVENTIONS

rng = np.random.default_rng(0)
queries, rows = 30, 12
labels = rng.integers(0, 3, size=queries * rows)
labels[:rows] = 0
data = rankopt.dataset(
    X=np.zeros((labels.size, 1)),
    y=labels,
    qid=np.repeat(np.arange(queries), rows),
    docs=[f"d{i:03d}" for i in range(labels.size)],
)
scores = np.round(labels + rng.normal(scale=2.0, size=labels.size))

for name in CONVENTIONS:
    results = rankopt.evaluate(scores, data, ["ndcg@10", "map"], convention=name)
    figures = "  ".join(f"{measure} {mean:.4f}" for measure, mean in results.mean.items())
    print(f"{name:10}  {figures}")
