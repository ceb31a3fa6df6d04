"""Edges with their intervals, as a forest plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.arguments import check_whole
from robscore._tools.messages import cut_names
from robscore.estimators import RobustGraph
from robscore.plot.style import BLUE, GREY, VERMILLION, axes, legend
from robscore.rows.tables import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 0.24  # inches per edge


def plot_edges(model: RobustGraph, *, n_edges: int = 30, ax: Axes | None = None, **options: Any) -> Axes:
    """The edges of the graph with intervals, strongest first: the estimates without shrinkage that the tests use.

    Parameters
    ----------
    model : fitted RobustGraph
    n_edges : int, default 30
        How many to show, at most.
    ax : matplotlib axes, optional
    **options
        For ``model.edge_intervals``: level, fdr, method, estimate, block_size.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> rs.plot.plot_edges(rs.RobustGraph("gaussian").fit(X)).get_title()
    '3 of 3 edges are clearly not zero'
    """
    check_is_fitted(model)
    check_whole("n_edges", n_edges, at_least=1)
    table = columns_of(model.edge_intervals(**options))
    kept = np.flatnonzero(table["in_graph"])
    kept = kept[np.argsort(-np.abs(table["association"][kept]), kind="stable")]
    shown = kept[:n_edges]
    ax = axes(ax, (7.0, 1.6 + _LINE * max(len(shown), 3)))
    at = np.arange(len(shown))
    clear = np.asarray(table["significant"], dtype=bool)[shown]
    middle, low, high = (table[name][shown] for name in ("association", "association_low", "association_high"))
    fdr = options.get("fdr", 0.1)
    kinds = (
        (clear & (middle > 0), BLUE, "o", f"positive, clear (q ≤ {fdr:g})"),
        (clear & (middle <= 0), VERMILLION, "s", f"negative, clear (q ≤ {fdr:g})"),
        (~clear, GREY, "D", "may be chance"),
    )
    for some, colour, marker, label in kinds:
        if some.any():
            reach = np.abs(np.stack([middle - low, high - middle]))[:, some]
            ax.errorbar(
                middle[some], at[some], xerr=reach, fmt=marker, color=colour, markersize=4, capsize=2, label=label
            )
    ax.axvline(0.0, color=GREY, linewidth=0.8, linestyle=":")
    cut = dict(zip(model.graph_.names, cut_names(model.graph_.names, 22), strict=True))
    names = [f"{cut[str(table['source'][k])]} – {cut[str(table['target'][k])]}".replace("$", r"\$") for k in shown]
    ax.set_yticks(at, names, fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set(xlabel=f"association without shrinkage, with {options.get('level', 0.95):.0%} intervals")
    some = f" (the strongest {len(shown)} are shown)" if len(shown) < len(kept) else ""
    n_clear = int(np.count_nonzero(np.asarray(table["significant"], dtype=bool)[kept]))
    title = f"{n_clear} of {len(kept)} edges are clearly not zero{some}"
    ax.set_title(title, fontsize=11, loc="right" if some else "center")
    if len(shown):
        legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.75 / (1.6 + _LINE * max(len(shown), 3))), ncols=3)
    return ax
