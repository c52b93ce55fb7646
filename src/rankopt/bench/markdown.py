"""The tables as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rankopt.bench.tables import CUTS, Pooled


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text.

    >>> print(table(["a", "b"], [["x", "1"]]))
    | a | b |
    | --- | ---: |
    | x | 1 |
    """
    lines = ["| " + " | ".join(head) + " |"]
    lines.append("| --- " + "| ---: " * (len(head) - 1) + "|")
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def page(summary: dict[str, Any]) -> str:
    """All tables of a bench, from what `rankopt bench letor --json` prints."""
    return "\n\n".join(["# Bench", protocol(summary), *sections(summary)]) + "\n"


def protocol(summary: dict[str, Any]) -> str:
    """How the figures came about, on which machine, in which time."""
    work = summary["work"]
    machine = ", ".join(
        f"{name} {words}" if name not in ("date", "machine") else words
        for name, words in summary["setting"].items()
    )
    return (
        f"Trained on {summary['measure']}, settings chosen by {summary['select']} on validation data;"
        f" convention {summary['convention']}; seeds {summary['seeds']}. Means over the test folds; the best"
        f" of a column is bold. {work['cells']} cells (system, fold, seed) took {work['cpu']:.0f} CPU s;"
        f" the last run did {work['done_now']} of them in {work['seconds']:.0f} s with {work['jobs']}"
        f" processes. {machine}."
    )


def sections(summary: dict[str, Any]) -> list[str]:
    """The tables of each set, then what is over all sets."""
    parts: list[str] = []
    for name, found in summary["sets"].items():
        parts.append(f"## {found['title'] or name}")
        parts.append(", ".join(f"{part}: {words}" for part, words in found["size"].items()) + ".")
        parts += [scores(found), ndcgs(found), costs(found)]
        parts += [published(found)] if found["published"] else []
        parts += [significance(found)] if found["tests"] else []
    parts += [winning(summary)] if summary["winning"] else []
    if summary["failed"]:
        parts.append(
            "## Not done\n\n" + "\n".join(f"* {k}: {v}" for k, v in summary["failed"].items())
        )
    return parts


def _best(rows: dict[str, dict[str, float]], columns: Sequence[str]) -> list[list[str]]:
    """Rows of figures, the best of each column in bold."""
    top = {c: max(round(row[c], 4) for row in rows.values()) for c in columns}
    return [
        [
            name,
            *(
                f"**{row[c]:.4f}**" if round(row[c], 4) == top[c] else f"{row[c]:.4f}"
                for c in columns
            ),
        ]
        for name, row in rows.items()
    ]


def scores(found: dict[str, Any]) -> str:
    """The measures that most papers report, and the training measure (table 11)."""
    columns = ["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "err", "p@1", "p@5", "p@10"]
    rows = {
        name: {
            **row["means"],
            "train @5": row["train"]["ndcg@5"],
            "train @10": row["train"]["ndcg@10"],
        }
        for name, row in found["systems"].items()
    }
    shown = [*columns, "train @5", "train @10"]
    heads = [c.replace("ndcg", "N").replace("map", "MAP").replace("err", "ERR") for c in shown]
    return table(["system", *heads], _best(rows, shown))


def ndcgs(found: dict[str, Any]) -> str:
    """NDCG at the first ten ranks, what the paper's figure 2 draws."""
    columns = [f"ndcg@{k}" for k in range(1, 11)]
    rows = {name: row["means"] for name, row in found["systems"].items()}
    return "NDCG\n\n" + table(["system", *(c[4:] for c in columns)], _best(rows, columns))


def costs(found: dict[str, Any]) -> str:
    """Time and memory of a fit (table 13)."""
    rows = [
        [name, f"{row['cpu']:.2f}", f"{row['cpu_all']:.2f}", f"{row['memory'] / 2**20:.0f}"]
        for name, row in found["systems"].items()
    ]
    head = ["system", "CPU s, chosen settings", "CPU s, whole grid", "memory of a fit, MB"]
    return "Cost of a fold\n\n" + table(head, rows)


def published(found: dict[str, Any]) -> str:
    """Published figures beside measured ones."""
    rows = [
        [
            row["system"],
            row["source"],
            m,
            f"{value:.4f}",
            f"{found['systems'][row['system']]['means'][m]:.4f}",
            f"{found['systems'][row['system']]['means'][m] - value:+.4f}",
        ]
        for row in found["published"]
        if row["system"] in found["systems"]
        for m, value in row["figures"].items()
    ]
    head = ["system", "source", "measure", "published", "measured", "difference"]
    return "Published figures\n\n" + table(head, rows)


def significance(found: dict[str, Any]) -> str:
    """Differences from the reference over all test queries."""
    measure, reference = found["tested"], found["reference"]
    rows = [
        [
            name,
            f"{row['difference']:+.4f}",
            f"{row['lo']:+.4f} .. {row['hi']:+.4f}",
            f"{row['p']:.4f}",
            f"{row['p_holm']:.4f}",
        ]
        for name, row in found["tests"].items()
    ]
    head = ["system", f"less {reference}", "95 % interval", "p", "p (Holm)"]
    return f"{measure} over all test queries, paired randomisation tests\n\n" + table(head, rows)


def winning(summary: dict[str, Any]) -> str:
    """Winning numbers (tables 3 and 4)."""
    order = sorted(
        summary["winning"]["ndcg@10"], key=lambda name: -summary["winning"]["ndcg@10"][name]["wins"]
    )
    rows: list[list[str]] = []
    for name in order:
        cells = [summary["winning"][f"ndcg@{k}"][name] for k in CUTS]
        rows.append(
            [
                name,
                *(f"{c['wins']} ({c['lo']:.0f} .. {c['hi']:.0f})" for c in cells),
                f"{cells[-1]['first']:.2f}",
            ]
        )
    sets = len(summary["sets"])
    return (
        f"## Winning numbers over {sets} sets\n\nHow many other systems a system beats, added up over the"
        " sets, with 95 % intervals over test queries drawn anew; the last column is the share of drawings"
        " in which it is first by NDCG@10.\n\n"
        + table(["system", *(f"N@{k}" for k in CUTS), "first"], rows)
    )


def rows_of(found: dict[str, Pooled]) -> dict[str, Any]:
    """Systems as plain values."""
    return {
        name: {
            "means": row.means, "spread": row.spread, "train": row.train, "vali": row.vali, "cpu": row.cpu,
            "cpu_all": row.cpu_all, "memory": row.memory, "folds": row.folds, "seeds": row.seeds,
            "chosen": row.chosen,
        }
        for name, row in found.items()
    }  # fmt: skip
