"""Two graphs beside each other, and whether two groups of rows have the same one."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from robscore._tools.arguments import check_whole
from robscore._tools.errors import UsageError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore._tools.words import first_few, quoted
from robscore.certainty.influence import influence_of_rows
from robscore.fitting.fit import GraphFit
from robscore.graph import Graph
from robscore.rows.frames import read_matrix, readable
from robscore.rows.tables import Kind, as_table
from robscore.solvers.factor import SingularLossError

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
    """Put two learnt graphs on one table: classic and robust, one period and another.

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


@dataclass(frozen=True, eq=False)
class EqualityTest:
    """Whether two groups of rows have the same interactions.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that the groups do not differ.
    statistic : float
        Sum over all pairs of the squared difference in K_ij over its standard error.
    null : array of shape (B,)
        The same for groups made at random from all rows.
    difference : array of shape (m, m)
        K of the second group minus that of the first, to first order, in units of the scaled columns.
    pair_p_values : array of shape (m, m)
        Of single pairs, corrected for looking at all of them (by the largest difference under the null); 1 on the
        diagonal.
    names : column names
    """

    p_value: float
    statistic: float
    null: Array
    difference: Array
    pair_p_values: Array
    names: tuple[str, ...]
    frame: str | None = None

    def table(self) -> AnyData:
        """All pairs: source, target, difference, p_value (corrected); least first."""
        i, j = np.triu_indices(len(self.names), k=1)
        order = np.lexsort((-np.abs(self.difference[i, j]), self.pair_p_values[i, j]))
        i, j = i[order], j[order]
        columns: dict[str, tuple[Kind, Any]] = {
            "source": (str, [self.names[k] for k in i]),
            "target": (str, [self.names[k] for k in j]),
            "difference": (float, self.difference[i, j]),
            "p_value": (float, self.pair_p_values[i, j]),
        }
        return as_table(columns, self.frame)

    def summary(self) -> str:
        """The result in a line."""
        i, j = np.triu_indices(len(self.names), k=1)
        pairs = int(np.count_nonzero(self.pair_p_values[i, j] <= 0.05))
        return f"p = {self.p_value:.3g} ({self.null.size} permutations); {pairs} pairs differ at 5 %, corrected"

    def __str__(self) -> str:
        return self.summary()


def equality_test(
    model: RobustGraph,
    first: AnyData,
    second: AnyData,
    *,
    n_permutations: int = 999,
    block_size: int = 1,
    random_state: RandomState = 0,
) -> EqualityTest:
    """Permutation test that two groups of rows have the same graph, with the same interactions.

    All rows are fitted together, with the model's settings; from the influence of every row on the interactions
    follows, to first order, what each group alone would give. Under the hypothesis that rows of both groups come from
    the same distribution, they can change places, for any number of rows. Rows that were left out do not take part.

    Parameters
    ----------
    model : RobustGraph
        Its settings are used.
    first, second : array-like or data frame of shapes (n1, m) and (n2, m), with the same columns
    n_permutations : int, default 999
    block_size : int, default 1
        Rows that stay together: more than one for series in time.
    random_state : int, Generator or None, default 0

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rng = np.random.default_rng(1)
    >>> A, B = rng.normal(size=(2, 200, 3))
    >>> rs.equality_test(rs.RobustGraph("gaussian"), A, B).p_value > 0.05
    True
    >>> B[:, 1] += B[:, 0]
    >>> rs.equality_test(rs.RobustGraph("gaussian"), A, B).p_value
    0.001
    """
    (A, names), (B, other) = (
        read_matrix(group, name, missing=model.missing) for name, group in (("first", first), ("second", second))
    )
    if names != other:
        raise UsageError(
            f"first and second must have the same columns in the same order; got {first_few(names)} and "
            f"{first_few(other)}."
        )
    check_whole("n_permutations", n_permutations, at_least=1)
    check_whole("block_size", block_size, at_least=1)
    pooled = clone(model).fit(np.concatenate([A, B]))
    try:
        found = influence_of_rows(pooled.fitted_)
    except SingularLossError as error:
        raise ValueError(f"The rows do not determine all pairs ({error}); use more rows, or fewer columns.") from None
    if not found.on_pairs.shape[1]:
        raise ValueError("There is no pair to compare: one column, or all pairs forbidden by penalty_weights.")
    blocks, shares, k = _exchangeable_blocks(found.on_pairs, pooled.fitted_, len(A), block_size)
    if min(k, len(shares) - k) < 2 or 1 / comb(len(shares), k) > 0.01:
        raise ValueError(
            f"The groups have {k} and {len(shares) - k} whole blocks of {block_size} rows that count: too few to "
            "change places. Use smaller blocks, or more rows."
        )
    rng = as_generator(random_state)
    labels = np.zeros((1 + n_permutations, len(shares)), dtype=bool)
    labels[0, :k] = True
    for row in labels[1:]:
        row[rng.permutation(len(shares))[:k]] = True
    difference, standard = _differences(labels, blocks, shares)
    total, largest = (standard**2).sum(axis=1), np.abs(standard).max(axis=1)
    p_value = float(np.mean(total >= total[0] * (1 - 1e-12)))
    above = largest[:, None] >= np.abs(standard[0]) * (1 - 1e-12)
    m = len(names)
    pairs, pair_p = np.zeros((m, m)), np.ones((m, m))
    i, j = found.pairs
    pairs[i, j] = pairs[j, i] = difference
    pair_p[i, j] = pair_p[j, i] = above.mean(axis=0)
    return EqualityTest(p_value, float(total[0]), total[1:], pairs, pair_p, tuple(names), readable(first).library)


def _exchangeable_blocks(
    influences: Array, pooled: GraphFit, n_first: int, block_size: int
) -> tuple[Array, Array, int]:
    """Influences summed over whole blocks of rows, their share of the weight, and how many are of the first group.

    Rows that do not count (and blocks of none that do) are left out: they would make groups seem larger than they are.
    """
    weights, in_first = pooled.weights.gamma_weights, pooled.used < n_first
    sums, shares, counts = [], [], []
    for group in (in_first, ~in_first):
        rows = np.flatnonzero(group & (weights > 0))
        whole = rows[: rows.size - rows.size % block_size]
        sums.append(influences[whole].reshape(-1, block_size, influences.shape[1]).sum(axis=1))
        shares.append(weights[whole].reshape(-1, block_size).sum(axis=1))
        counts.append(len(shares[-1]))
    share = np.concatenate(shares)
    return np.concatenate(sums), share / share.sum(), counts[0]


def _differences(labels: BoolArray, blocks: Array, shares: Array) -> tuple[Array, Array]:
    """Second group's estimate minus the first's as given, shape (p,); and over its error, for every labelling."""
    in_first = labels @ shares
    total, error = blocks.sum(axis=0), np.sqrt((blocks**2).sum(axis=0))
    standard = np.empty((len(labels), blocks.shape[1]))
    for k, (row, share) in enumerate(zip(labels, in_first, strict=True)):
        first = blocks[row].sum(axis=0)
        difference = (total - first) / (1 - share) - first / share
        standard[k] = difference * np.sqrt(share * (1 - share)) / error
    share = in_first[0]
    return standard[0] * error / np.sqrt(share * (1 - share)), standard
