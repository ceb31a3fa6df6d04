"""How strong the links of a graph are: as a matrix of squares, with intervals, and summed for every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from robscore._tools.networks import centrality, clustered_order
from robscore._tools.numbers import check_whole
from robscore.estimators import RobustGraph
from robscore.graph import Graph
from robscore.plot.graphs_and_maps import Values, named
from robscore.plot.style import BLUE, GREEN, GREY, VERMILLION, axes, count_of_edges, documented, legend, short_names
from robscore.rows.tables import columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES_PER_EDGE = 0.24
# What plot_centrality shows: attribute of Centrality, label, colour and marker.
_CENTRALITIES = (
    ("degree", "links (degree)", BLUE, "o"),
    ("strength", "strength (sum of |association|)", VERMILLION, "s"),
    ("betweenness", "betweenness (share of paths)", GREEN, "D"),
)


@documented
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
    {graph}
    {names}
    {values}
    order : sequence of int, optional
        Positions of the columns; by default strongly linked ones are next to each other (average linkage).
    {edge_title}
    {ax}

    {returns_axes}

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
    ax.set_facecolor("#DDDDDD")  # seen on the diagonal, which is left empty
    colours = LinearSegmentedColormap.from_list("signs", [VERMILLION, "#FFFFFF", BLUE])
    image = ax.imshow(shown, cmap=colours, vmin=-reach, vmax=reach)
    cut = short_names([drawn.names[k] for k in columns], 24)
    font = float(np.clip(160.0 * side / 10 / max(m, 1) * 2, 4.0, 9.0))
    ax.set_xticks(np.arange(m), cut, rotation=90, fontsize=font)
    ax.set_yticks(np.arange(m), cut, fontsize=font)
    ax.tick_params(length=0)
    figure = ax.get_figure(root=True)
    assert figure is not None
    bar = figure.colorbar(image, ax=ax, shrink=0.6)
    bar.set_label("association", fontsize=9)
    counted = f"{count_of_edges(len(drawn.pairs))} between {m} variables"
    ax.set_title(title if title is not None else counted, fontsize=11)
    return ax


@documented
def plot_edges(model: RobustGraph, *, n_edges: int = 30, ax: Axes | None = None, **options: Any) -> Axes:
    """Draw the edges of the graph with intervals, strongest first: the estimates without shrinkage that the tests use.

    Parameters
    ----------
    {fitted_graph}
    n_edges : int, default 30
        How many to show, at most.
    {ax}
    **options
        For ``model.edge_intervals``: level, fdr, method, estimate, block_size.

    {returns_axes}

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
    height = 1.6 + _INCHES_PER_EDGE * max(len(shown), 3)
    ax = axes(ax, (7.0, height))
    at = np.arange(len(shown))
    is_clear = np.asarray(table["significant"], dtype=bool)
    clear = is_clear[shown]
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
    cut = dict(zip(model.graph_.names, short_names(model.graph_.names, 22), strict=True))
    names = [f"{cut[str(table['source'][k])]} – {cut[str(table['target'][k])]}" for k in shown]
    ax.set_yticks(at, names, fontsize=8)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set(xlabel=f"association without shrinkage, with {options.get('level', 0.95):.0%} intervals")
    part = f" (the strongest {len(shown)} are shown)" if len(shown) < len(kept) else ""
    title = f"{np.count_nonzero(is_clear[kept])} of {len(kept)} edges are clearly not zero{part}"
    ax.set_title(title, fontsize=11, loc="right" if part else "center")
    if len(shown):
        legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.75 / height), ncols=3)
    return ax


@documented
def plot_centrality(
    graph: RobustGraph | Graph | ArrayLike, *, names: Sequence[str] | None = None, values: Values | None = None
) -> Figure:
    """Draw the number of links of every column, their total strength, and how many shortest paths lead through it.

    Parameters
    ----------
    {graph}
    {names}
    {values}

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
    for ax, (kind, label, colour, marker) in zip(grid, _CENTRALITIES, strict=True):
        numbers = np.asarray(getattr(found, kind), dtype=float)[order]
        ax.plot(numbers, np.arange(m), marker=marker, color=colour, linewidth=1.0, markersize=4)
        ax.set_xlabel(label, fontsize=9)
        ax.set_xlim(left=0)
        ax.margins(x=0.1)
        ax.grid(visible=True, axis="y", linewidth=0.4)
        ax.locator_params(axis="x", nbins=3)
    cut = short_names([drawn.names[k] for k in order], 30)
    grid[0].set_yticks(np.arange(m), cut, fontsize=8)
    title = f"{cut[-1]} has the strongest links overall" if m and max(found.strength) > 0 else "There are no links"
    figure.suptitle(title, fontsize=11)
    return figure
