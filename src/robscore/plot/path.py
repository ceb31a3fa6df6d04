"""A path of penalties: how associations enter, and why one penalty was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import cut_names
from robscore._tools.typing import BoolArray
from robscore.estimators import RobustGraph
from robscore.graph import association
from robscore.plot.style import BLUE, COLOURS, DARK, DASHES, GREY, PURPLE, axes, legend
from robscore.selection import LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_BESIDE = 28  # letters of a pair of names beside the axes; longer ones stand below them


def plot_path(model: RobustGraph, *, n_named: int = 8, ax: Axes | None = None) -> Axes:
    """How the associations enter as the penalty falls; those of the chosen graph are solid, the strongest are labelled.

    Parameters
    ----------
    model : fitted RobustGraph
    n_named : int, default 8
        Number of edges to label at the chosen penalty.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> rs.plot.plot_path(rs.RobustGraph("gaussian").fit(X)).get_title()
    '3 edges at the chosen penalty, of 6 along the path'
    """
    check_is_fitted(model)
    path = model.path_
    strengths = np.array([association(model.fitted_.interaction_at(k))[0] for k in range(path.alphas.size)])
    i, j = np.nonzero(np.triu((strengths != 0).any(axis=0), k=1))
    lines, kept = strengths[:, i, j].T, model.graph_.adjacency[i, j]
    strongest = np.flatnonzero(kept)[np.argsort(-np.abs(lines[kept, -1]), kind="stable")[:n_named]]
    names = cut_names(model.graph_.names, 40)
    ends = [(lines[k, -1], f"{names[i[k]]} – {names[j[k]]}") for k in strongest]
    is_short = max((len(name) for _, name in ends), default=0) <= _LONGEST_BESIDE
    ax = axes(ax, (7.5, 4.8 if is_short else 7.2))
    from matplotlib.collections import LineCollection

    styles: list[tuple[BoolArray, dict[str, Any]]] = [
        (~kept, {"color": GREY, "linestyle": ":", "linewidths": 0.8, "label": "not in the chosen graph"}),
        (kept, {"color": BLUE, "linestyle": "-", "linewidths": 1.4, "label": "in the chosen graph"}),
    ]
    for some, style in styles:
        segments = [np.column_stack([path.alphas, line]) for line in lines[some]]
        ax.add_collection(LineCollection(segments, **style))
    ax.axvline(model.alpha_, color=PURPLE, linestyle="--", linewidth=1.5, label=f"chosen, α = {model.alpha_:.3g}")
    if path.alphas.size > 1 and path.alphas.min() > 0:
        ax.set_xscale("log")
    ax.autoscale_view()
    ax.invert_xaxis()
    _name_ends(ax, ends if is_short else [(at, f"{k + 1}") for k, (at, _) in enumerate(ends)])
    ax.set(xlabel="penalty α", ylabel="association")
    edges = f"{model.graph_.n_edges} edge{'' if model.graph_.n_edges == 1 else 's'}"
    ax.set_title(f"{edges} at the chosen penalty, of {len(i)} along the path", fontsize=11)
    if is_short:
        legend(ax, loc="upper left")
    else:
        _key_below(ax, [name for _, name in ends])
    return ax


def _key_below(ax: Axes, names: list[str]) -> None:
    """What the lines and the numbers at their ends mean, under the axes, so that long names do not make them narrow."""
    from matplotlib.lines import Line2D

    drawn, labels = ax.get_legend_handles_labels()
    numbers = [Line2D([], [], linestyle="", marker=f"${k + 1}$", color=DARK, markersize=6) for k in range(len(names))]
    legend(
        ax,
        handles=[*drawn, *numbers],
        labels=[*labels, *(name.replace("$", r"\$") for name in names)],
        loc="upper left",
        bbox_to_anchor=(0, -0.15),
    )


def _name_ends(ax: Axes, ends: list[tuple[float, str]]) -> None:
    """Names to the right of the axes at given heights, pushed apart where they would touch."""
    low, high = ax.get_ylim()
    apart = 0.05 * (high - low)
    ends = sorted(ends)
    heights: list[float] = []
    for height, _ in ends:
        heights.append(max(height, heights[-1] + apart) if heights else height)
    moved = float(np.mean([at - height for at, (height, _) in zip(heights, ends, strict=True)])) if ends else 0.0
    for at, (_, name) in zip(heights, ends, strict=True):
        ax.annotate(
            name.replace("$", r"\$"), (1.01, at - moved), xycoords=("axes fraction", "data"), fontsize=8, va="center"
        )


def plot_criterion(model: RobustGraph, *, ax: Axes | None = None) -> Axes:
    """The criteria of the selection rules along the path, each scaled from its smallest value to its largest.

    Parameters
    ----------
    model : fitted RobustGraph
        With a penalty chosen by a rule.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> rs.plot.plot_criterion(rs.RobustGraph("gaussian").fit(X)).get_title()
    '1 − expected F1 is smallest at 3 edges'
    """
    check_is_fitted(model)
    if not model.criteria_:
        raise ValueError("The penalty was not chosen by a rule (alpha or n_edges was given): there is no criterion.")
    ax = axes(ax, (7.5, 4.2))
    path = model.path_
    for k, (name, values) in enumerate(model.criteria_.items()):
        finite = np.isfinite(values)
        low, high = values[finite].min(), values[finite].max()
        shown = (values - low) / (high - low if high > low else 1.0)
        ax.plot(
            path.alphas[finite], shown[finite], color=COLOURS[k], linestyle=DASHES[k], marker=".", label=LABELS[name]
        )
        best = model.choices_[name]
        ax.plot(path.alphas[best], shown[best], "o", color=COLOURS[k], markersize=9, fillstyle="none")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set(xlabel="penalty α", ylabel="criterion, from its least to its largest")
    first = next(iter(model.criteria_))
    count = model.graph_.n_edges
    ax.set_title(f"{LABELS[first]} is smallest at {count} edge{'' if count == 1 else 's'}", fontsize=11)
    legend(ax)
    return ax
