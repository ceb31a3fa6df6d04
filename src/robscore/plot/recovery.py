"""A learnt graph beside the truth: which edges were found, which are false, which were missed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robscore._optional import require
from robscore._typing import Array
from robscore._validation import default_names
from robscore.solvers.path import joined_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours that stay apart for colour-blind readers (Okabe and Ito), and line styles for print.
STYLES: dict[str, dict[str, Any]] = {
    "true edge, found": {"color": "#0072B2", "linewidth": 2.2, "linestyle": "-", "zorder": 2},
    "false edge": {"color": "#D55E00", "linewidth": 1.4, "linestyle": "--", "zorder": 1},
    "true edge, missed": {"color": "#9A9A9A", "linewidth": 1.2, "linestyle": ":", "zorder": 0},
}


def shared_layout(graph: ArrayLike) -> Array:
    """Positions for the columns, shape (m, 2), near each other where few edges lie between them.

    Compute it once, from the truth or from one of the graphs, and draw every graph with it.

    Parameters
    ----------
    graph : array of shape (m, m)
        K or an adjacency matrix.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.plot.shared_layout(np.ones((3, 3))).shape
    (3, 2)
    """
    require("networkx")
    import networkx as nx

    adjacency = joined_support(np.asarray(graph), "symmetric")
    net = nx.from_numpy_array(adjacency)
    steps = dict(nx.all_pairs_shortest_path_length(net))
    # Distances are kept within bounds, so that separate pieces stay in the picture.
    far = min(4.0, max(max(row.values()) for row in steps.values()) + 1.0)
    distances = {a: {b: min(float(steps[a].get(b, far)), far) for b in net} for a in net}
    positions = nx.kamada_kawai_layout(net, dist=distances)
    return np.array([positions[node] for node in net])


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
    require("matplotlib")
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection

    found, true = (joined_support(np.asarray(graph), "symmetric") for graph in (estimate, truth))
    m = len(true)
    positions = shared_layout(truth) if layout is None else np.asarray(layout)
    if ax is None:
        ax = plt.subplots(figsize=(6, 6))[1]
    for (label, style), edges in zip(STYLES.items(), (found & true, found & ~true, true & ~found), strict=True):
        i, j = np.nonzero(np.triu(edges))
        segments = np.stack([positions[i], positions[j]], axis=1)
        ax.add_collection(LineCollection(list(segments), label=f"{label} ({i.size})", **style))
    ax.scatter(positions[:, 0], positions[:, 1], s=260, color="white", edgecolor="#333333", zorder=3)
    for name, (x, y) in zip(names or default_names(m), positions, strict=True):
        ax.annotate(name, (x, y), ha="center", va="center", fontsize=7, zorder=4)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3, frameon=False, fontsize=9)
    ax.set_title(title or "", fontsize=11)
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.axis("off")
    return ax
