"""The figure: NDCG at the first ten ranks, one panel per set, as figure 2 of [tan2013direct]_."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankopt.data.files import replacing
from rankopt.extras import library

_MARKS = "osD^v<>ph*Xd+x"


def draw(summary: dict[str, Any], path: Path) -> None:
    """Write the figure; its ending says the format: .svg, .png or .pdf."""
    library("matplotlib", "a figure", "rankopt[plots]")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sets = summary["sets"]
    figure = Figure(figsize=(5.2 * len(sets) + 1.8, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(sets), squeeze=False)[0]
    ranks = range(1, 11)
    for panel, (name, found) in zip(panels, sets.items(), strict=True):
        for i, (system, row) in enumerate(found["systems"].items()):
            values = [row["means"][f"ndcg@{k}"] for k in ranks]
            panel.plot(
                ranks, values, label=system, marker=_MARKS[i % len(_MARKS)], markersize=4, linewidth=1.0,
                color=f"C{i % 10}", linestyle="-" if i < 10 else "--",
            )  # fmt: skip
        panel.set_title(found["title"] or name)
        panel.set_xlabel("rank k")
        panel.set_ylabel("NDCG@k")
        panel.set_xticks(list(ranks))
        panel.grid(alpha=0.3)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    with replacing(path) as partial:
        figure.savefig(partial, format=path.suffix.lstrip(".") or "svg", dpi=150)
