"""What the ROC experiments share: a repetition's curves, their averages with bands, and the figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore import metrics
from robscore._tools.typing import Array
from robscore.families import score_elements
from robscore.paper.experiment import Outcome, Result, Row, select
from robscore.plot.penalty_paths import draw_average, draw_frame
from robscore.plot.style import BLUE, GREEN, PURPLE, VERMILLION
from robscore.solvers.path import Path, solve_path
from robscore.weighting.block_weights import robust_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POINTS = 101
COLOURS = {
    "classic": VERMILLION,
    "GMoM": BLUE,
    "graphical lasso": GREEN,
    "graphical lasso, MAD-Spearman": PURPLE,
}


def score_matching_curve(
    family: str,
    X: Array,
    truth: Array,
    *,
    n_blocks: int,
    alphas: int,
    diagonal_multiplier: float = 0.0,
    max_iter: int = 200,
) -> metrics.RocCurve:
    """ROC curve of :func:`score_matching_path`."""
    path = score_matching_path(
        family, X, n_blocks=n_blocks, alphas=alphas, diagonal_multiplier=diagonal_multiplier, max_iter=max_iter
    )
    return metrics.roc_curve(path, truth)


def score_matching_path(
    family: str, X: Array, *, n_blocks: int, alphas: int, diagonal_multiplier: float = 0.0, max_iter: int = 200
) -> Path:
    """A path of alphas to alpha_max / 1000, from rows as they are (no scaling).

    The tolerance is coarse and sweeps are few: at the dense end, where nearly all pairs are edges, finer solutions
    move the area under the ROC curve by less than .001.
    """
    elements = score_elements(family, X)
    loss = elements.average(*robust_weights(elements, n_blocks))
    path = solve_path(loss, alphas, diagonal_multiplier=diagonal_multiplier, tol=1e-4, max_iter=max_iter)
    assert isinstance(path, Path)
    return path


def as_outcome(curve: metrics.RocCurve) -> Outcome:
    """A curve in plain numbers: its area, and its height over an even grid."""
    tpr = metrics.on_grid(curve, np.linspace(0, 1, POINTS))
    return {"auc": metrics.auc(curve), "tpr": [round(float(value), 6) for value in tpr]}


def summarise(results: list[Result], keys: Sequence[str], n_graphs: int | None = None) -> list[Row]:
    """One line for each setting, method and point of the average curve, with the area and its interval.

    Where simulation k was on graph k modulo ``n_graphs``, bands and intervals are over graphs. ``early_auc`` is the
    area up to a false positive rate of .2, as a share of the most it could be.
    """
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        groups.setdefault(tuple(result.task[key] for key in keys), []).append(result)
    rows: list[Row] = []
    for values, members in groups.items():
        for method in members[0].outcome["methods"]:
            outcomes = [member.outcome["methods"][method] for member in members]
            areas = np.array([outcome["auc"] for outcome in outcomes])
            heights = np.array([outcome["tpr"] for outcome in outcomes])
            simulations = np.array([member.task["simulation"] for member in members])
            graphs = simulations if n_graphs is None else simulations % n_graphs
            low, high = metrics.bootstrap_interval(heights, groups=graphs)
            area_low, area_high = metrics.bootstrap_interval(areas, groups=graphs)
            early = heights[:, : POINTS // 5 + 1].mean(axis=0)
            for k, fpr in enumerate(np.linspace(0, 1, POINTS)):
                rows.append(
                    {
                        **dict(zip(keys, values, strict=True)),
                        "method": method,
                        "repetitions": len(members),
                        "auc": float(areas.mean()),
                        "auc_low": float(area_low),
                        "auc_high": float(area_high),
                        "early_auc": float(np.mean((early[1:] + early[:-1]) / 2)),
                        "fpr": round(float(fpr), 4),
                        "tpr": float(heights[:, k].mean()),
                        "tpr_low": float(low[k]),
                        "tpr_high": float(high[k]),
                    }
                )
    return rows


def areas(rows: list[Row], **values: Any) -> dict[str, float]:
    """The area of every method in one setting."""
    return {row["method"]: row["auc"] for row in select(rows, fpr=0.0, **values)}


def height(rows: list[Row], method: str, fpr: float, **values: Any) -> float:
    """The average true positive rate of a method at a false positive rate."""
    (found,) = select(rows, method=method, fpr=fpr, **values)
    return float(found["tpr"])


def draw_curves(ax: Axes, rows: list[Row], title: str, style: Callable[[Row], tuple[str, str]]) -> None:
    """Average curves with their bands; ``style`` gives the label and the line style of a row's curve."""
    curves: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        label, dashes = style(row)
        curves.setdefault((label, dashes, row["method"]), []).append(row)
    for (label, dashes, method), points in curves.items():
        fpr, tpr, low, high = (np.array([p[key] for p in points]) for key in ("fpr", "tpr", "tpr_low", "tpr_high"))
        average = metrics.AverageRoc(fpr, tpr, low, high)
        draw_average(ax, average, f"{label} (AUC {points[0]['auc']:.3f})", COLOURS[method], dashes)
    draw_frame(ax)
    ax.set_title(title)
    ax.legend(loc="lower right", fontsize=7.5, framealpha=0.9)
