"""The bench on the full public web-search sets, once you have them.

    python benchmarks/full_sets.py mslr MSLR-WEB30K -o results       (or MSLR-WEB10K: folders Fold1 ... Fold5)
    python benchmarks/full_sets.py yahoo ltrc_yahoo -o results       (set1.train.txt, ..., set2.test.txt)
    python benchmarks/full_sets.py istella istella-letor -o results  (train.txt and test.txt, maybe vali.txt)

It is `rankopt bench letor` with the protocol of each set and the systems whose work grows no faster than
the rows. Interrupted, it goes on where it ended. A process holds one fold: some 4 GB for MSLR-WEB30K with the
features scaled, so choose -j by the memory there is.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rankopt.bench.letor import bench
from rankopt.bench.markdown import page

SYSTEMS = (
    "directrank,directboost,smoothrank,approxrank,ridge,ranksvm,listnet,softmax,rankcosine-consistent,"
    "smoothgrad,lambdarank,adarank-ndcg,rankboost,coordinate-ascent,mart,lambdamart"
)
PROTOCOLS = {  # convention, scaling of the features
    "mslr": (
        "yahoo",
        "standard",
    ),  # raw features; the DirectRank paper counts as Yahoo's challenge did
    "yahoo": ("yahoo", None),
    "istella": ("rankopt", "standard"),
}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=PROTOCOLS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--out", type=Path, default=Path("bench-results"))
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--systems", default=SYSTEMS)
    options = parser.parse_args(argv)
    convention, normalize = PROTOCOLS[options.set]
    summary = bench(
        options.folder, options.out, systems=options.systems, convention=convention,
        normalize=normalize, jobs=options.jobs,
    )  # fmt: skip
    (options.out / "results.json").write_text(json.dumps(summary, indent=1), encoding="utf-8")
    (options.out / "tables.md").write_text(page(summary), encoding="utf-8")
    print(options.out / "tables.md")


if __name__ == "__main__":
    main()
