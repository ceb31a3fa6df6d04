"""A graph as a matrix of squares, with strongly linked columns next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import cut_names
from robscore._tools.networks import clustered_order
from robscore.estimators import RobustGraph
from robscore.graph import Graph
from robscore.plot.graph import Values, named
from robscore.plot.style import axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST = 24


def plot_matrix(
    graph: RobustGraph | Graph | ArrayLike,
    *,
    names: Sequence[str] | None = None,
    values: Values | None = None,
    order: Sequence[int] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw associations as a heat map: blue where two columns rise together, orange where they move against each other.

    Parameters
    ----------
    graph : RobustGraph, Graph or array of shape (m, m)
        A matrix is K, associations or an adjacency matrix.
    names : sequence of str, optional
    values : "interaction" or "association", optional
        What a matrix holds; needed only where that cannot be seen, as their signs are opposite.
    order : sequence of int, optional
        Of the columns; by default strongly linked ones are next to each other (average linkage).
    title : str, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> rs.plot.plot_matrix(rs.RobustGraph("gaussian").fit(X)).get_title()
    '3 edges between 4 variables'
    """
    drawn = named(graph, names, values)
    m = len(drawn.names)
    columns = np.array(clustered_order(drawn.association) if order is None else order, dtype=np.intp)
    if sorted(columns.tolist()) != list(range(m)):
        raise ValueError(f"order must hold every column from 0 to {m - 1} once.")
    from matplotlib.colors import LinearSegmentedColormap

    shown = drawn.association[np.ix_(columns, columns)].copy()
    np.fill_diagonal(shown, np.nan)
    reach = float(max(np.nanmax(np.abs(shown), initial=0.0), 1e-12)) if m > 1 else 1.0
    side = float(np.clip(2.8 + 0.2 * m, 4.5, 16.0))
    ax = axes(ax, (side + 0.8, side))
    ax.set_facecolor("#DDDDDD")  # of the diagonal
    colours = LinearSegmentedColormap.from_list("signs", ["#D55E00", "#FFFFFF", "#0072B2"])
    image = ax.imshow(shown, cmap=colours, vmin=-reach, vmax=reach)
    cut = [name.replace("$", r"\$") for name in cut_names([drawn.names[k] for k in columns], _LONGEST)]
    font = float(np.clip(160.0 * side / 10 / max(m, 1) * 2, 4.0, 9.0))
    ax.set_xticks(np.arange(m), cut, rotation=90, fontsize=font)
    ax.set_yticks(np.arange(m), cut, fontsize=font)
    ax.tick_params(length=0)
    figure = ax.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(image, ax=ax, shrink=0.6)
    bar.set_label("association", fontsize=9)
    count = len(drawn.pairs)
    words = f"{count} edge{'' if count == 1 else 's'} between {m} variables"
    ax.set_title(title if title is not None else words, fontsize=11)
    return ax
