"""Elements of rows that are not held: every question is put to one piece of the rows after the other.

Every kind of elements answers for its own rows; here the answers are joined or added up. A pass over the rows builds
the elements of a piece, asks, and forgets them. Questions are functions of this module or calls of a method, which can
be sent to other machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from robscore._tools.memory import describe, rows_within
from robscore._tools.messages import ArgumentError, Message, Setting, UsageError
from robscore._tools.typing import AnyArray, Array, BoolArray, IntArray
from robscore.elements.row_elements import Cost, Elements, LossWeights, PairwiseElements, Parameters, Part, Storage
from robscore.losses.quadratic import Loss
from robscore.rows.partition import Partition
from robscore.rows.row_source import ArrayRows, Rows, some_of

if TYPE_CHECKING:
    from robscore.families.family import Family

_PIECE_BYTES = 6e6  # of elements at a time: they stay in the cache; decides how sums are rounded
_GROUP_SHARE = 1 / 3  # of the memory: block sums of some nodes may take it
_REMOTE_GROUP = 64e6  # bytes that such sums may take on another machine
_SUBSET_SHARE, _SMALL = 1 / 4, 100e6  # of the memory, and bytes in any case, that elements of some rows may take


def held(rows: Rows, family: Family, memory: float, storage: Storage = "auto") -> Rows:
    """Return the same rows, in memory if their elements fit there; rows on other machines stay there.

    An array stays as it is where its Gamma does not fit, or where the storage of the loss keeps the rows anyway.
    """
    m = rows.n_columns
    fits = 8.0 * rows.n_rows * (family.numbers_a_row(m) + 2 * m) <= memory  # with the rows, as given and scaled
    if isinstance(rows, ArrayRows):
        must = storage in ("matrix-free", "float32") or 8.0 * family.numbers_of_gamma(m) > memory
        return ArrayRows(rows.values, rows.names, whole=fits or must).counted(rows.frequency)
    if rows.is_remote or not fits:
        return rows
    values = np.ascontiguousarray(rows.gather(np.asarray))  # row by row, as arrays are
    return ArrayRows(values, rows.names).counted(rows.frequency)


def check_memory(family: Family, rows: Rows, storage: Storage, memory: float) -> None:
    """Raise where rows that are streamed leave no way to hold the loss."""
    if isinstance(rows, ArrayRows) and rows.whole:
        return
    m = rows.n_columns
    if storage in ("matrix-free", "float32"):
        needed = 8.0 * rows.n_rows * (family.numbers_a_row(m) + 2 * m)
        where = (
            "are on other machines" if rows.is_remote else f"take {describe(needed)} with everything computed from them"
        )
        more = Message() if rows.is_remote else Message(", or raise ", Setting("max_memory"))
        keeps = f"keeps the rows in memory, and these {where}; use "
        raise ArgumentError("storage", storage, Message(keeps, Setting("storage", "auto"), more, "."))
    check_gamma(family, m, memory)


def check_gamma(family: Family, m: int, memory: float) -> None:
    """Raise where Gamma of so many columns does not fit in memory."""
    needed = 8.0 * family.numbers_of_gamma(m)
    if needed > memory:
        raise UsageError(
            f"Gamma of {m} columns takes {describe(needed)}, more than ",
            Setting("max_memory"),
            f" allows ({describe(memory)}), and rows that are streamed cannot do without it: raise ",
            Setting("max_memory"),
            ", or use fewer columns, or rows that fit in memory.",
        )


def elements_of(family: Family, rows: Rows, memory: float) -> Elements:
    """Return the elements of the rows: held if the rows are, else streamed."""
    whole = isinstance(rows, ArrayRows) and rows.whole
    return family.elements(rows.gather(np.asarray)) if whole else StreamedElements(family, rows, memory)


class StreamedElements(PairwiseElements):
    """Elements of n rows that are read anew in every pass.

    Parameters
    ----------
    family : Family
        Resolved: it takes nothing more from the data.
    rows : Rows
        As the family sees them.
    memory : float
        Bytes that block sums and elements of some rows may take.
    """

    streams = True

    def __init__(self, family: Family, rows: Rows, memory: float) -> None:
        self.source, self.memory = rows, memory
        self.n_rows = rows.n_rows
        self.view = View(family)
        self.kind = self.view(rows.take(np.arange(min(self.n_rows, 2))))
        self.n_columns, self.n_locations = self.kind.n_columns, self.kind.n_locations
        self.length = rows_within(_PIECE_BYTES, _numbers(self.kind))
        self.overflow, self.shared, self._varying = self._first_look()
        self.view = View(family, self.shared)
        self.kind.share(self.shared)
        self.constant = self.kind.constant
        self._last: tuple[IntArray, Elements] | None = None

    def _first_look(self) -> tuple[BoolArray, Array | None, BoolArray | None]:
        """Find the rows that overflow, what all rows share, and statistics whose derivatives are not zero in all."""
        overflow = np.zeros(self.n_rows, dtype=bool)
        shared: Array | None = None
        varying: BoolArray | None = None
        for low, (own, own_shared, own_varying) in self.source.each(partial(_look, self.view), length=self.length):
            overflow[low : low + own.size] = own
            if low == 0:
                shared, varying = own_shared, own_varying
                continue
            if shared is not None and not np.array_equal(own_shared, shared):
                shared = np.zeros_like(shared)
            if varying is not None:
                varying = varying | own_varying
        return overflow, shared, varying

    def _ask(self, question: Callable[..., Any]) -> Callable[..., Any]:
        return partial(_answer, self.view, question)

    def _gather(self, question: Callable[..., Any]) -> Any:
        return self.source.gather(self._ask(question), length=self.length)

    def total(
        self,
        question: Callable[..., Any],
        *along: AnyArray,
        length: int | None = None,
        starts: IntArray | None = None,
    ) -> Any:
        """Add up ``question(elements, *pieces)`` over pieces of the rows, and of the arrays that go along with them."""
        length = min(length or self.length, self.length)
        return self.source.total(self._ask(question), *along, length=length, starts=starts)

    # What is asked row by row -------------------------------------------------------------------

    def squared_norms(self, part: Part) -> Array:
        """|Gamma(x)|^2 or |g(x)|^2 of every row, shape (n,)."""
        return self._gather(methodcaller("squared_norms", part))

    def row_keys(self) -> NDArray[np.uint64]:
        """A number for every row, shape (n,), equal where rows have equal elements up to rounding."""
        return self._gather(methodcaller("row_keys"))

    def columns(self) -> Array:
        """Numbers that order the rows as their columns do, shape (n, m)."""
        return self._gather(methodcaller("columns"))

    def _row_losses(self, *parameters: Array) -> Array:
        return self._gather(methodcaller("row_losses", *parameters))

    def row_gradients(
        self, interaction: Array, location: Array, rows: IntArray, nodes: IntArray, *, symmetric: bool
    ) -> Array:
        """Gradient of each row's loss in some parameters, shape (n, d)."""
        return self._gather(methodcaller("row_gradients", interaction, location, rows, nodes, symmetric=symmetric))

    def inner(self, part: Part, mean: Any) -> Array:
        """<mean, e(x_i)> for every row, shape (n,)."""
        return self._gather(methodcaller("inner", part, mean))

    # What is added up over rows -----------------------------------------------------------------

    def pair_squares(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array) -> Array:
        """Sums of squared gradients."""
        return np.asarray(self.total(partial(_pair_sums, "pair_squares", (z, z0, own)), *weights))

    def pair_powers(self, weights: LossWeights, z: Parameters, z0: Parameters, own: Array, centre: Array) -> Array:
        """Sums of second and fourth powers of gradients."""
        return np.asarray(self.total(partial(_pair_sums, "pair_powers", (z, z0, own, centre)), *weights))

    def mean(self, part: Part, weights: Array) -> Any:
        """sum_i c_i e(x_i), as the elements of a piece have it."""
        return self.total(partial(_mean, part), weights)

    def _averaged(self, c_gamma: Array, c_g: Array, storage: Storage) -> Any:
        check_gamma(self.view.family, self.source.n_columns, self.memory)
        return self.total(_average, c_gamma, c_g)

    def gamma_times(self, weights: Array, *parameters: Array) -> Array:
        """(sum_i c_i Gamma(x_i)) z."""
        return self.total(partial(_gamma_times, parameters), weights)

    # Blocks -------------------------------------------------------------------------------------

    def block_squared_norms(self, part: Part, partition: Partition) -> Array:
        """|mu_k|^2 of every block, shape (K,); blocks must be of neighbours."""
        starts = partition.starts if partition.permutation is None else partition.permutation[partition.starts]
        starts = np.append(0, starts[1:])
        question = self._ask(partial(_block_squared_norms, part=part))
        along = partition.along(self.n_rows)
        return self.source.gather(question, *along, length=self.length, starts=starts)

    def gram_by_nodes(self, part: Part, partition: Partition) -> Array:
        """Gram matrix of the block means, shape (K, K); some nodes in every pass, as many as there is memory for."""
        K, along = partition.n_blocks, partition.along(self.n_rows)
        features = self.kind.node_features(part, 0, self.kind.take(slice(0, 1))).shape[1]
        nodes = self.kind.cost(part).nodes
        memory = min(self.memory * _GROUP_SHARE, _REMOTE_GROUP if self.source.is_remote else np.inf)
        at_a_time = max(1, int(memory / (8 * K * features)))
        gram = np.zeros((K, K))
        for first in range(0, nodes, at_a_time):
            group = range(first, min(first + at_a_time, nodes))
            onto = BlockSums(np.arange(K), [np.zeros((K, 0))] * len(group))
            question = self._ask(partial(_block_sums, part=part, nodes=group))
            for sums in self.source.total(question, *along, length=self.length, onto=onto).sums:
                means = sums / partition.totals[:, None]
                gram += means @ means.T
        return gram

    def subset(self, index: IntArray) -> Any:
        """The elements of some rows: held where there is memory for it."""
        if 8.0 * index.size * _numbers(self.kind) <= max(self.memory * _SUBSET_SHARE, _SMALL):
            if self._last is None or not np.array_equal(self._last[0], index):  # the same rows are often taken again
                held = self.view(self.source.take(index))
                held.storage = self.storage
                self._last = index, held
            return self._last[1]
        some = StreamedElements(self.view.family, self.source.selected(np.sort(index)), self.memory)
        some.storage = self.storage
        return some

    # What the elements of a piece answer for all ------------------------------------------------

    def varying(self) -> BoolArray | None:
        """Which statistics have a derivative other than zero in some row; None where all of them always do."""
        return self._varying

    def constant_statistics(self, varying: BoolArray | None) -> str | None:
        """Name statistics whose derivative is zero in all rows; None if there are none."""
        return self.kind.constant_statistics(varying)

    def mean_squared_norm(self, part: Part, mean: Any) -> float:
        """|mean|^2 in the elements' inner product."""
        return self.kind.mean_squared_norm(part, mean)

    def products(self, part: Part, left: Any, right: Any) -> Array:
        """Inner products of rows that were taken."""
        return self.kind.products(part, left, right)

    def node_features(self, part: Part, node: int, rows: Any) -> Array:
        """One node's elements of rows that were taken."""
        return self.kind.node_features(part, node, rows)

    def cost(self, part: Part) -> Cost:
        """The cost of inner products and of features of one part."""
        return self.kind.cost(part)


