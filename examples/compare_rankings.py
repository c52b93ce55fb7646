"""Is the new ranking better than the old one, or was it luck?

Three rankings of the same queries, which differ in how much noise covers the labels.
"""

import numpy as np

import rankopt

rng = np.random.default_rng(0)
queries, rows = 200, 20
labels = rng.choice(5, size=queries * rows, p=[0.5, 0.2, 0.15, 0.1, 0.05])
data = rankopt.dataset(
    X=np.zeros((labels.size, 1)), y=labels, qid=np.repeat(np.arange(queries), rows)
)
rankings = {
    name: labels + rng.normal(scale=noise, size=labels.size)
    for name, noise in (("old", 2.0), ("new", 1.8), ("newest", 1.7))
}

comparison = rankopt.compare(rankings, data, "ndcg@10", test="randomisation", random_state=0)
for name, mean in comparison.means.items():
    print(f"{name:7}  {comparison.measure} {mean:.4f}")
for pair in comparison.pairs:
    print(
        f"{pair.b} against {pair.a}: {pair.difference:+.4f} ({pair.lo:+.4f} to {pair.hi:+.4f}),"
        f" p = {pair.p_holm:.4f}, {pair.wins} wins, {pair.ties} ties, {pair.losses} losses"
    )
