"""Graphs as points and lines: as a network, on a map, or over the true graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.estimators import RobustGraph
from robscore.graph import Graph, association
from robscore.plot.positions import LabelRoom, longitudes_near, map_layout, middle_longitude, shared_layout
from robscore.plot.style import BLUE, DARK, GREY, VERMILLION, axes, count_of_edges, documented, legend, plain_text
from robscore.rows.tables import default_names
from robscore.solvers.path import joined_support

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values: TypeAlias = Literal["interaction", "association"]
Marked: TypeAlias = tuple[str, ArrayLike] | tuple[str, ArrayLike, str]

_FONT, _MARKER = 8.0, 5.0  # of names and places, in points
_THIN, _THICK = 1.0, 4.0  # widths of lines, in points: of an association of 0 and of 1
_SHRINKING = 0.93  # names are fitted before the title and legend, which may shrink the axes to this share
# The lines of plot_recovery: label, style and width.
_RECOVERED: tuple[tuple[str, dict[str, Any], float], ...] = (
    ("true edge, found", {"color": BLUE, "linestyle": "-"}, 2.2),
    ("false edge", {"color": VERMILLION, "linestyle": "--"}, 1.4),
    ("true edge, missed", {"color": GREY, "linestyle": ":"}, 1.2),
)


class Links(NamedTuple):
    """Edges that are drawn alike: their label in the legend, style, pairs of columns, shape (number, 2), and widths."""

    label: str
    style: dict[str, Any]
    pairs: IntArray
    widths: Array


class Named(NamedTuple):
    """A graph to draw: the names of its columns and its associations, shape (m, m)."""

    names: Sequence[str]
    association: Array

    @property
    def pairs(self) -> IntArray:
        """Edges, shape (number, 2)."""
        return np.argwhere(np.triu(self.association, k=1))


def named(
    graph: RobustGraph | Graph | ArrayLike, names: Sequence[str] | None = None, values: Values | None = None
) -> Named:
    """Read names and associations from whatever holds a graph.

    A matrix that may hold associations or K is refused unless ``values`` says which: their signs are opposite.
    """
    if values not in (None, *get_args(Values)):
        raise ValueError(f"values={values!r} is not known; use 'interaction' or 'association'.")
    if isinstance(graph, RobustGraph):
        graph = graph.graph_
    if isinstance(graph, Graph):
        return Named(graph.names if names is None else list(names), graph.association)
    K = np.asarray(graph, dtype=float)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"graph must be a RobustGraph, a Graph or a square matrix; got shape {K.shape}.")
    if names is not None and len(names) != len(K):
        raise ValueError(f"names has {len(names)} entries for {len(K)} columns.")
    shown = default_names(len(K)) if names is None else list(names)  # not ``names or``: df.columns has no truth value
    if values == "association":
        return Named(shown, np.where(joined_support(K, "symmetric"), K, 0.0) + np.eye(len(K)))
    if values is None and _may_be_associations(K):
        raise ValueError(
            f"graph has {'ones' if K.diagonal().any() else 'zeros'} on its diagonal, so it may hold associations or K, "
            "whose signs are opposite; pass values='association' or values='interaction'."
        )
    if values is None and not K.diagonal().any():  # an adjacency matrix
        return Named(shown, joined_support(K, "symmetric").astype(float))
    return Named(shown, association(K)[0])


def _may_be_associations(K: Array) -> bool:
    """Whether a matrix has links, and looks like partial correlations: K has other numbers on its diagonal."""
    off = K[~np.eye(len(K), dtype=bool)]
    if not K.diagonal().any():
        return not np.isin(off, (0, 1)).all()  # else an adjacency matrix
    return bool((K.diagonal() == 1).all() and off.any() and (np.abs(off) <= 1).all())


@documented
def plot_graph(
    graph: RobustGraph | Graph | ArrayLike,
    *,
    layout: ArrayLike | None = None,
    marked: Marked | None = None,
    names: Sequence[str] | None = None,
    values: Values | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph: positive associations solid, negative ones dashed, stronger ones thicker.

    Parameters
    ----------
    {graph}
    layout : array of shape (m, 2), optional
        Positions, from :func:`shared_layout`; pass the same to compare graphs.
    {marked}
    {names}
    {values}
    {edge_title}
    {ax}

    {returns_axes}

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> rs.plot.plot_graph(rs.RobustGraph("gaussian").fit(X)).get_title()
    '3 edges between 4 variables: 3 positive, 0 negative'
    """
    drawn = named(graph, names, values)
    positions = shared_layout(drawn.association) if layout is None else _checked(layout, len(drawn.names))
    ax = _square_axes(ax)
    ax.set_title(title if title is not None else _describe(drawn), fontsize=11)
    _draw_links(ax, positions, drawn.names, _links(drawn, marked))
    return ax


