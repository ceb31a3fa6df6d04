"""A learnt graph against the truth: which edges were found, which are false, which were missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.typing import Array
from robscore.plot.graph import Links, draw_links
from robscore.plot.layout import shared_layout
from robscore.plot.style import BLUE, GREY, VERMILLION, axes
from robscore.rows.tables import default_names
from robscore.solvers.path import joined_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES: dict[str, dict[str, Any]] = {
    "true edge, found": {"color": BLUE, "linestyle": "-"},
    "false edge": {"color": VERMILLION, "linestyle": "--"},
    "true edge, missed": {"color": GREY, "linestyle": ":"},
}
_WIDTHS = (2.2, 1.4, 1.2)


def plot_recovery(
    estimate: ArrayLike,
    truth: ArrayLike,
    *,
    layout: Array | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a learnt graph over the true one.

    Parameters
    ----------
    estimate, truth : arrays of shape (m, m)
        K or adjacency matrices.
    layout : array of shape (m, 2), optional
        Positions of the columns; by default from the true graph. Pass the same to compare graphs.
    names : sequence of str, optional
    title : str, optional
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = rs.plot.plot_recovery(np.eye(3), np.ones((3, 3)), title="nothing found")
    >>> ax.get_title()
    'nothing found'
    """
    found, true = (joined_support(np.asarray(graph), "symmetric") for graph in (estimate, truth))
    positions = shared_layout(truth) if layout is None else np.asarray(layout)
    ax = axes(ax, (6.5, 6.5))
    ax.set_aspect("equal")
    ax.axis("off")
    kinds = (found & true, found & ~true, true & ~found)
    groups = [
        Links(label, style, pairs := np.argwhere(np.triu(edges)), np.full(len(pairs), width))
        for (label, style), width, edges in zip(_STYLES.items(), _WIDTHS, kinds, strict=True)
    ]
    hits, count = int(np.count_nonzero(kinds[0])) // 2, int(np.count_nonzero(true)) // 2
    ax.set_title(title if title is not None else f"{hits} of {count} true edges found", fontsize=11)
    draw_links(ax, positions, default_names(len(true)) if names is None else list(names), groups)
    return ax