@dataclass(frozen=True)
class View:
    """The way from rows to elements, the same for every piece: a family, and what all rows share."""

    family: Family
    shared: Array | None = None

    def __call__(self, rows: Array) -> Elements:
        """Return the elements of some rows."""
        elements = self.family.elements(rows)
        elements.share(self.shared)
        return elements


@dataclass
class BlockSums:
    """Sums over blocks, of some nodes: a list with one array of shape (blocks, features) per node, and which blocks."""

    blocks: IntArray
    sums: list[Array]

    def __iadd__(self, more: BlockSums) -> Self:
        if not self.sums:
            self.blocks, self.sums = more.blocks, more.sums
            return self
        if not np.isin(more.blocks, self.blocks, assume_unique=True).all():
            every = np.union1d(self.blocks, more.blocks)
            wider = [np.zeros((every.size, own.shape[1])) for own in self.sums]
            at = np.searchsorted(every, self.blocks)
            for new, own in zip(wider, self.sums, strict=True):
                new[at] = own
            self.blocks, self.sums = every, wider
        at = np.searchsorted(self.blocks, more.blocks)
        for node, other in enumerate(more.sums):
            if not self.sums[node].shape[1]:
                self.sums[node] = np.zeros((self.blocks.size, other.shape[1]))
            self.sums[node][at] += other
        return self