@documented
def plot_map(
    graph: RobustGraph | Graph | ArrayLike,
    coordinates: ArrayLike,
    *,
    outline: Sequence[ArrayLike] = (),
    marked: Marked | None = None,
    names: Sequence[str] | None = None,
    values: Values | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a graph on a map.

    Parameters
    ----------
    {graph}
    coordinates : array of shape (m, 2)
        Latitude and longitude of the columns in degrees.
    outline : sequence of arrays of shape (points, 2), optional
        Lines of latitude and longitude to draw under it: coasts, rivers, a ridge.
    {marked}
    {names}
    {values}
    {edge_title}
    {ax}

    {returns_axes}

    Examples
    --------
    >>> import robscore as rs
    >>> import matplotlib; matplotlib.use("Agg")
    >>> rain = rs.datasets.simulated_alpine_rain(50)
    >>> ax = rs.plot.plot_map(rain.interaction, rain.coordinates, names=rain.names)
    >>> ax.get_title(), ax.get_xlabel()
    ('45 edges between 30 variables: 45 positive, 0 negative', 'longitude (°)')
    """
    drawn = named(graph, names, values)
    places = _checked(coordinates, len(drawn.names))
    map_layout(places)  # raises if these are not coordinates
    east = middle_longitude(places)
    positions = np.column_stack([longitudes_near(places[:, 1], east), places[:, 0]])
    ax = axes(ax, (8, 6))
    middle = (places[:, 0].min() + places[:, 0].max()) / 2
    ax.set_aspect(1 / max(np.cos(np.radians(middle)), 0.05))
    low, high = positions.min(axis=0), positions.max(axis=0)
    margin = 0.06 * max(*(high - low), 1e-6)
    ax.set(xlim=(low[0] - margin, high[0] + 2 * margin), ylim=(low[1] - margin, high[1] + margin))
    for line in outline:
        points = np.asarray(line, dtype=float)
        ax.plot(longitudes_near(points[:, 1], east), points[:, 0], color=DARK, linewidth=1.8, alpha=0.6, zorder=0)
    ax.set(xlabel="longitude (°)", ylabel="latitude (°)")
    ax.set_title(title if title is not None else _describe(drawn), fontsize=11)
    _draw_links(ax, positions, drawn.names, _links(drawn, marked))
    return ax


def _square_axes(ax: Axes | None) -> Axes:
    """Return axes without frame whose units are equally long both ways."""
    ax = axes(ax, (6.5, 6.5))
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _checked(positions: ArrayLike, m: int) -> Array:
    """Return positions as an array, shape (m, 2), or raise."""
    at = np.asarray(positions, dtype=float)
    if at.shape != (m, 2) or not np.isfinite(at).all():
        raise ValueError(f"layout and coordinates need two numbers for each of {m} columns; got shape {at.shape}.")
    return at


def _describe(drawn: Named) -> str:
    """Say how many edges a graph has, and of which sign."""
    strength = drawn.association[tuple(drawn.pairs.T)]
    positive = int(np.count_nonzero(strength > 0))
    count = f"{count_of_edges(strength.size)} between {len(drawn.names)} variables"
    return f"{count}: {positive} positive, {strength.size - positive} negative"


def _links(drawn: Named, marked: Marked | None) -> list[Links]:
    """Sort edges by their sign, or by whether they are marked."""
    pairs = drawn.pairs
    strength = drawn.association[tuple(pairs.T)]
    widths = _THIN + (_THICK - _THIN) * np.minimum(np.abs(strength), 1.0)
    if marked is None:
        first, labels = strength > 0, ("rise and fall together (+)", "move against each other (−)")
    else:
        mask: BoolArray = np.asarray(marked[1], dtype=bool)
        if mask.shape != drawn.association.shape:
            raise ValueError(f"marked has shape {mask.shape} for {len(drawn.names)} columns.")
        rest = marked[2] if len(marked) > 2 else "other edges"
        first, labels = ~mask[tuple(pairs.T)], (rest, marked[0])
    styles = ({"color": BLUE, "linestyle": "-"}, {"color": VERMILLION, "linestyle": "--"})
    return [
        Links(label, style, pairs[some], widths[some])
        for label, style, some in zip(labels, styles, (first, ~first), strict=True)
    ]


@documented
def plot_recovery(
    estimate: ArrayLike,
    truth: ArrayLike,
    *,
    layout: Array | None = None,
    names: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a learnt graph over the true one: which edges were found, which are false, which were missed.

    Parameters
    ----------
    estimate, truth : arrays of shape (m, m)
        K or adjacency matrices.
    layout : array of shape (m, 2), optional
        Positions of the columns; by default from the true graph. Pass the same to compare graphs.
    {names}
    title : str, optional
        By default it says how many true edges were found.
    {ax}

    {returns_axes}

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
    ax = _square_axes(ax)
    kinds = (found & true, found & ~true, true & ~found)
    groups = [
        Links(label, style, pairs := np.argwhere(np.triu(edges)), np.full(len(pairs), width))
        for (label, style, width), edges in zip(_RECOVERED, kinds, strict=True)
    ]
    hits, count = int(np.count_nonzero(kinds[0])) // 2, int(np.count_nonzero(true)) // 2
    ax.set_title(title if title is not None else f"{hits} of {count} true edges found", fontsize=11)
    _draw_links(ax, positions, default_names(len(true)) if names is None else list(names), groups)
    return ax


def _draw_links(ax: Axes, positions: Array, names: Sequence[str], groups: Sequence[Links]) -> None:
    """Draw lines, places and names, with as little overlap as possible."""
    from matplotlib.collections import LineCollection

    groups = [links for links in groups if len(links.pairs)]
    for links in groups:
        segments = list(positions[links.pairs])
        label = f"{links.label} ({len(links.pairs)})"
        ax.add_collection(LineCollection(segments, linewidths=links.widths, label=label, zorder=1, **links.style))
    ax.scatter(positions[:, 0], positions[:, 1], s=_MARKER**2, color="white", edgecolor=DARK, linewidth=1.0, zorder=3)
    if ax.get_autoscale_on():
        ax.margins(0.14 if len(names) < 60 else 0.05)
        ax.autoscale_view()
    if groups:
        legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.01 if not ax.axison else -0.12), ncols=len(groups))
    pairs = [links.pairs for links in groups]
    _draw_names(ax, positions, names, np.concatenate([np.zeros((0, 2), dtype=np.intp), *pairs]))


def _draw_names(ax: Axes, positions: Array, names: Sequence[str], pairs: IntArray) -> None:
    """Write names beside their places within the axes, at the size these have now; cut where they have no room."""
    from matplotlib.patheffects import withStroke

    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # so that the axes have their final size
    unit = 72.0 / figure.dpi * _SHRINKING
    frame = np.asarray(ax.get_window_extent().extents) * unit
    points = ax.transData.transform(positions) * unit
    room = LabelRoom(points, size=_FONT, radius=_MARKER / 2, edges=pairs, frame=frame)
    for (name, (right, up)), place in zip(room.labels(names), positions, strict=True):
        # On a diagonal the corner of a text is nearer to its place than a side would be.
        gap = (_MARKER / 2 + 0.2 * _FONT) * (0.8 if right and up else 1.0)
        ax.annotate(
            plain_text(name),
            place,
            xytext=(right * gap, up * gap),
            textcoords="offset points",
            ha={1: "left", -1: "right", 0: "center"}[right],
            va={1: "bottom", -1: "top", 0: "center"}[up],
            fontsize=_FONT,
            zorder=4,
            in_layout=False,  # it stays within the axes, and does not make them smaller
            path_effects=[withStroke(linewidth=2.0, foreground="white")],
        )
