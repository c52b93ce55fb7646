"""Write docs/benchmarks.md from the results of the bench and of the benchmarks beside it.

    python benchmarks/page.py RESULTS

RESULTS holds what the commands on that page write: folders of `rankopt bench letor` and files of
`benchmarks/run.py` and `benchmarks/web_scale.py --json`. What is not there is left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rankopt.bench.markdown import protocol, sections, table, winning
from rankopt.bench.tables import CUTS, pooled, winning_table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Every figure on this page is written by `python benchmarks/page.py RESULTS` from what these commands leave
in `RESULTS`. DATA is a folder with the sets of LETOR and LightGBM's example of ranking data.

```sh
rankopt bench letor DATA/ohsumed_letor3/QueryLevelNorm -m ndcg@10 --select map -o RESULTS/ohsumed
rankopt bench letor DATA/mq2008 -m ndcg@10 --select map -o RESULTS/mq2008
rankopt bench letor DATA/lightgbm_rank -m ndcg@10 --convention rankopt -o RESULTS/lightgbm_rank
python benchmarks/simulated_folds.py RESULTS/folds
rankopt bench letor RESULTS/folds/gov_like -m ndcg@10 --convention rankopt --normalize standard \\
    -o RESULTS/simulated
rankopt bench letor RESULTS/folds/mslr_like RESULTS/folds/yahoo_like -m ndcg@10 --convention rankopt \\
    --normalize standard --systems SYSTEMS -o RESULTS/simulated_web
RANKOPT_DATA=DATA python benchmarks/run.py jumping_points starts published --out RESULTS
RANKOPT_DATA=DATA python benchmarks/boosting.py --again --json > RESULTS/boosting.json
python benchmarks/web_scale.py --json > RESULTS/web_scale.json
```

On OHSUMED and MQ2008 settings are chosen by MAP on the validation part, as LETOR's baselines choose
theirs: by LETOR's convention NDCG@10 is 0 for every query with fewer than ten rows, which is most of
MQ2008. The grids are in `rankopt.bench.systems`; on lists of 1000 rows `softrank` and `svmmap`, the slow
ones, are left out, and so they are from the winning numbers; on the shapes of MSLR and Yahoo (simulated_web)
thirteen systems (SYSTEMS) were run, and winning numbers over all sets count those.
What the tables say: {doc}`guide/bench`.
"""


def bench_part(folder: Path) -> list[str]:
    summary = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return [protocol(summary), *(part for part in sections({**summary, "winning": {}}))]


