"""Receiver operating characteristics of whole paths, averaged over repetitions, with bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore.metrics import AverageRoc, RocCurve, auc, average_roc
from robscore.plot.style import COLOURS, DASHES, GREY, axes, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        Of the bands.
    title : str, optional
        By default it names the method with the largest area.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

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
    """A mean curve with its band."""
    ax.plot(average.fpr, average.tpr, linestyle=dashes, color=colour, linewidth=1.6, label=label)
    ax.fill_between(average.fpr, average.lower, average.upper, color=colour, alpha=0.18, linewidth=0)


def draw_frame(ax: Axes) -> None:
    """The line of chance, and the unit square."""
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1), aspect="equal")