def _numbers(elements: Elements) -> int:
    """Numbers that elements hold of a row, arrays that are the same counted once."""
    return sum(array[0].size for array in {id(array): array for array in elements.rows}.values())


def _answer(view: View, question: Callable[..., Any], rows: Array, *along: AnyArray) -> Any:
    return question(view(rows), *along)


def _look(view: View, rows: Array) -> tuple[BoolArray, Array | None, BoolArray | None]:
    elements = view(rows)
    return elements.overflow, elements.shared_by_rows(), elements.varying()


def _pair_sums(method: str, arguments: tuple[Any, ...], elements: PairwiseElements, *weights: Array) -> Array:
    found: Array = getattr(elements, method)(LossWeights(*weights), *arguments)
    return found


def _mean(part: Part, elements: Elements, weights: Array) -> Any:
    return elements.mean(part, weights)


def _average(elements: Elements, gamma_weights: Array, g_weights: Array) -> Loss:
    return elements.average(gamma_weights, g_weights, storage="dense")


def _gamma_times(parameters: Parameters, elements: Elements, weights: Array) -> Array:
    return elements.gamma_times(weights, *parameters)


def _local(block_of: IntArray, frequency: Array | None) -> tuple[IntArray, Partition]:
    """Return the blocks that rows belong to, by number, and these rows as a partition; -1 stands for no block."""
    order = np.argsort(block_of, kind="stable")
    order = order[np.searchsorted(block_of[order], 0) :]
    blocks, sizes = np.unique(block_of[order], return_counts=True)
    return blocks, Partition(order, sizes, some_of(frequency, order))


def _block_squared_norms(
    elements: Elements, block_of: IntArray, frequency: Array | None = None, *, part: Part
) -> Array:
    blocks, partition = _local(block_of, frequency)
    return elements.block_squared_norms(part, partition) if blocks.size else np.zeros(0)


def _block_sums(
    elements: Elements, block_of: IntArray, frequency: Array | None = None, *, part: Part, nodes: Sequence[int]
) -> BlockSums:
    blocks, partition = _local(block_of, frequency)
    if not blocks.size:
        return BlockSums(blocks, [])
    sizes = partition.totals[:, None]
    return BlockSums(blocks, [means * sizes for means in elements.node_means(part, partition, nodes)])
