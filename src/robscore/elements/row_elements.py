"""Score-matching elements of n rows: what every kind of elements offers for weighting and averaging rows.

The elements of a row x are Gamma(x) and g(x); a weighted sample has the loss

    1/2 z' (sum_i c_i Gamma(x_i)) z - (sum_i c_i g(x_i))' z

Here are inner products, weighted means, block means and the averaged loss; a kind of elements (``power_elements.py``,
``gradient_elements.py``) says how each is computed without ever holding Gamma of every row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, get_args

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
Parameters: TypeAlias = tuple[Array, ...]

CHUNK_BYTES = 2e7  # of features of rows at a time; guards memory, and rounds sums
_TILE_BYTES = 2e6  # of products of rows at a time: they stay in the cache


class Cost(NamedTuple):
    """The cost of one part of the elements, by which ways to compute inner products are compared.

    Attributes
    ----------
    product : multiplications in the inner product of two rows.
    nodes : how many nodes the part falls into.
    features : numbers per node.
    """

    product: float
    nodes: int
    features: float


class LossWeights(NamedTuple):
    """The weights of the rows in a loss, arrays of shape (n,): of Gamma(x), of g(x), and of Gamma(x) z0 in g.

    The last ones are those of a taper, at the parameters z0 by which rows were weighted.
    """

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
        The part of |Gamma|^2 that all rows share and ``products`` leaves out.
    streams : bool
        Whether rows are read anew whenever something is asked.
    forms_gamma : bool
        Whether averages cannot do without Gamma.
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
    forms_gamma: bool = True
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
        """One node's elements of some rows as flat vectors, shape (rows, f), of the same inner products."""

    @abstractmethod
    def cost(self, part: Part) -> Cost:
        """The cost of inner products and of features of one part."""

    @abstractmethod
    def columns(self) -> Array:
        """Numbers that order the rows as their columns do, shape (n, m)."""

    @abstractmethod
    def _averaged(self, c_gamma: Array, c_g: Array, storage: Storage) -> Loss:
        """The loss of checked weights, shape (n,) each."""

    @abstractmethod
    def _row_losses(self, *parameters: Array) -> Array:
        """Each row's loss, shape (n,), in which anything may overflow."""

    def varying(self) -> BoolArray | None:
        """Which statistics have a derivative other than zero in some row; None where all of them always do."""
        return None

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Name statistics whose derivative is zero in all rows (against A1 of appendix A); None if there are none."""
        return None

    def check_statistics(self) -> None:
        """Raise where the derivative of some statistics is zero in all rows, so that they have no estimate."""
        constant = self.constant_statistics(self.varying()) if self.n_rows > 1 else None
        if constant:
            raise ValueError(constant)

    def shared_by_rows(self) -> Array | None:
        """The part of their elements that all rows share, so that products leave it out; None if that cannot be."""
        return None

    def share(self, value: Array | None) -> None:
        """Leave out this part instead, which these rows share with rows that are not here."""
        assert value is None, f"{type(self).__name__} shares nothing between rows"

    # The loss -----------------------------------------------------------------------------------

    def average(
        self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
    ) -> Loss:
        """The weighted averages of Gamma and g as a quadratic loss.

        Parameters
        ----------
        gamma_weights, g_weights : arrays of shape (n,), optional
            Row weights, by default 1/n each.
        storage : {"auto", "dense", "matrix-free", "float32"}, optional
            By default as ``self.storage`` says. "dense" holds Gamma, m^3 numbers (m^2 where all nodes share it). Power
            families whose rows are in memory can do without: "matrix-free" holds the rows instead; "float32" does so
            in single precision: half the memory and more speed, for derivatives that are right to about six digits.
            "auto" forms Gamma below 150 columns, where nodes share it, and where it cannot be done without.
        """
        storage = storage or self.storage
        check_storage(storage)
        if self.forms_gamma and storage in ("matrix-free", "float32"):
            problem = "is for power families with rows in memory; use 'auto' or 'dense'."
            raise ArgumentError("storage", storage, problem)
        uniform = np.full(self.n_rows, 1.0 / self.n_rows)
        c_gamma, c_g = (
            uniform if weights is None else as_numbers(name, weights)
            for name, weights in (("gamma_weights", gamma_weights), ("g_weights", g_weights))
        )
        for name, weights in (("gamma_weights", c_gamma), ("g_weights", c_g)):
            if weights.shape != (self.n_rows,):
                raise ValueError(f"{name} must have shape ({self.n_rows},), one per row; got {weights.shape}.")
        self.check_no_overflow(np.flatnonzero((c_gamma != 0) | (c_g != 0)))
        return self._averaged(c_gamma, c_g, storage)

    def gamma_times(self, weights: Array, *parameters: Array) -> Array:
        """(sum_i c_i Gamma(x_i)) z for weights of shape (n,)."""
        average: Any = self.average(weights, np.zeros_like(weights))
        return average.gamma_times(*parameters)

    def row_losses(self, *parameters: Array) -> Array:
        """Each row's own score-matching loss, shape (n,); infinite for rows that overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            losses = self._row_losses(*parameters)
        losses[self.overflow | ~np.isfinite(losses)] = np.inf
        return losses

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
        for array in self.row_identity():  # one after the other, so that none hides another's digits
            flat = array.reshape(self.n_rows, -1)
            mantissa, exponent = np.frexp(flat @ rng.uniform(1, 2, flat.shape[1]))
            for digits in (mantissa.round(10) + 0.0, exponent.astype(float)):
                keys = mixed_bits(keys ^ digits.view(np.uint64))
        return keys

    def order_statistics(self) -> Array:
        """Ranks that show whether rows are sorted, shape (n, q): of (some) columns, sizes, and products of columns."""
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

    def total(
        self,
        question: Callable[..., Any],
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
    ) -> Any:
        """Add up ``question(elements, *pieces)`` over pieces of the rows, and of the arrays that go along with them.

        ``length`` and ``starts`` say what pieces there may be, as in :meth:`robscore.rows.Rows.each`.
        """
        result: Any = None
        for low, high in pairwise(cut(self.n_rows, length or self.n_rows, starts).tolist()):
            answer = question(self.subset(np.arange(low, high)), *(array[low:high] for array in along))
            result = answer if result is None else added(result, answer)
        return result

    # Means --------------------------------------------------------------------------------------

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

    def row_chunks(self, part: Part) -> list[slice]:
        """Slices of rows whose features fit in little memory."""
        return chunks(self.n_rows, rows_within(CHUNK_BYTES, self.cost(part).features))

    # Block means --------------------------------------------------------------------------------

    def block_gram(self, blocks: list[IntArray]) -> tuple[Array, Array]:
        """Inner products of the block means of Gamma and of g, two K x K matrices.

        Parameters
        ----------
        blocks : list of K row-index arrays
        """
        from robscore.elements.inner_products import block_gram  # which needs what is here

        partition = Partition.from_blocks(blocks)
        self.check_no_overflow(partition.order)
        return block_gram(self, "gamma", partition) + self.constant, block_gram(self, "g", partition)

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
        numbers, order, frequency = sum(array[0].size for array in self.rows), partition.order, partition.frequency
        for size, members, rows in partition.by_size():
            if size > max(nodes * features / product, 64):
                for k, index in zip(members, rows, strict=True):
                    block = self.subset(order[index])
                    share = np.full(size, 1.0) if frequency is None else frequency[index]
                    squared[k] = block.mean_squared_norm(part, block.mean(part, share / partition.totals[k]))
                continue
            for some in chunks(members.size, rows_within(_TILE_BYTES, size * (size + numbers), at_least=1)):
                taken = self.take(order[rows[some]])
                products = self.products(part, taken, taken)
                if frequency is not None:
                    products = products * frequency[rows[some]][:, :, None] * frequency[rows[some]][:, None, :]
                squared[members[some]] = products.sum(axis=(-1, -2)) / partition.totals[members[some]] ** 2
        return squared

    def node_means(self, part: Part, partition: Partition, nodes: Sequence[int] | None = None) -> Iterator[Array]:
        """Block means of some nodes or all, one at a time, each of shape (K, f); their Gram matrices add up."""
        rows = self.ordered(partition)
        for node in range(self.cost(part).nodes) if nodes is None else nodes:
            features = partition.repeated(self.node_features(part, node, rows))
            yield partition.sums(features) / partition.totals[:, None]


