"""Two graphs compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.errors import UsageError
from robscore._tools.typing import AnyData, Array, IntArray
from robscore._tools.words import quoted
from robscore.graph import Graph
from robscore.rows.tables import Kind, as_table

if TYPE_CHECKING:
    from robscore.estimators import RobustGraph

CHANGES = ("kept", "gained", "lost", "changed sign")


@dataclass(frozen=True, eq=False)
class GraphComparison:
    """Edges of two graphs with the same columns.

    Attributes
    ----------
    names : column names
    first, second : arrays of shape (m, m)
        The associations; zero where there is no edge.
    labels : what the two graphs are called
    """

    names: tuple[str, ...]
    first: Array
    second: Array
    labels: tuple[str, str]
    frame: str | None = None

    def _pairs(self) -> tuple[IntArray, IntArray, list[str]]:
        i, j = np.nonzero(np.triu((self.first != 0) | (self.second != 0), k=1))
        a, b = self.first[i, j], self.second[i, j]
        change = np.select([a == 0, b == 0, a * b < 0], [1, 2, 3], default=0)
        return i, j, [CHANGES[k] for k in change]

    @property
    def counts(self) -> dict[str, int]:
        """How many edges were kept, gained, lost, or changed their sign from the first to the second."""
        changes = self._pairs()[2]
        return {change: changes.count(change) for change in CHANGES}

    def table(self) -> AnyData:
        """All edges of either graph: source, target, change, and the two associations; largest difference first."""
        i, j, change = self._pairs()
        order = np.argsort(-np.abs(self.first[i, j] - self.second[i, j]), kind="stable")
        i, j = i[order], j[order]
        columns: dict[str, tuple[Kind, Any]] = {
            "source": (str, [self.names[k] for k in i]),
            "target": (str, [self.names[k] for k in j]),
            "change": (str, [change[k] for k in order]),
            self.labels[0]: (float, self.first[i, j]),
            self.labels[1]: (float, self.second[i, j]),
        }
        return as_table(columns, self.frame)

    def summary(self) -> str:
        """The counts in a line."""
        told = ", ".join(f"{count} {change}" for change, count in self.counts.items())
        return f"from {self.labels[0]} to {self.labels[1]}: {told}"

    def __str__(self) -> str:
        return self.summary()


def compare_graphs(
    first: RobustGraph | Graph, second: RobustGraph | Graph, *, labels: tuple[str, str] = ("first", "second")
) -> GraphComparison:
    """Put two learnt graphs in one table: classic and robust, or one period and another.

    Parameters
    ----------
    first, second : fitted RobustGraph, or its ``graph_``
        With the same columns, in any order.
    labels : two texts

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).normal(size=(300, 4)) @ np.tri(4)
    >>> sparse, dense = (rs.RobustGraph("gaussian", n_edges=k).fit(X) for k in (2, 3))
    >>> rs.compare_graphs(sparse, dense).counts
    {'kept': 2, 'gained': 1, 'lost': 0, 'changed sign': 0}
    """
    for graph in (first, second):
        if not isinstance(graph, Graph):
            check_is_fitted(graph)
    a, b = (graph if isinstance(graph, Graph) else graph.graph_ for graph in (first, second))
    if sorted(a.names) != sorted(b.names):
        only = sorted(set(a.names) ^ set(b.names))
        raise UsageError(f"The graphs have different columns: {quoted(only)} in one of them only.")
    taken = {"source", "target", "change"}
    if len(labels) != 2 or len({*labels} - taken) != 2 or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"labels={labels!r} must be two different texts, and not {', '.join(sorted(taken))}.")
    order = [b.names.index(name) for name in a.names]
    edges = [np.where(graph.adjacency, graph.association, 0.0) for graph in (a, b)]
    return GraphComparison(a.names, edges[0], edges[1][np.ix_(order, order)], (labels[0], labels[1]), a.frame)
