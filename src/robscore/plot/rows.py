"""The rows of a fit: their weights, and how surprising they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from robscore._tools.typing import BoolArray
from robscore.estimators.base import ScoreMatchingEstimator
from robscore.plot.style import BLUE, GREY, VERMILLION, axes, legend
from robscore.rows.tables import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_weights(model: ScoreMatchingEstimator, *, marked: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """The weights of the rows, from smallest to largest: by the median of means, or after reweighting.

    Parameters
    ----------
    model : fitted RobustGraph or RobustScoreMatching
    marked : integer array, optional
        Rows to highlight, such as those known to be bad.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> rs.plot.plot_weights(rs.RobustGraph("gaussian", n_blocks=50).fit(X)).get_ylabel()
    'weight (1: the average row)'
    """
    check_is_fitted(model)
    used = model.fitted_.used
    weights = model.row_weights_[used]
    is_tapered = model.share_dropped_ is not None  # then rows count in full, in part, or not at all
    weights = weights / weights.max(axis=0) if is_tapered else weights * used.size
    ax = axes(ax, (7, 4.2))
    same = np.array_equal(weights[:, 0], weights[:, 1])
    known = None if marked is None else np.isin(used, np.asarray(marked))
    for column, (name, colour, symbol) in enumerate((("Γ", BLUE, "."), ("g", GREY, "x"))):
        if same and column:
            continue
        order = np.argsort(weights[:, column], kind="stable")
        label = "weight" if same else f"weight in {name}"
        ranks = np.arange(1, used.size + 1)
        ax.plot(ranks, weights[order, column], symbol, color=colour, markersize=4, label=label)
        if known is not None:
            some = known[order]
            ax.plot(
                ranks[some], weights[order, column][some], "D", color=VERMILLION, markersize=5, fillstyle="none",
                label="marked rows" if column == 0 else None,
            )  # fmt: skip
    ax.axhline(1.0, color=GREY, linewidth=0.8, linestyle=":")
    unit = "a full row" if is_tapered else "the average row"
    ax.set(xlabel="rows, from the least weight to the most", ylabel=f"weight (1: {unit})")
    effective = 1.0 / np.sum(model.row_weights_**2, axis=0)
    ax.set_title(f"{used.size} rows are worth {effective[0]:.0f} equal ones", fontsize=11)
    legend(ax)
    return ax


def plot_rows(model: ScoreMatchingEstimator, *, level: float = 0.01, n_named: int = 5, ax: Axes | None = None) -> Axes:
    """How surprising every row of the fit is, in the order of the data; the most surprising ones are numbered.

    Parameters
    ----------
    model : fitted RobustGraph or RobustScoreMatching
    level : float, default 0.01
        Share of good rows that may be flagged.
    n_named : int, default 5
        Rows whose number is written beside them.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[7] = 9
    >>> rs.plot.plot_rows(rs.RobustGraph("gaussian").fit(X), level=0.001).get_title()
    '1 of 200 rows stand out'
    """
    check_is_fitted(model)
    table = columns_of(model.suspicious_rows(level=level))
    row, score, flagged = (table[name] for name in ("row", "score", "flagged"))
    usual = score[~flagged]
    low, top = (usual.min(), usual.max()) if usual.size else (0.0, 1.0)
    cap = top + 1.5 * max(top - low, 1e-12)  # what lies beyond is drawn at the upper end
    beyond = score > cap
    ax = axes(ax, (7.5, 4.2))
    styles: list[tuple[BoolArray, dict[str, Any]]] = [
        (~flagged, {"marker": ".", "color": GREY, "s": 12, "label": "fits"}),
        (flagged & ~beyond, {"marker": "D", "color": VERMILLION, "s": 22, "label": "stands out"}),
        (flagged & beyond, {"marker": "^", "color": VERMILLION, "s": 30, "label": "stands out, beyond the scale"}),
    ]
    for some, style in styles:
        if some.any():
            ax.scatter(row[some], np.minimum(score[some], cap), **style)
    taken: list[float] = []
    width = max(row.max() - row.min(), 1)
    for k in np.flatnonzero(flagged)[:n_named]:
        if all(abs(row[k] - other) > 0.035 * width for other in taken):
            ax.annotate(str(row[k]), (row[k], min(score[k], cap)), xytext=(0, 5), textcoords="offset points",
                        ha="center", fontsize=8)  # fmt: skip
            taken.append(float(row[k]))
    ax.margins(y=0.1)
    ax.set(xlabel="row of the data, from 0", ylabel="surprise (−log density)")
    ax.set_title(f"{int(flagged.sum())} of {row.size} rows stand out", fontsize=11)
    legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
