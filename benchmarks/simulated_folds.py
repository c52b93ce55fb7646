"""Write simulated sets of the shapes of MSLR-WEB, Yahoo's and the Gov collections, for the bench.

    python benchmarks/simulated_folds.py DIR
    rankopt bench letor DIR

Each is one fold of train, vali and test files in the LETOR format, the same bytes for the same seed. The test
part is large, so that differences of systems show.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import rankopt

SETS = {  # queries for training, validation, test
    "mslr_like": (200, 100, 600),
    "yahoo_like": (300, 150, 900),
    "gov_like": (30, 20, 150),
}


def write(folder: Path, shape: str, parts: tuple[int, ...], seed: int) -> None:
    """One set: a problem drawn at once and cut by queries, so that all parts are of one kind."""
    data = rankopt.simulate(shape, seed=seed, n_queries=sum(parts))
    place = folder / shape
    place.mkdir(parents=True, exist_ok=True)
    ends = np.cumsum(parts)
    for name, size, end in zip(("train", "vali", "test"), parts, ends, strict=True):
        rankopt.write_letor(place / f"{name}.txt.gz", data.take(np.arange(end - size, end)))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    for shape, parts in SETS.items():
        write(options.folder, shape, parts, options.seed)
        print(f"{options.folder / shape}: {' + '.join(map(str, parts))} queries")


if __name__ == "__main__":
    main()
