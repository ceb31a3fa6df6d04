"""Does the model describe every column given the others? Small multiples that show where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import ArgumentError, cut_names
from robscore._tools.optional import require
from robscore.certainty.check_fit import conditional_ranks
from robscore.estimators.base import ScoreMatchingEstimator
from robscore.plot.style import BLUE, GREY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 4
_MOST = 24  # columns where none are named
_BAND = 1.36  # over the root of n: Kolmogorov's 95 %


def plot_fit(model: ScoreMatchingEstimator, *, columns: Sequence[str] | None = None) -> Figure:
    """For every column, where its values lie in their conditional distribution given the others: a P-P plot.

    A line on the diagonal means that the model fits; below it values are larger than the model expects, above it
    smaller, and an S means that the spread is too small or too large. 95 % of correct models stay within the band.

    Parameters
    ----------
    model : fitted RobustGraph or RobustScoreMatching
        Of a family on [0, inf) or the real line.
    columns : sequence of str, optional
        Names of the columns to show; by default the first 24.

    Returns
    -------
    matplotlib figure

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> figure = rs.plot.plot_fit(rs.RobustGraph("gaussian").fit(X))
    >>> [ax.get_title() for ax in figure.axes]
    ['x0', 'x1', 'x2']
    """
    check_is_fitted(model)
    require("matplotlib")
    import matplotlib.pyplot as plt

    names = model.fitted_.names
    chosen = list(names[:_MOST]) if columns is None else list(columns)
    for name in chosen:
        if name not in names:
            raise ArgumentError("columns", name, f"is not a column of the fit; it has {', '.join(names[:5])}, ...")
    which = np.array([names.index(name) for name in chosen], dtype=np.intp)
    ranks = np.sort(conditional_ranks(model.fitted_, which), axis=0)
    across = min(_ACROSS, which.size)
    down = -(-which.size // across)
    figure, grid = plt.subplots(
        down, across, figsize=(2.3 * across, 2.4 * down), squeeze=False, sharex=True, sharey=True, layout="constrained"
    )
    n, titles = len(ranks), cut_names(chosen, 24)
    expected = (np.arange(n) + 0.5) / n
    for k, ax in enumerate(grid.ravel()):
        if k >= which.size:
            ax.remove()
            continue
        ax.fill_between([0, 1], [-_BAND / n**0.5, 1 - _BAND / n**0.5], [_BAND / n**0.5, 1 + _BAND / n**0.5],
                        color=GREY, alpha=0.25, linewidth=0)  # fmt: skip
        ax.plot(ranks[:, k], expected, color=BLUE)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set_title(titles[k], fontsize=10)
    figure.supxlabel("share of the conditional distribution below a value", fontsize=10)
    figure.supylabel("share of the rows", fontsize=10)
    return figure
