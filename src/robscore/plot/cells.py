"""The map of cells: rows by columns, missing and wrong ones in colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore.certainty.suspicious_cells import kinds_of_cells, suspects_of
from robscore.estimators.base import ScoreMatchingEstimator
from robscore.plot.style import BLUE, VERMILLION, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FITS, _MISSING = "#F2F2F2", "#BBBBBB"
_MOST_LINES = 100  # more rows share lines: one wrong cell colours the line
_LONGEST_NAME = 30


def plot_cells(model: ScoreMatchingEstimator, *, ax: Axes | None = None) -> Axes:
    """Cells that look wrong, rows from top to bottom: too high, too low, missing.

    With many rows, several share a line, which shows any wrong or missing cell among them.

    Parameters
    ----------
    model : RobustGraph or RobustScoreMatching, fitted with ``cells=True``
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> X[7, 1] = 9; X[11, 0] = -9; X[90, 2] = 10
    >>> rs.plot.plot_cells(rs.RobustGraph("gaussian", cells=True).fit(X)).get_ylabel()
    'row of the data, from 0 (3 to a line)'
    """
    check_is_fitted(model)
    suspects_of(model.fitted_)
    kind, names = kinds_of_cells(model.fitted_), model.fitted_.names
    n, m = kind.shape
    together = -(-n // _MOST_LINES)
    starts = np.arange(0, n, together)
    shown = np.maximum.reduceat(kind, starts, axis=0)
    ax = axes(ax, (min(2.5 + 0.3 * m, 14), 6.5))
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    colours = (_FITS, _MISSING, BLUE, VERMILLION)
    ax.imshow(
        shown, aspect="auto", interpolation="nearest", cmap=ListedColormap(colours), vmin=-0.5, vmax=3.5,
        extent=(-0.5, m - 0.5, n, 0),
    )  # fmt: skip
    short = [name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…" for name in names]
    ax.set_xticks(np.arange(m), short, rotation=90, fontsize=8 if m <= 40 else 5)
    for k in range(1, m):
        ax.axvline(k - 0.5, color="white", linewidth=0.6)
    lines = "row of the data, from 0" if together == 1 else f"row of the data, from 0 ({together} to a line)"
    ax.set(ylabel=lines, title=f"{np.count_nonzero(kind >= 2)} of {n * m} cells look wrong")
    ax.title.set_fontsize(11)
    labels = ("fits", "missing", "too low", "too high")
    drawn = [k for k in range(4) if (shown == k).any()]
    handles = [Patch(facecolor=colours[k], edgecolor="#999999", label=labels[k]) for k in drawn]
    ax.legend(handles=handles, frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax
