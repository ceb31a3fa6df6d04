"""Score-matching elements of n rows: what every kind of elements offers for weighting and averaging rows.

The elements of a row x are Gamma(x) and g(x); the loss of a weighted sample is 1/2 z' (sum_i c_i Gamma(x_i)) z -
(sum_i c_i g(x_i))' z. Here are inner products, weighted means, the averaged loss, and sums over rows of powers of their
gradients; a kind of elements (``power_elements.py``, ``gradient_elements.py``) says how each is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import combinations, pairwise
from typing import Any, Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from robscore._tools.memory import chunks, rows_within
from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import as_numbers
from robscore._tools.randomness import mixed_bits
from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray
from robscore.losses.quadratic import Loss, QuadraticLoss
from robscore.medians.clouds import LARGEST_SQUARED_NORM
from robscore.rows.partition import Partition
from robscore.rows.row_source import added, cut

Part: TypeAlias = Literal["gamma", "g"]
PARTS: tuple[Part, Part] = ("gamma", "g")

Storage: TypeAlias = Literal["auto", "dense", "matrix-free", "float32"]

CHUNK_BYTES = 2e7
_TILE_BYTES = 2e6


class Cost(NamedTuple):
    """What one part of the elements costs.

    Attributes
    ----------
    product : multiplications in the inner product of two rows.
    nodes : how many nodes the part falls into.
    features : numbers per node.
    """

    product: float
    nodes: int
    features: float


class RowCounts(NamedTuple):
    """What every row counts in a weighted loss, arrays of shape (n,): in Gamma, in g, and times Gamma z0 in g."""

    gamma: Array
    g: Array
    pulls: Array


class Elements(ABC):
    """Score-matching elements of n rows of m columns.

    A subclass keeps the arrays of its rows, one row each along their first axis, in the named tuple ``rows``.

    Attributes
    ----------
    n_rows, n_columns : int
    overflow : boolean array of shape (n,)
        Rows so large, or so near a boundary, that the products of their elements overflow. They count as infinitely
        far: their arrays are set to zero here and no weight may be put on them.
    constant : float
        What all rows share of |Gamma|^2 and ``products`` leaves out.
    streams : bool
        Whether rows are read anew whenever something is asked.
    storage : {"auto", "dense", "matrix-free", "float32"}
        How averages hold Gamma.
    memory : float
        Bytes that products of block means may take, where that is more than usual.
    n_locations : int
        How many parameters of location a column has: 1 and one for every covariate.
    """

    rows: Any
    n_rows: int
    n_columns: int
    overflow: BoolArray
    constant: float = 0.0
    streams: bool = False
    storage: Storage = "auto"
    memory: float = 0.0
    n_locations: int = 1

    def stored_as(self, storage: Storage) -> Self:
        """The same elements, whose averages hold Gamma in this way."""
        same = copy(self)
        same.storage = storage
        return same

    def _find_overflow(self, bound: float = np.inf) -> None:
        """Set ``overflow``, and the rows that do to zero; no squared norm is known to exceed ``bound``."""
        if bound <= LARGEST_SQUARED_NORM / 2:
            self.overflow = np.zeros(self.n_rows, dtype=bool)
            return
        with np.errstate(over="ignore", invalid="ignore"):
            largest = np.maximum(self.squared_norms("gamma"), self.squared_norms("g"))
        self.overflow = ~(largest <= LARGEST_SQUARED_NORM)
        if self.overflow.any():
            kept = np.flatnonzero(~self.overflow)
            cleared = [np.zeros_like(array) for array in self.rows]
            for new, array in zip(cleared, self.rows, strict=True):
                new[kept] = array[kept]
            self.rows = type(self.rows)(*cleared)

    # What a kind of elements must provide ----------------------------------------------------

    @abstractmethod
    def products(self, part: Part, left: Any, right: Any) -> Array:
        """Inner products of the elements of all rows in ``left`` with all in ``right``, shape (..., l, r)."""

    @abstractmethod
    def squared_norms(self, part: Part) -> Array:
        """|Gamma(x)|^2 or |g(x)|^2 of every row, shape (n,)."""

    @abstractmethod
    def node_features(self, part: Part, node: int, rows: Any) -> Array:
        """One node's elements of some rows as flat vectors, shape (rows, f), Euclidean with the elements."""

    @abstractmethod
    def cost(self, part: Part) -> Cost:
        """What the part costs."""

    @abstractmethod
    def columns(self) -> Array:
        """Something that orders rows as their columns do, shape (n, m)."""

    @abstractmethod
    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> Loss:
        """The weighted averages of Gamma and g as a quadratic loss.

        Parameters
        ----------
        gamma_weights, g_weights : arrays of shape (n,), optional
            Row weights, by default 1/n each.
        storage : {"auto", "dense", "matrix-free", "float32"}, optional
            Whether Gamma is formed; only power families can do without it. By default as ``self.storage`` says.
        """

    @abstractmethod
    def row_losses(self, *parameters: Array) -> Array:
        """Each row's own score-matching loss, shape (n,); infinite for rows that overflow."""

    def varying(self) -> BoolArray | None:
        """Which statistics some row says something about; None where all of them always do."""
        return None

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Which statistics no row says anything about (A1 of appendix A), in words; None if there are none."""
        return None

    def check_statistics(self) -> None:
        """Raise where no row says anything about some statistics."""
        constant = self.constant_statistics(self.varying()) if self.n_rows > 1 else None
        if constant:
            raise ValueError(constant)

    def shared_by_rows(self) -> Array | None:
        """What all rows share of their elements, and is therefore left out of products; None if that cannot be."""
        return None

    def share(self, value: Array | None) -> None:
        """Leave that out instead, for the sake of rows that are not here."""
        assert value is None, f"{type(self).__name__} shares nothing between rows"

    # Rows ---------------------------------------------------------------------------------------

    def take(self, index: IntArray | slice) -> Any:
        """The arrays of some rows; an index of shape (K, s) gives K groups of s rows."""
        return type(self.rows)(*(array[index] for array in self.rows))

    def ordered(self, partition: Partition) -> Any:
        """The arrays of the rows of all blocks, one after the other."""
        return self.rows if partition.permutation is None else self.take(partition.permutation)

    def subset(self, index: IntArray) -> Self:
        """The elements of some rows."""
        some = copy(self)
        some.rows, some.n_rows, some.overflow = self.take(index), index.size, self.overflow[index]
        return some

    def row_identity(self) -> tuple[Array, ...]:
        """Arrays that are equal only where rows are."""
        return tuple(self.rows)

    def row_keys(self) -> NDArray[np.uint64]:
        """A number for every row, shape (n,), equal where rows have equal elements up to rounding."""
        rng = np.random.default_rng(0)
        keys = np.zeros(self.n_rows, dtype=np.uint64)
        for array in self.row_identity():  # apart: none hides another's digits
            flat = array.reshape(self.n_rows, -1)
            mantissa, exponent = np.frexp(flat @ rng.uniform(1, 2, flat.shape[1]))
            for digits in (mantissa.round(10) + 0.0, exponent.astype(float)):
                keys = mixed_bits(keys ^ digits.view(np.uint64))
        return keys

    def order_statistics(self) -> Array:
        """Ranks of what shows whether rows are sorted, shape (n, q): (some) columns, sizes, products of columns."""
        chosen = np.unique(np.linspace(0, self.n_columns - 1, min(self.n_columns, 32)).round().astype(int))
        ranks = rankdata(self.columns()[:, chosen], axis=0)
        centred = ranks - ranks.mean(axis=0)
        left, right = np.random.default_rng(0).normal(size=(2, chosen.size, 6))
        sizes = np.column_stack([self.squared_norms(part) for part in PARTS])
        others = np.concatenate([sizes, (centred @ left) * (centred @ right)], axis=1)
        return np.concatenate([ranks, rankdata(others, axis=0)], axis=1)

    def check_no_overflow(self, rows: IntArray) -> None:
        """Raise if any of the rows overflows."""
        bad = rows[self.overflow[rows]]
        if bad.size:
            raise ValueError(
                f"{bad.size} rows have score-matching elements that overflow: they are too large, or too near a "
                f"boundary (first: row {bad.min()}); drop them, or use more blocks so that they get weight zero."
            )

    def _read_weights(self, gamma_weights: Array | None, g_weights: Array | None) -> tuple[Array, Array]:
        """Row weights as given or equal, checked."""
        uniform = np.full(self.n_rows, 1.0 / self.n_rows)
        c_gamma, c_g = (
            uniform if weights is None else as_numbers(name, weights)
            for name, weights in (("gamma_weights", gamma_weights), ("g_weights", g_weights))
        )
        for name, weights in (("gamma_weights", c_gamma), ("g_weights", c_g)):
            if weights.shape != (self.n_rows,):
                raise ValueError(f"{name} must have shape ({self.n_rows},), one per row; got {weights.shape}.")
        self.check_no_overflow(np.flatnonzero((c_gamma != 0) | (c_g != 0)))
        return c_gamma, c_g

    def total(
        self,
        question: Callable[..., Any],
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
    ) -> Any:
        """What ``question(elements, *pieces)`` makes of pieces of the rows, and of what goes along, added up."""
        result: Any = None
        for low, high in pairwise(cut(self.n_rows, length or self.n_rows, starts).tolist()):
            answer = question(self.subset(np.arange(low, high)), *(array[low:high] for array in along))
            result = answer if result is None else added(result, answer)
        return result

    # Block means --------------------------------------------------------------------------------

    def block_gram(self, blocks: list[IntArray]) -> tuple[Array, Array]:
        """Inner products of the block means of Gamma and of g, two K x K matrices.

        Parameters
        ----------
        blocks : list of K row-index arrays
        """
        from robscore.elements.inner_products import block_gram

        partition = Partition.from_blocks(blocks)
        self.check_no_overflow(partition.order)
        return block_gram(self, "gamma", partition) + self.constant, block_gram(self, "g", partition)

    def gamma_times(self, weights: Array, *parameters: Array) -> Array:
        """(sum_i c_i Gamma(x_i)) z for weights of shape (n,)."""
        average: Any = self.average(weights, np.zeros_like(weights))
        return average.gamma_times(*parameters)

    def mean(self, part: Part, weights: Array) -> Any:
        """sum_i c_i e(x_i), in a form that ``inner`` and ``mean_squared_norm`` understand."""
        totals: list[Array] = [np.zeros(0)] * self.cost(part).nodes
        for chunk in self.row_chunks(part):
            rows, c = self.take(chunk), weights[chunk]
            for node in range(len(totals)):
                total = c @ self.node_features(part, node, rows)
                totals[node] = totals[node] + total if totals[node].size else total
        return totals

    def inner(self, part: Part, mean: Any) -> Array:
        """<mean, e(x_i)> for every row, shape (n,)."""
        result = np.zeros(self.n_rows)
        for chunk in self.row_chunks(part):
            rows = self.take(chunk)
            for node, total in enumerate(mean):
                result[chunk] += self.node_features(part, node, rows) @ total
        return result

    def mean_squared_norm(self, part: Part, mean: Any) -> float:
        """|mean|^2 in the elements' inner product."""
        return float(sum(total @ total for total in mean))

    def gram_by_nodes(self, part: Part, partition: Partition) -> Array:
        """Gram matrix of the block means, shape (K, K), from the means themselves, one node at a time."""
        gram = np.zeros((partition.n_blocks, partition.n_blocks))
        for means in self.node_means(part, partition):
            gram += means @ means.T
        return gram

    def block_squared_norms(self, part: Part, partition: Partition) -> Array:
        """|mu_k|^2 of every block, shape (K,): from products within it, or from its mean where blocks are large."""
        squared = np.empty(partition.n_blocks)
        product, nodes, features = self.cost(part)
        numbers, order, often = sum(array[0].size for array in self.rows), partition.order, partition.frequency
        for size, members, rows in partition.by_size():
            if size > max(nodes * features / product, 64):
                for k, index in zip(members, rows, strict=True):
                    block = self.subset(order[index])
                    share = np.full(size, 1.0) if often is None else often[index]
                    squared[k] = block.mean_squared_norm(part, block.mean(part, share / partition.totals[k]))
                continue
            for some in chunks(members.size, rows_within(_TILE_BYTES, size * (size + numbers), at_least=1)):
                taken = self.take(order[rows[some]])
                products = self.products(part, taken, taken)
                if often is not None:
                    products = products * often[rows[some]][:, :, None] * often[rows[some]][:, None, :]
                squared[members[some]] = products.sum(axis=(-1, -2)) / partition.totals[members[some]] ** 2
        return squared

    def node_means(self, part: Part, partition: Partition, nodes: Sequence[int] | None = None) -> Iterator[Array]:
        """Block means of some nodes or all, one at a time, each of shape (K, f); their Gram matrices add up."""
        rows = self.ordered(partition)
        for node in range(self.cost(part).nodes) if nodes is None else nodes:
            features = partition.repeated(self.node_features(part, node, rows))
            yield partition.sums(features) / partition.totals[:, None]

    def row_chunks(self, part: Part) -> list[slice]:
        """Slices of rows whose features fit in little memory."""
        return chunks(self.n_rows, rows_within(CHUNK_BYTES, self.cost(part).features))


