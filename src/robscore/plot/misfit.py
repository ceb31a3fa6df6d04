"""What the model does not describe: columns, rows and cells that do not fit, and the weights that rows were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import ArgumentError, clipped
from robscore._tools.optional import require
from robscore._tools.typing import BoolArray
from robscore.certainty.check_fit import conditional_ranks
from robscore.certainty.suspicious_cells import kinds_of_cells, suspects_of
from robscore.estimators.estimator import ScoreMatchingEstimator
from robscore.plot.style import BLUE, GREY, VERMILLION, axes, documented, legend, plain_text, short_names
from robscore.rows.tables import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PANELS_ACROSS, _MOST_PANELS = 4, 24  # of plot_fit, where no columns are named
_BAND = 1.36  # divided by the root of n: Kolmogorov's 95 % band of a distribution function
_MOST_LINES = 100  # of plot_cells: more rows share lines, each of which shows any wrong cell among them
# What a cell may be, in the order of kinds_of_cells: label and colour.
_CELLS = (("fits", "#F2F2F2"), ("missing", "#BBBBBB"), ("too low", BLUE), ("too high", VERMILLION))


@documented
def plot_fit(model: ScoreMatchingEstimator, *, columns: Sequence[str] | None = None) -> Figure:
    """Draw where the values of every column lie in their conditional distribution given the others: P-P plots.

    A line on the diagonal means that the model fits; below it values are larger than the model expects, above it
    smaller, and an S means that the spread is too small or too large. 95 % of correct models stay within the band.

    Parameters
    ----------
    {any_fit}
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
    chosen = list(names[:_MOST_PANELS]) if columns is None else list(columns)
    for name in chosen:
        if name not in names:
            raise ArgumentError("columns", name, f"is not a column of the fit; it has {', '.join(names[:5])}, ...")
    which = np.array([names.index(name) for name in chosen], dtype=np.intp)
    ranks = np.sort(conditional_ranks(model.fitted_, which), axis=0)
    across = min(_PANELS_ACROSS, which.size)
    down = -(-which.size // across)
    figure, grid = plt.subplots(
        down, across, figsize=(2.3 * across, 2.4 * down), squeeze=False, sharex=True, sharey=True, layout="constrained"
    )
    n, titles = len(ranks), short_names(chosen, 24)
    expected, width = (np.arange(n) + 0.5) / n, _BAND / n**0.5
    for k, ax in enumerate(grid.ravel()):
        if k >= which.size:
            ax.remove()
            continue
        ax.fill_between([0, 1], [-width, 1 - width], [width, 1 + width], color=GREY, alpha=0.25, linewidth=0)
        ax.plot(ranks[:, k], expected, color=BLUE)
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.set_title(titles[k], fontsize=10)
    figure.supxlabel("share of the conditional distribution below a value", fontsize=10)
    figure.supylabel("share of the rows", fontsize=10)
    return figure


@documented
def plot_rows(model: ScoreMatchingEstimator, *, level: float = 0.01, n_named: int = 5, ax: Axes | None = None) -> Axes:
    """Draw how surprising every row of the fit is, in the order of the data; the most surprising are numbered.

    Parameters
    ----------
    {any_fit}
    level : float, default 0.01
        Share of good rows that may be flagged.
    n_named : int, default 5
        Rows whose number is written beside them.
    {ax}

    {returns_axes}

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
    cap = top + 1.5 * max(top - low, 1e-12)  # one row far out would flatten the others: it is drawn at the upper end
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
        if all(abs(row[k] - other) > 0.035 * width for other in taken):  # else numbers would overlap
            ax.annotate(str(row[k]), (row[k], min(score[k], cap)), xytext=(0, 5), textcoords="offset points",
                        ha="center", fontsize=8)  # fmt: skip
            taken.append(float(row[k]))
    ax.margins(y=0.1)
    ax.set(xlabel="row of the data, from 0", ylabel="surprise (−log density)")
    ax.set_title(f"{int(flagged.sum())} of {row.size} rows stand out", fontsize=11)
    legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


@documented
def plot_weights(model: ScoreMatchingEstimator, *, marked: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the weights of the rows, from smallest to largest: by the median of means, or after reweighting.

    Parameters
    ----------
    {any_fit}
    marked : integer array, optional
        Rows to highlight, such as those known to be bad.
    {ax}

    {returns_axes}

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
    ax.set_title(f"{used.size} rows, effective sample size {effective[0]:.0f}", fontsize=11)
    legend(ax)
    return ax


@documented
def plot_cells(model: ScoreMatchingEstimator, *, ax: Axes | None = None) -> Axes:
    """Draw a map of the cells, rows from top to bottom: those that look too high or too low, and missing ones.

    With many rows, several share a line, which shows any wrong or missing cell among them.

    Parameters
    ----------
    model : RobustGraph or RobustScoreMatching, fitted with ``cells=True``
    {ax}

    {returns_axes}

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
    suspects_of(model.fitted_)  # raises where wrong cells were not looked for
    kind, names = kinds_of_cells(model.fitted_), model.fitted_.names
    n, m = kind.shape
    together = -(-n // _MOST_LINES)
    shown = np.maximum.reduceat(kind, np.arange(0, n, together), axis=0)
    ax = axes(ax, (min(2.5 + 0.3 * m, 14), 6.5))
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    ax.imshow(
        shown, aspect="auto", interpolation="nearest", cmap=ListedColormap([colour for _, colour in _CELLS]),
        vmin=-0.5, vmax=3.5, extent=(-0.5, m - 0.5, n, 0),
    )  # fmt: skip
    short = [plain_text(clipped(name, 30)) for name in names]
    ax.set_xticks(np.arange(m), short, rotation=90, fontsize=8 if m <= 40 else 5)
    for k in range(1, m):
        ax.axvline(k - 0.5, color="white", linewidth=0.6)
    lines = "" if together == 1 else f" ({together} to a line)"
    ax.set_ylabel(f"row of the data, from 0{lines}")
    ax.set_title(f"{np.count_nonzero(kind >= 2)} of {n * m} cells look wrong", fontsize=11)
    handles = [
        Patch(facecolor=colour, edgecolor="#999999", label=label)
        for k, (label, colour) in enumerate(_CELLS)
        if (shown == k).any()
    ]
    legend(ax, handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax
