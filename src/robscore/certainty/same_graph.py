"""Are two graphs the same? Edge by edge for two fits, and by a permutation test for groups of rows.

For the test all rows are fitted together. With b_g the sum of the influences of the rows of group g on K_ij, s_g its
share of the weight and b the sum of all, what a group alone would give deviates from the whole by b_g / s_g - b, to
first order. The statistic is, over all pairs,

    sum_ij sum_g s_g (b_g / s_g - b)^2 / v_ij,      v_ij the sum of squared influences

For two groups this is their squared difference over its error. Rows are permuted between groups; paired rows only with
their own partners.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import UsageError, first_few, quoted
from robscore._tools.numbers import check_whole
from robscore._tools.randomness import as_generator
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore.certainty.filled_influence import influence_of_rows
from robscore.families.family import takes_words
from robscore.fitting.fit_result import GraphFit
from robscore.graph import Graph
from robscore.rows.input_data import read_matrix
from robscore.rows.row_source import ArrayRows
from robscore.rows.tables import Kind, as_table, library_of
from robscore.rows.worded_columns import in_same_codes

if TYPE_CHECKING:
    from robscore.estimators import RobustGraph

CHANGES = ("kept", "gained", "lost", "changed sign")
_FEWEST_PAIRS = 8  # of blocks: fewer can be swapped in too few ways for a small p-value
_LARGEST_STEP = 0.01  # the least p-value that permutations can give: a larger one makes the test useless


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
        counts = ", ".join(f"{count} {change}" for change, count in self.counts.items())
        return f"from {self.labels[0]} to {self.labels[1]}: {counts}"

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
    other_columns = {"source", "target", "change"}
    if len(labels) != 2 or len({*labels} - other_columns) != 2 or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"labels={labels!r} must be two different texts, and not {', '.join(sorted(other_columns))}.")
    order = [b.names.index(name) for name in a.names]
    edges = [np.where(graph.adjacency, graph.association, 0.0) for graph in (a, b)]
    return GraphComparison(a.names, edges[0], edges[1][np.ix_(order, order)], (labels[0], labels[1]), a.frame)


@dataclass(frozen=True, eq=False)
class EqualityTest:
    """Whether groups of rows have the same interactions.

    Attributes
    ----------
    p_value : float
        P-value of the hypothesis that the groups do not differ.
    statistic : float
        Sum over all pairs of the squared difference in K_ij over its standard error; of more than two groups, of the
        squared deviations of all from what they have in common.
    null : array of shape (B,)
        The same for groups made at random from all rows.
    difference : array of shape (m, m), or of G > 2 groups (G, m, m)
        K of the second group minus that of the first, to first order, in units of the scaled columns; of more than two,
        of each minus that of all.
    pair_p_values : array of shape (m, m)
        P-values of single pairs, corrected for multiple testing (by the largest difference under the null); 1 on the
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
        """All pairs: source, target, difference (of each group, where there are more than two), p_value; least first.

        P-values are corrected.
        """
        i, j = np.triu_indices(len(self.names), k=1)
        of_pairs = self.difference[..., i, j]
        largest = np.abs(of_pairs) if of_pairs.ndim == 1 else np.abs(of_pairs).max(axis=0)
        order = np.lexsort((-largest, self.pair_p_values[i, j]))
        i, j = i[order], j[order]
        by_group = {"difference": of_pairs}
        if of_pairs.ndim > 1:
            by_group = {f"difference_{g}": own for g, own in enumerate(of_pairs, start=1)}
        columns: dict[str, tuple[Kind, Any]] = {
            "source": (str, [self.names[k] for k in i]),
            "target": (str, [self.names[k] for k in j]),
            **{name: (float, own[order]) for name, own in by_group.items()},
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
    *more: AnyData,
    paired: bool = False,
    n_permutations: int = 999,
    block_size: int = 1,
    random_state: RandomState = 0,
) -> EqualityTest:
    """Permutation test that groups of rows have the same graph, with the same interactions.

    All rows are fitted together, with the model's settings; from the influence of every row on the interactions
    follows, to first order, the estimate of each group alone. Under the hypothesis that rows of all groups come from
    the same distribution, they are exchangeable, for any number of rows. Dropped rows do not take part.

    Parameters
    ----------
    model : RobustGraph
        Its settings are used.
    first, second, *more : array-like or data frame of shapes (n1, m), (n2, m), ..., with the same columns
    paired : bool, default False
        Whether row i of every group is of the same patient, plot or day: then rows are swapped only with their own
        partners, and whatever they have in common does not count. Partners of dropped rows do not
        take part either.
    n_permutations : int, default 999
    block_size : int, default 1
        Rows that stay together; more than one for time series.
    random_state : int, Generator or None, default 0

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rng = np.random.default_rng(1)
    >>> A, B, C = rng.normal(size=(3, 200, 3))
    >>> rs.equality_test(rs.RobustGraph("gaussian"), A, B).p_value > 0.05
    True
    >>> rs.equality_test(rs.RobustGraph("gaussian"), A, B, C).p_value > 0.05
    True
    >>> B[:, 1] += B[:, 0]
    >>> rs.equality_test(rs.RobustGraph("gaussian"), A, B).p_value
    0.001
    """
    tables, names = _read((first, second, *more), model)
    sizes = [len(table) for table in tables]
    check_whole("n_permutations", n_permutations, at_least=1)
    check_whole("block_size", block_size, at_least=1)
    if paired and len(set(sizes)) > 1:
        raise UsageError(f"paired=True needs groups of the same number of rows; they have {_listed(sizes)}.")
    pooled = clone(model).fit(ArrayRows(np.concatenate(tables), names, whole=False))
    found = influence_of_rows(pooled.fitted_)
    if not found.on_pairs.shape[1]:
        raise ValueError("There is no pair to compare: one column, or all pairs forbidden by penalty_weights.")
    blocks, shares, counts = _exchangeable_blocks(found.on_pairs, pooled.fitted_, sizes, block_size, paired=paired)
    _check_counts(counts, block_size, paired=paired)
    labels = _labels(counts, n_permutations, as_generator(random_state), paired=paired)
    difference, squares = (_differences if len(counts) == 2 else _deviations)(labels, blocks, shares)
    total, largest = squares.sum(axis=1), squares.max(axis=1)
    p_value = float(np.mean(total >= total[0] * (1 - 1e-12)))
    above = np.sqrt(largest)[:, None] >= np.sqrt(squares[0]) * (1 - 1e-12)
    m = len(names)
    pairs, pair_p = np.zeros((*difference.shape[:-1], m, m)), np.ones((m, m))
    i, j = found.pairs
    pairs[..., i, j] = pairs[..., j, i] = difference
    pair_p[i, j] = pair_p[j, i] = above.mean(axis=0)
    return EqualityTest(p_value, float(total[0]), total[1:], pairs, pair_p, tuple(names), library_of(first))


def _read(groups: tuple[AnyData, ...], model: RobustGraph) -> tuple[list[Array], list[str]]:
    """The rows of all groups, and the names of their columns."""
    called = ["first", "second", *(f"group {k}" for k in range(3, len(groups) + 1))]
    tables: list[Array] = []
    names: list[str] = []
    if takes_words(model.family):
        groups = tuple(in_same_codes(groups))
    for name, group in zip(called, groups, strict=True):
        table, own = read_matrix(group, name, missing="drop" if model.missing == "drop" else "raise")
        if tables and own != names:
            raise UsageError(
                f"first and {name} must have the same columns in the same order; got {first_few(names)} and "
                f"{first_few(own)}."
            )
        tables.append(table)
        names = own
    return tables, names


def _listed(counts: list[int]) -> str:
    return " and ".join(map(str, counts)) if len(counts) == 2 else ", ".join(map(str, counts))


def _check_counts(counts: list[int], block_size: int, *, paired: bool) -> None:
    """Raise if there are too few blocks to permute."""
    if paired:
        if counts[0] < _FEWEST_PAIRS:
            raise ValueError(
                f"There are {counts[0]} pairs of whole blocks of {block_size} rows that count: too few to permute. "
                "Use smaller blocks, or more rows."
            )
        return
    total = sum(counts)
    if min(counts) < 2 or 1 / comb(total, counts[0]) > _LARGEST_STEP:
        raise ValueError(
            f"The groups have {_listed(counts)} whole blocks of {block_size} rows that count: too few to "
            "permute. Use smaller blocks, or more rows."
        )


def _exchangeable_blocks(
    influences: Array, pooled: GraphFit, sizes: list[int], block_size: int, *, paired: bool
) -> tuple[Array, Array, list[int]]:
    """Influences summed over whole blocks of rows, their share of the weight, and how many are of each group.

    Rows with weight zero are left out: they would make groups seem larger than they are. Where rows are paired, all
    partners of such a row are left out too.
    """
    weights = pooled.weights.gamma_weights
    starts = np.cumsum([0, *sizes])
    counted = pooled.used[weights > 0]
    rows = [counted[(counted >= low) & (counted < high)] - low for low, high in pairwise(starts)]
    if paired:
        common = set(rows[0].tolist()).intersection(*(own.tolist() for own in rows[1:]))
        rows = [np.array(sorted(common), dtype=np.intp)] * len(rows)
    sums, shares, counts = [], [], []
    for own, low in zip(rows, starts, strict=False):
        at = np.searchsorted(pooled.used, own + low)
        whole = at[: at.size - at.size % block_size]
        sums.append(influences[whole].reshape(-1, block_size, influences.shape[1]).sum(axis=1))
        shares.append(weights[whole].reshape(-1, block_size).sum(axis=1))
        counts.append(len(shares[-1]))
    share = np.concatenate(shares)
    return np.concatenate(sums), share / share.sum(), counts


def _labels(counts: list[int], n_permutations: int, rng: np.random.Generator, *, paired: bool) -> IntArray:
    """The group of every block, as they are and as they could be, shape (1 + permutations, blocks)."""
    labels = np.tile(np.repeat(np.arange(len(counts)), counts), (1 + n_permutations, 1))
    for row in labels[1:]:
        if paired:
            drawn = rng.permuted(np.tile(np.arange(len(counts)), (counts[0], 1)), axis=1)
            row[:] = drawn.T.ravel()
        elif len(counts) == 2:
            row[:] = 1
            row[rng.permutation(row.size)[: counts[0]]] = 0
        else:
            row[:] = rng.permutation(row)
    return labels


def _differences(labels: IntArray, blocks: Array, shares: Array) -> tuple[Array, Array]:
    """Second group's estimate minus the first's as given, shape (p,); its square over its error's, for all labels."""
    is_first: BoolArray = labels == 0
    in_first = is_first @ shares
    total, error = blocks.sum(axis=0), np.sqrt((blocks**2).sum(axis=0))
    standard = np.empty((len(labels), blocks.shape[1]))
    for k, (row, share) in enumerate(zip(is_first, in_first, strict=True)):
        first = blocks[row].sum(axis=0)
        difference = (total - first) / (1 - share) - first / share
        standard[k] = difference * np.sqrt(share * (1 - share)) / error
    share = in_first[0]
    return standard[0] * error / np.sqrt(share * (1 - share)), standard**2


def _deviations(labels: IntArray, blocks: Array, shares: Array) -> tuple[Array, Array]:
    """Every group's estimate minus that of all, shape (G, p), as given; its squares over errors', for all labels."""
    groups = np.arange(labels.max() + 1)[:, None]
    total, variance = blocks.sum(axis=0), (blocks**2).sum(axis=0)
    found = np.empty((len(labels), blocks.shape[1]))
    for k in range(len(labels) - 1, -1, -1):
        member = labels[k] == groups
        share = (member @ shares)[:, None]
        deviation = member @ blocks / share - total
        found[k] = (share * deviation**2).sum(axis=0) / variance
    return deviation, found