class PairwiseElements(Elements):
    """Elements in which node j owns z_j = (K_1j, ..., K_mj, eta_j); Gamma has one (m+1) x (m+1) block per node."""

    @abstractmethod
    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> QuadraticLoss:
        """The weighted averages of Gamma and g as a quadratic loss; weights are 1/n by default."""

    def restricted(self, counts: RowCounts, z0: tuple[Array, ...], entries: Sequence[IntArray]) -> QuadraticLoss:
        """The loss sum_i c_i Gamma(x_i) and sum_i (c_i g(x_i) + p_i Gamma(x_i) z0), by what rows count.

        Of every node's block and g some entries are needed; here all of them are there.

        Parameters
        ----------
        counts : what every row counts in Gamma, in g, and times Gamma z0 in g
        z0 : K and eta of the fit that the last of these belong to
        entries : integer arrays, one per node
        """
        loss = self.average(counts.gamma, counts.g, storage="dense")
        bent = np.flatnonzero(counts.pulls)
        if bent.size:
            loss.g += self.subset(bent).gamma_times(counts.pulls[bent], *z0)
        return loss

    def mean_g(self, weights: Array) -> Array:
        """The weighted sum of g, shape (m, m + L)."""
        return self.average(weights, weights, storage="dense").g

    @abstractmethod
    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d).

        Parameter c is entry rows[c] of z_nodes[c], entry m being eta; with ``symmetric`` K_ij stands for both entries.
        """

    def gradient_factors(self, interaction: Array, location: Array) -> tuple[Array, Array] | None:
        """Two arrays u and T, shape (n, m), with u_k T_j what a row's loss adds to the gradient in K_kj, at diagonal K.

        None unless both are functions of their own column alone.
        """
        return None

    @abstractmethod
    def pair_squares(self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array) -> Array:
        """Sums over rows of the squares of what each adds to the gradient of a weighted loss at z.

        Parameters
        ----------
        counts : what every row counts
        z, z0 : K and eta at which the gradient is taken, and those that ``counts.pulls`` belong to (or nothing)
        own : array of shape (2, m, m), or with covariates (2 + q, m, m)
            What is taken away from the gradient in entry k of z_j: own[0, j, k] times that in K_jj, and own[1, j, k]
            (and so on) times that in eta_j.

        Returns
        -------
        array of shape (2, m, m)
            Of the gradient in entry k of z_j alone, at [0, j, k]; and of its product with that in entry j of z_k.
        """

    @abstractmethod
    def pair_powers(
        self, counts: RowCounts, z: tuple[Array, ...], z0: tuple[Array, ...], own: Array, centre: Array
    ) -> Array:
        """Sums over rows of second and fourth powers of what each adds to the gradient in K_jk, shape (2, m, m).

        They say how far sums of squares can be trusted. Elements that share a design may centre it, by an array of
        shape (m,), in place of taking away what ``own`` says.
        """


def check_dense(storage: Storage) -> None:
    """Raise where a loss without Gamma is asked of elements that have none."""
    check_storage(storage)
    if storage in ("matrix-free", "float32"):
        raise ArgumentError("storage", storage, "is for power families with rows in memory; use 'auto' or 'dense'.")


def check_storage(storage: object) -> None:
    """Raise unless it is a way to hold Gamma."""
    if storage not in get_args(Storage):
        known = ", ".join(map(repr, get_args(Storage)))
        raise ArgumentError("storage", storage, f"is not known; use one of {known}.")


def dot(left: Array, right: Array) -> Array:
    """Inner products of matching rows, shape (n,)."""
    result: Array = np.einsum("ij,ij->i", left, right)
    return result


def transposed(array: Array) -> Array:
    """The last two axes exchanged."""
    return np.swapaxes(array, -1, -2)


def less_own_parameters(whole: Array, own: Array) -> Array:
    """Gradients in all of z_j, shape (rows, m, p), to those in K less what own parameters take, (rows, m, m)."""
    m = whole.shape[1]
    gradients: Array = whole[:, :, :m] - own[0] * np.einsum("njj->nj", whole[:, :, :m])[:, :, None]
    for k, factor in enumerate(own[1:]):
        gradients -= factor * whole[:, :, m + k, None]
    return gradients


def summed_squares(gradients: Iterable[Array], m: int) -> Array:
    """Of the gradient in K_jk, squared, and times that in K_kj, shape (2, m, m)."""
    sums = np.zeros((2, m, m))
    for some in gradients:
        sums[0] += np.einsum("njk,njk->jk", some, some)
        sums[1] += np.einsum("njk,nkj->jk", some, some)
    return sums


def summed_powers(gradients: Iterable[Array], m: int) -> Array:
    """Second and fourth powers of the gradient in K_jk and K_kj together, shape (2, m, m)."""
    sums = np.zeros((2, m, m))
    for some in gradients:
        squares = (some + some.transpose(0, 2, 1)) ** 2
        sums[0] += squares.sum(axis=0)
        sums[1] += np.einsum("njk,njk->jk", squares, squares)
    return sums


def squares_of_products(u: Array, T: Array, taken: Sequence[Array], own: Array) -> Array:
    """As :func:`summed_squares`, from products of n x m arrays, where the gradient in K_kj is u_k T_j.

    ``taken`` are the gradients in own parameters, shape (n, m) each, of which ``own``, shape (len(taken), m, m), is
    taken off.
    """
    squares = (T * T).T @ (u * u)
    across = (T * u).T @ (T * u)
    mixed = np.zeros_like(squares)  # of what is taken away from [j, k] with the gradient itself at [k, j]
    for gradient, factor in zip(taken, own, strict=True):
        squares -= 2 * factor * ((T * gradient).T @ u)
        mixed += factor * ((gradient * u).T @ T)
    across -= mixed + mixed.T
    of_own: Array | float = 0.0
    for (a, first), (b, second) in (((k, part), (k, part)) for k, part in enumerate(taken)):
        squares += own[a] * own[b] * np.einsum("ij,ij->j", first, second)[:, None]
        of_own = of_own + own[a] * (first.T @ second) * own[b].T
    for (a, first), (b, second) in combinations(enumerate(taken), 2):
        squares += 2 * own[a] * own[b] * np.einsum("ij,ij->j", first, second)[:, None]
        both = own[a] * (first.T @ second) * own[b].T
        of_own = of_own + both + both.T
    return np.stack([squares, across + of_own])