class PairwiseElements(Elements):
    """Elements in which node j owns z_j = (K_1j, ..., K_mj, eta_j); Gamma has one (m+1) x (m+1) block per node."""

    if TYPE_CHECKING:  # the same function, which here gives a loss of this kind

        def average(
            self, gamma_weights: Array | None = None, g_weights: Array | None = None, *, storage: Storage | None = None
        ) -> QuadraticLoss:
            """The weighted averages of Gamma and g as a quadratic loss."""

    def restricted(self, weights: LossWeights, z0: Parameters, entries: Sequence[IntArray]) -> QuadraticLoss:
        """The loss of weighted rows: sum_i c_i Gamma(x_i), and sum_i (c_i g(x_i) + p_i Gamma(x_i) z0).

        Only some entries of every node's block and g are needed, so a subclass may leave out all others.

        Parameters
        ----------
        weights : LossWeights
            c_i for Gamma and for g, and p_i.
        z0 : K and eta, at which rows got the weights p_i
        entries : integer arrays, one per node
        """
        loss = self.average(weights.gamma, weights.g, storage="dense")
        tapered = np.flatnonzero(weights.pulls)
        if tapered.size:
            loss.g += self.subset(tapered).gamma_times(weights.pulls[tapered], *z0)
        return loss

    def mean_g(self, weights: Array) -> Array:
        """The weighted sum of g, shape (m, m + L)."""
        return self.average(weights, weights, storage="dense").g

    @abstractmethod
    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d).

        Parameter c is entry rows[c] of z_nodes[c], entries from m on being those of eta; with ``symmetric`` K_ij stands
        for both entries.
        """

    def gradient_factors(self, interaction: Array, location: Array) -> tuple[Array, Array] | None:
        """Two arrays u and T, shape (n, m): u_k T_j is what a row's loss adds to the gradient in K_kj, at diagonal K.

        None unless both are functions of their own column alone.
        """
        return None

    @abstractmethod
    def pair_squares(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array) -> Array:
        """Sums over rows of the squares of what each adds to the gradient of a weighted loss at z.

        Parameters
        ----------
        weights : LossWeights
        z, z0 : K and eta at which the gradient is taken, and at which rows got ``weights.pulls`` (or nothing)
        own : array of shape (2, m, m), or with covariates (2 + q, m, m)
            What is taken away from the gradient in entry k of z_j: own[0, j, k] times that in K_jj, and own[1, j, k]
            (and so on) times that in eta_j.

        Returns
        -------
        array of shape (2, m, m)
            Of the gradient in entry k of z_j alone, at [0, j, k]; and of its product with that in entry j of z_k.
        """

    @abstractmethod
    def pair_powers(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array, centre: Array) -> Array:
        """Sums over rows of second and fourth powers of what each adds to the gradient in K_jk, shape (2, m, m).

        They say how far sums of squares can be trusted. Elements that share a design may centre it, by an array of
        shape (m,), in place of taking away what ``own`` says.
        """


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
    """The array with its last two axes exchanged."""
    return np.swapaxes(array, -1, -2)
