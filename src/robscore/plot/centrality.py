"""How central the columns of a graph are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import cut_names
from robscore._tools.networks import centrality
from robscore.estimators import RobustGraph
from robscore.graph import Graph
from robscore.plot.graph import Values, named
from robscore.plot.style import BLUE, GREEN, VERMILLION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST = 30
_KINDS = (
    ("degree", "links (degree)", BLUE, "o"),
    ("strength", "strength (sum of |association|)", VERMILLION, "s"),
    ("betweenness", "betweenness (share of paths)", GREEN, "D"),
)


def plot_centrality(
    graph: RobustGraph | Graph | ArrayLike, *, names: Sequence[str] | None = None, values: Values | None = None
) -> Figure:
    """The number of links of every column, their total strength, and how many shortest paths lead through it.

    Parameters
    ----------
    graph : RobustGraph, Graph or array of shape (m, m)
        A matrix is K, associations or an adjacency matrix.
    names : sequence of str, optional
    values : "interaction" or "association", optional
        What a matrix holds; needed only where that cannot be seen, as their signs are opposite.

    Returns
    -------
    matplotlib figure
        Three axes that share the columns, ordered by strength.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> figure = rs.plot.plot_centrality(rs.RobustGraph("gaussian").fit(X))
    >>> len(figure.axes), figure.axes[0].get_yticklabels()[-1].get_text() in ("x1", "x2")
    (3, True)
    """
    drawn = named(graph, names, values)
    found = centrality(drawn.association)
    order = np.argsort(found.strength, kind="stable")
    import matplotlib.pyplot as plt

    m = len(order)
    figure, grid = plt.subplots(1, 3, figsize=(9.0, 1.4 + 0.2 * m), sharey=True, layout="constrained")
    for ax, (kind, label, colour, marker) in zip(grid, _KINDS, strict=True):
        numbers = np.asarray(getattr(found, kind), dtype=float)[order]
        ax.plot(numbers, np.arange(m), marker=marker, color=colour, linewidth=1.0, markersize=4)
        ax.set_xlabel(label, fontsize=9)
        ax.set_xlim(left=0)
        ax.margins(x=0.1)
        ax.grid(visible=True, axis="y", linewidth=0.4)
        ax.locator_params(axis="x", nbins=3)
    cut = [name.replace("$", r"\$") for name in cut_names([drawn.names[k] for k in order], _LONGEST)]
    grid[0].set_yticks(np.arange(m), cut, fontsize=8)
    title = f"{cut[-1]} has the strongest links overall" if m and max(found.strength) > 0 else "There are no links"
    figure.suptitle(title, fontsize=11)
    return figure