def winning_part(folder: Path) -> list[str]:
    """Winning numbers over the cells of all runs, whatever their conventions."""
    cells = [
        json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/cells/*/*.json")
    ]
    found = pooled(cells)
    wins = {f"ndcg@{k}": winning_table(found, f"ndcg@{k}") for k in CUTS} if found else {}
    return [winning({"sets": found, "winning": wins})] if wins else []


def published_part(result: dict[str, Any]) -> list[str]:
    head = ["published", "as run by", "N@5", "MAP", "here", "N@5", "MAP", "what it shows"]
    rows = [
        [
            row["set"], row["published"], f"{row['ndcg@5']:.4f}", f"{row['map']:.4f}", row["here"],
            f"{row['here ndcg@5']:.4f}", f"{row['here map']:.4f}", row["note"],
        ]
        for row in result["variants"]
    ]  # fmt: skip
    paired = [
        [
            row["set"],
            row["system"],
            row["measure"],
            f"{row['difference']:+.4f}",
            f"{row['lo']:+.4f} .. {row['hi']:+.4f}",
        ]
        for row in result["paired"]
    ]
    return [
        "## Why some published figures differ",
        "Systems set up as those runs were, where the plain bench is further than 0.01 from them.",
        table(head, rows),
        "The bench's system less the score files of a third party, over all test queries, with bootstrap"
        " intervals of 95 %:",
        table(["set", "system", "measure", "difference", "interval"], paired),
    ]


def jumping_part(result: dict[str, Any]) -> list[str]:
    sizes = sorted({row["m"] for rows in result["measured"].values() for row in rows})
    rows = []
    for name, found in result["measured"].items():
        by_size = {row["m"]: row for row in found}
        for key, words in (
            ("first", "first feature"),
            ("mean", "mean of features"),
            ("steps", "that change NDCG@5"),
        ):
            cells = [f"{by_size[m][key]:.1f}" if m in by_size else "" for m in sizes]
            rows.append([f"{name}, {words}", *cells])
    for name, found in result["published"].items():
        rows.append([name, *(f"{found[str(m)]:.1f}" if str(m) in found else "" for m in sizes)])
    return [
        "## Jumping points against the length of lists (table 12)",
        "Places per query along one weight where two rows trade ranks among the first five, by the number m"
        " of rows of a list.",
        table(["set", *(f"m = {m}" for m in sizes)], rows),
    ]


def starts_part(result: dict[str, Any]) -> list[str]:
    rows = [
        [
            name, f"{row['queries']}", f"{row['starts']}", f"{row['train']:.4f} ± {row['train_spread']:.4f}",
            f"{row['train_ridge']:.4f}", f"{row['test']:.4f} ± {row['test_spread']:.4f}",
            f"{row['test_ridge']:.4f}", f"{row['cpu_per_climb']:.2f}",
        ]
        for name, row in result["measured"].items()
    ]  # fmt: skip
    rows += [
        [name, "", "100", "", "", f"{mean:.3f} ± {spread:.4f}", "", ""]
        for name, (mean, spread) in result["published"].items()
    ]
    head = [
        "set",
        "queries",
        "starts",
        "training, random starts",
        "from ridge",
        "test, random starts",
        "from ridge",
        "CPU s",
    ]
    return [
        "## DirectRank from random starts",
        "NDCG@10 of climbs from random weights, mean and standard deviation over the starts, beside the climb"
        " from ridge regression, which is the default.",
        table(head, rows),
    ]


def scale_part(rows: list[dict[str, Any]]) -> list[str]:
    first = rows[0]
    return [
        "## Size of MSLR-WEB30K",
        f"Simulated: {first['queries']:,} queries, {first['rows']:,} rows, 136 features,"
        f" {first['file_gb']:.1f} GB of text.",
        table(
            ["step", "seconds", "CPU s", "peak of memory, GB", "training NDCG@10"],
            [
                [
                    row["step"], f"{row['seconds']:.0f}", f"{row['cpu']:.0f}", f"{row['peak_gb']:.1f}",
                    f"{row['train']:.4f}" if "train" in row else "",
                ]
                for row in rows
            ],
        ),
    ]  # fmt: skip


def boosting_part(result: dict[str, Any]) -> list[str]:
    rows = result["rows"]
    sets = list(dict.fromkeys(row["set"] for row in rows))
    found = {(r["leaves"], r["data"], r["system"], r["set"]): r for r in rows}
    systems = list(dict.fromkeys(row["system"] for row in rows))
    parts = [
        "## DirectBoost beside LightGBM and XGBoost",
        "300 trees, four settings each, chosen with the number of trees on validation queries (DirectBoost:"
        " and on those that its three folds hold out). NDCG@1 / NDCG@10 on test queries; in brackets p of the"
        " paired randomisation test of DirectBoost against the row at NDCG@10, in the last column over all"
        " sets. Trained on train and vali, the others keep the setting and number that validation chose.",
    ]
    for leaves, data in dict.fromkeys((row["leaves"], row["data"]) for row in rows):
        lines = []
        for system in systems:
            line = [system]
            for name in sets:
                row = found[leaves, data, system, name]
                p = "" if system == systems[0] else f" ({row['p ndcg@10']:.3f})"
                line.append(f"{row['ndcg@1']:.4f} / {row['ndcg@10']:.4f}{p}")
            lines.append(line)
        parts += [f"{leaves} leaves, trained on {data}:", table(["system", *sets], lines)]
    return parts


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args(argv)
    folder = options.results
    parts = [HEAD.rstrip(), *winning_part(folder)]
    for name in ("ohsumed", "mq2008", "lightgbm_rank", "simulated_web", "simulated"):
        if (folder / name / "results.json").exists():
            parts += bench_part(folder / name)
    if (folder / "boosting.json").exists():
        text = (folder / "boosting.json").read_text(encoding="utf-8")
        parts += boosting_part(json.loads(text))
    for name, part in (
        ("published", published_part), ("jumping_points", jumping_part), ("starts", starts_part),
    ):  # fmt: skip
        path = folder / f"{name}.json"
        if path.exists():
            parts += part(json.loads(path.read_text(encoding="utf-8"))["result"])
    if (folder / "web_scale.json").exists():
        parts += scale_part(json.loads((folder / "web_scale.json").read_text(encoding="utf-8")))
    options.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    print(options.out)


if __name__ == "__main__":
    main()
