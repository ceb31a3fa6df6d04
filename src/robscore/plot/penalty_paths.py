"""Graphs along a path of penalties: how edges enter, why one penalty was chosen, and ROC curves against the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import cut_names
from robscore._tools.typing import BoolArray
from robscore.estimators import RobustGraph
from robscore.graph import association
from robscore.metrics import AverageRoc, RocCurve, auc, average_roc
from robscore.plot.style import (
    BLUE,
    COLOURS,
    DARK,
    DASHES,
    GREY,
    PURPLE,
    axes,
    count_of_edges,
    documented,
    legend,
    plain_text,
)
from robscore.selection import LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST_BESIDE = 28  # letters of a pair of names beside the axes; longer ones stand below them


@documented
def plot_path(model: RobustGraph, *, n_named: int = 8, ax: Axes | None = None) -> Axes:
    """Draw how associations enter as the penalty falls: solid in the chosen graph, the strongest of it labelled.

    Parameters
    ----------
    {fitted_graph}
    n_named : int, default 8
        Number of edges to label at the chosen penalty.
    {ax}

    {returns_axes}

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> rs.plot.plot_path(rs.RobustGraph("gaussian").fit(X)).get_title()
    '3 edges in the chosen graph, of 6 along the path'
    """
    check_is_fitted(model)
    along = np.flatnonzero(model.path_.alphas > 0)  # a graph without a penalty has no place on a logarithmic axis
    along = along if along.size else np.arange(model.path_.alphas.size)
    alphas = model.path_.alphas[along]
    strengths = np.array([association(model.fitted_.interaction_at(k))[0] for k in along.tolist()])
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
        segments = [np.column_stack([alphas, line]) for line in lines[some]]
        ax.add_collection(LineCollection(segments, **style))
    if model.alpha_ >= alphas.min():
        ax.axvline(model.alpha_, color=PURPLE, linestyle="--", linewidth=1.5, label=f"chosen, α = {model.alpha_:.3g}")
    if alphas.size > 1 and alphas.min() > 0:
        ax.set_xscale("log")
    ax.autoscale_view()
    ax.invert_xaxis()
    _name_ends(ax, ends if is_short else [(at, f"{k + 1}") for k, (at, _) in enumerate(ends)])
    ax.set(xlabel="penalty α", ylabel="association")
    ax.set_title(f"{count_of_edges(model.graph_.n_edges)} in the chosen graph, of {len(i)} along the path", fontsize=11)
    if is_short:
        legend(ax, loc="upper left")
    else:
        _key_below(ax, [name for _, name in ends])
    return ax


def _key_below(ax: Axes, names: list[str]) -> None:
    """Explain the lines and the numbers at their ends under the axes, so that long names do not make these narrow."""
    from matplotlib.lines import Line2D

    drawn, labels = ax.get_legend_handles_labels()
    numbers = [Line2D([], [], linestyle="", marker=f"${k + 1}$", color=DARK, markersize=6) for k in range(len(names))]
    legend(
        ax,
        handles=[*drawn, *numbers],
        labels=[*labels, *map(plain_text, names)],
        loc="upper left",
        bbox_to_anchor=(0, -0.15),
    )


def _name_ends(ax: Axes, ends: list[tuple[float, str]]) -> None:
    """Write names to the right of the axes at given heights, pushed apart where they would touch."""
    low, high = ax.get_ylim()
    apart = 0.05 * (high - low)
    ends = sorted(ends)
    heights: list[float] = []
    for height, _ in ends:
        heights.append(max(height, heights[-1] + apart) if heights else height)
    moved = float(np.mean([at - height for at, (height, _) in zip(heights, ends, strict=True)])) if ends else 0.0
    for at, (_, name) in zip(heights, ends, strict=True):
        ax.annotate(plain_text(name), (1.01, at - moved), xycoords=("axes fraction", "data"), fontsize=8, va="center")


@documented
def plot_criterion(model: RobustGraph, *, ax: Axes | None = None) -> Axes:
    """Draw the criteria of the selection rules along the path, each scaled from its smallest value to its largest.

    Parameters
    ----------
    {fitted_graph}
        With a penalty chosen by a rule.
    {ax}

    {returns_axes}

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
        raise ValueError(
            "The penalty was not chosen by a rule (alpha or n_edges was given, or select='fdr'): there is no criterion."
        )
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
    ax.set_title(f"{LABELS[first]} is smallest at {count_of_edges(model.graph_.n_edges)}", fontsize=11)
    legend(ax)
    return ax


@documented
def plot_roc(
    curves: Mapping[str, RocCurve | Sequence[RocCurve]],
    *,
    level: float = 0.95,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw ROC curves: of one data set each, or the mean over several with a pointwise bootstrap band.

    Parameters
    ----------
    curves : dict of RocCurve, or of lists of them, by method
        From :func:`robscore.metrics.roc_curve`.
    level : float, default 0.95
        Probability that the bands hold the true mean at a point.
    title : str, optional
        By default it names the method with the largest area.
    {ax}

    {returns_axes}

    Examples
    --------
    >>> import robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> truth = rs.simulate.random_model(8, 8, random_state=0)
    >>> X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=400, random_state=1)
    >>> path = rs.RobustGraph("sqrt").fit(X).path_
    >>> ax = rs.plot.plot_roc({"robust": rs.metrics.roc_curve(path, truth.interaction)})
    >>> ax.get_xlabel()
    'false positive rate'
    """
    if not curves:
        raise ValueError("curves is empty; give at least one method.")
    ax = axes(ax, (5.2, 5.2))
    areas = {}
    for k, (name, given) in enumerate(curves.items()):
        several = [given] if isinstance(given, RocCurve) else list(given)
        if not several:
            raise ValueError(f"curves[{name!r}] is empty; leave it out.")
        colour, dashes = COLOURS[k % len(COLOURS)], DASHES[k % len(DASHES)]
        areas[name] = float(np.mean([auc(curve) for curve in several]))
        label = f"{name} (AUC {areas[name]:.3f})"
        if len(several) == 1:
            ax.plot(*several[0], linestyle=dashes, color=colour, label=label)
        else:
            draw_average(ax, average_roc(several, level=level), label, colour, dashes)
    draw_frame(ax)
    best = max(areas, key=lambda name: areas[name])
    ax.set_title(title if title is not None else f"{best}: area {areas[best]:.3f}", fontsize=11)
    legend(ax, loc="lower right")
    return ax


def draw_average(ax: Axes, average: AverageRoc, label: str, colour: str, dashes: Any = "-") -> None:
    """Draw a mean curve with its band."""
    ax.plot(average.fpr, average.tpr, linestyle=dashes, color=colour, linewidth=1.6, label=label)
    ax.fill_between(average.fpr, average.lower, average.upper, color=colour, alpha=0.18, linewidth=0)


def draw_frame(ax: Axes) -> None:
    """Draw the line of chance, and show the whole unit square."""
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1), aspect="equal")
