"""Solutions of the penalised problem along a path of penalties (Definition 4.1).

    minimise  sum_j 1/2 z_j' Gamma_j z_j - g_j' z_j + alpha sum_{i != j} W_ij |K_ij|      for alpha_1 > alpha_2 > ...

Here are the solutions, and the one function that users call, :func:`solve_path`. The way there: the loss with its
penalties, a free location profiled out (:mod:`robscore.solvers.penalised_loss`), written in coordinates
(:mod:`robscore.solvers.problem`), solved by coordinate descent (:mod:`robscore.solvers.descent`), or for many columns
on a growing part of the coordinates (:mod:`robscore.solvers.screening`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.exceptions import ConvergenceWarning

from robscore._tools.messages import ArgumentError, Message, Remark, Setting, UsageError
from robscore._tools.numbers import check_whole
from robscore._tools.progress import announce
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.losses.interaction_parts import each_transposed, matrices
from robscore.losses.quadratic import (
    MANY_COLUMNS,
    FactoredLoss,
    Loss,
    QuadraticLoss,
    StatisticLoss,
    as_location,
    location_rows,
)
from robscore.solvers.descent import DEFAULT_ALPHAS, PathOptions, Trace, trace_nodes, trace_path
from robscore.solvers.penalised_loss import PenalisedLoss, Rule
from robscore.solvers.penalties import Penalty
from robscore.solvers.problem import build_problem, build_statistic_problem
from robscore.solvers.screening import trace_screened
from robscore.solvers.unsolvable_columns import BeyondNumbersError

_BY_ALPHA = ("alphas", "locations", "n_edges", "n_iter", "kkt", "converged")


@dataclass(frozen=True, eq=False, repr=False)
class StatisticPath:
    """Solutions of an exponential family's penalised problem for a decreasing sequence of penalties.

    Attributes
    ----------
    alphas : array of shape (k,), decreasing
    alpha_max : float
        The smallest alpha at which every penalised parameter is zero.
    thetas : array of shape (k, r)
    n_iter : integer array of shape (k,)
    kkt : array of shape (k,)
        Largest distance of the gradient to the subdifferential, over alpha_max.
    converged : boolean array of shape (k,)
    """

    alphas: Array
    alpha_max: float
    thetas: Array
    n_iter: IntArray
    kkt: Array
    converged: BoolArray

    def __repr__(self) -> str:
        ends = f"alpha {self.alphas[0]:.4g} to {self.alphas[-1]:.4g}"
        return f"<StatisticPath of {self.alphas.size} solutions: {ends}, {np.count_nonzero(self.converged)} converged>"


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions for a decreasing sequence of penalties.

    Attributes
    ----------
    alphas : array of shape (k,), decreasing
    alpha_max : float
        The smallest alpha at which every penalised parameter is zero, but for those whose weight is below a thousandth
        of the median weight.
    interactions : Interactions, of shape (k, m, m)
        K at each alpha, kept sparse; ``interactions[k]`` and ``np.asarray(interactions)`` are dense. With the rules
        "and" and "or" these are the raw matrices, column j from node j.
    locations : array of shape (k, m), or with q covariates (k, m, 1 + q)
    n_edges : integer array of shape (k,)
        Pairs with an edge, joined by the rule.
    n_iter : integer array of shape (k,)
        Sweeps of coordinate descent.
    kkt : array of shape (k,)
        Largest distance of the gradient to the subdifferential, over alpha_max.
    converged : boolean array of shape (k,)
    rule : str
    fit_location : bool
    location_is_free : bool
        Whether eta is fitted without a penalty.
    """

    alphas: Array
    alpha_max: float
    interactions: Interactions
    locations: Array
    n_edges: IntArray
    n_iter: IntArray
    kkt: Array
    converged: BoolArray
    rule: Rule
    fit_location: bool
    location_is_free: bool

    def __repr__(self) -> str:
        ends = f"alpha {self.alphas[0]:.4g} to {self.alphas[-1]:.4g}, {self.n_edges[0]} to {self.n_edges[-1]} edges"
        return f"<Path of {self.alphas.size} solutions: {ends}, {np.count_nonzero(self.converged)} converged>"

    def merged(self, other: Path) -> tuple[Path, IntArray]:
        """Put the solutions of another path in their place; also give the order that the joined ones took."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _BY_ALPHA
        }
        joined["interactions"] = self.interactions.joined(other.interactions)
        order = np.argsort(-joined["alphas"], kind="stable")
        return replace(self, **joined).pick(order), order

    def pick(self, positions: IntArray) -> Path:
        """Keep only some of the solutions."""
        picked: dict[str, Any] = {name: getattr(self, name)[positions] for name in _BY_ALPHA}
        return replace(self, interactions=self.interactions[positions], **picked)


def convergence_message(path: Path | StatisticPath) -> Message:
    """Say how many penalties did not converge, which is the worst, and what to do."""
    worst = int(np.argmax(path.kkt))
    return Message(
        f"{np.count_nonzero(~path.converged)} of {path.alphas.size} penalties did not converge; worst is alpha = "
        f"{path.alphas[worst]:.3g}, {path.kkt[worst]:.1e} alpha_max from optimal. With few rows, or equal columns, "
        "there may be no minimum: use larger alphas or a ",
        Setting("diagonal_multiplier"),
        "; else raise ",
        Setting("max_iter"),
        ".",
    )


def count_edges(interaction: csc_array, rule: Rule) -> int:
    """Count the pairs with an edge of a sparse K, joined by the rule."""
    m = interaction.shape[1]
    rows, columns = interaction.indices.astype(np.int64), np.repeat(np.arange(m), np.diff(interaction.indptr))
    is_edge = (rows % m != columns) & (interaction.data != 0)
    if rule == "symmetric":
        return int(np.count_nonzero(is_edge)) // 2
    pairs = (np.minimum(rows, columns) * m + np.maximum(rows, columns))[is_edge]
    distinct = np.unique(pairs).size
    return distinct if rule == "or" else pairs.size - distinct  # a pair occurs once, or twice if in both directions


def joined_support(interaction: Array, rule: Rule) -> BoolArray:
    """Mark the pairs with an edge in an array of the shape of K, symmetric with a False diagonal."""
    edges = interaction != 0
    edges = edges | each_transposed(edges) if rule == "or" else edges & each_transposed(edges)
    for part in matrices(edges):
        np.fill_diagonal(part, val=False)
    return edges


def joined_interaction(interaction: Array, rule: Rule) -> Array:
    """Make a raw K symmetric: the average of both entries on the joined support."""
    keep = joined_support(interaction, rule)
    for part in matrices(keep):
        np.fill_diagonal(part, val=True)
    return np.where(keep, (interaction + each_transposed(interaction)) / 2, 0.0)


def solve_path(
    loss: Loss,
    alphas: int | Sequence[float] | Array | None = None,
    *,
    rule: Rule = "symmetric",
    diagonal_multiplier: float = 0.0,
    penalize_diagonal: bool = False,
    fit_location: bool = True,
    location_ratio: float = np.inf,
    penalty_weights: Array | None = None,
    location_weights: Array | None = None,
    alpha_min_ratio: float = 1e-3,
    max_edges: int | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    penalty: Penalty | None = None,
) -> Path | StatisticPath:
    """Minimise the loss plus a weighted l1 norm of K (and eta) for a whole path of penalties.

    The objective is::

        sum_j 1/2 z_j' Gamma_j z_j - g_j' z_j + alpha sum_{i != j} W_ij |K_ij| + (alpha / location_ratio) |eta|_1

    Parameters
    ----------
    loss : from ``elements.average(...)``
        Of a pairwise family; or of an exponential family, whose theta is then penalised (``penalty_weights`` of shape
        (r,), and of the other options only those below ``alpha_min_ratio`` and the diagonal multiplier).
    alphas : int, sequence of float or None
        How many penalties, from alpha_max down to alpha_max * alpha_min_ratio (default 100; 1 is alpha_max
        alone), or the penalties themselves in any order.
    rule : {"symmetric", "and", "or"}
        One symmetric K, or every node alone with edges joined by and / or.
    diagonal_multiplier : float, default 0
        The paper's beta: the K part of Gamma's diagonal is multiplied by 1 + beta. Needed when there are
        fewer rows than columns.
    penalize_diagonal : bool, default False
    fit_location : bool, default True
        Otherwise eta is zero.
    location_ratio : float, default inf
        eta is penalised by alpha / location_ratio; inf leaves it free.
    penalty_weights : array of shape (m, m), optional
        Symmetric W: 0 leaves an edge free, inf forbids it. Its diagonal is read only with penalize_diagonal.
    location_weights : array of shape (m,), optional
        Weights of ``|eta_j|``, with a finite location_ratio.
    alpha_min_ratio : float, default 1e-3
    max_edges : int, optional
        End the path with the first solution of at least this many edges: the dense end is slow and seldom wanted.
    tol : float, default 1e-6
        Largest distance of the gradient to the subdifferential, relative to alpha_max.
    max_iter : int, default 10000
        Most sweeps for one alpha.
    n_jobs : int or None
        How many tasks at a time where nodes are alone ("and", "or"; below 150 columns), on joblib's backend, threads
        by default; the solutions do not depend on it.
    penalty : Penalty, optional
        A penalty other than the l1 norm: an instance of a class written as
        ``robscore.solvers.penalties.Penalty`` describes.

    Returns
    -------
    Path, or StatisticPath

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).gamma(2.0, size=(200, 4))
    >>> path = rs.solve_path(rs.score_elements("sqrt", X).average(), 20)
    >>> path.interactions.shape, int(path.n_edges[0]), bool(path.converged.all())
    ((20, 4, 4), 0, True)
    """
    options = {name: value for name, value in locals().items() if name not in ("loss", "alphas")}
    path: Path | StatisticPath
    if isinstance(loss, StatisticLoss):
        path = _solve_statistics(loss, alphas, **options)
    else:
        path = solve_quietly(loss, alphas, **options)
    if not path.converged.all():
        Remark(convergence_message(path), ConvergenceWarning).warn(stacklevel=2)
    return path


def solve_quietly(
    loss: QuadraticLoss,
    alphas: int | Sequence[float] | Array | None,
    *,
    rule: Rule,
    alpha_min_ratio: float,
    tol: float,
    max_iter: int,
    max_edges: int | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Path:
    """Do as :func:`solve_path`, without a warning for penalties that did not converge."""
    if loss.reference not in (-1, loss.n_columns - 1):
        options |= {"rule": rule, "alpha_min_ratio": alpha_min_ratio, "tol": tol, "max_iter": max_iter}
        return _with_reference_last(loss, alphas, max_edges=max_edges, n_jobs=n_jobs, **options)
    penalised = PenalisedLoss.of(loss, rule=rule, **options)
    solutions: list[csc_array] = []
    locations: list[Array] = []
    n_edges: list[int] = []
    if max_edges is not None:
        check_whole("max_edges", max_edges, at_least=0)
    n_alphas = DEFAULT_ALPHAS if alphas is None else alphas if isinstance(alphas, int) else np.size(alphas)

    def keep(K: Array | csc_array, eta: Array | None) -> bool:
        solutions.append(as_sparse(K))
        locations.append(penalised.location(K, eta))
        n_edges.append(count_edges(solutions[-1], rule))
        # Progress is counted in edges if their limit is nearer than the last penalty, else in penalties.
        if max_edges and n_edges[-1] * n_alphas > len(solutions) * max_edges:
            announce("edges", min(n_edges[-1], max_edges), max_edges)
        else:
            announce("penalty", len(solutions), n_alphas)
        return max_edges is not None and n_edges[-1] >= max_edges

    along = PathOptions(alphas, alpha_min_ratio, tol, max_iter)
    with np.errstate(all="ignore"):  # the solutions are checked below
        # Where columns are many, only a growing set of coordinates is looked at, without the blocks of all.
        has_many = loss.gamma_last is None and loss.n_columns >= MANY_COLUMNS and loss.parts.count == 1
        if isinstance(loss, FactoredLoss) or has_many:
            trace = trace_screened(penalised, along, keep)
        else:
            ends_early = max_edges is not None and max_edges < loss.n_columns * (loss.n_columns - 1) // 2
            trace = _trace_whole(penalised, along, keep, n_jobs, together=ends_early)
    _check_finite(solutions, locations, trace)
    return Path(
        alphas=trace.alphas,
        alpha_max=trace.alpha_max,
        interactions=Interactions(solutions, loss.n_columns),
        locations=np.array(locations),
        n_edges=np.array(n_edges, dtype=np.intp),
        n_iter=trace.n_iter,
        kkt=trace.kkt,
        converged=trace.kkt <= tol,
        rule=rule,
        fit_location=penalised.fit_location,
        location_is_free=penalised.shifted,
    )


def _with_reference_last(
    loss: QuadraticLoss,
    alphas: int | Sequence[float] | Array | None,
    *,
    penalty_weights: Array | None,
    location_weights: Array | None,
    **options: Any,
) -> Path:
    """Solve for a loss whose reference is not its last node, in an order of the nodes in which it is."""
    m = loss.n_columns
    order = np.append(np.delete(np.arange(m), loss.reference), loss.reference)
    back = np.argsort(order)
    path = solve_quietly(
        loss.reordered(order),
        alphas,
        penalty_weights=_in_order(penalty_weights, order, 2),
        location_weights=_in_order(location_weights, order, 1),
        **options,
    )
    turned = Interactions.of((K[np.ix_(back, back)] for K in path.interactions), m)
    return replace(path, interactions=turned, locations=path.locations[:, back])


def _in_order(weights: Array | None, order: IntArray, n_axes: int) -> Array | None:
    """Put weights of columns in another order; those of another shape stay, to be refused."""
    found = None if weights is None else np.asarray(weights)
    if found is None or found.shape != (order.size,) * n_axes:
        return found
    return found[order] if n_axes == 1 else found[np.ix_(order, order)]


def _check_finite(solutions: list[csc_array], locations: list[Array], trace: Trace) -> None:
    """Raise, naming columns, where floating-point numbers were not enough for a solution."""
    wrong = np.zeros(len(locations[0]), dtype=bool)
    for K, eta in zip(solutions, locations, strict=True):
        wrong |= ~np.isfinite(location_rows(eta)).all(axis=0)
        wrong[K.indices[~np.isfinite(K.data)] % wrong.size] = True
    if not (np.isfinite(trace.alpha_max) and np.isfinite(trace.kkt).all()) and not wrong.any():
        wrong[:] = True
    if wrong.any():
        raise BeyondNumbersError(np.flatnonzero(wrong).tolist())


def _trace_whole(
    penalised: PenalisedLoss,
    options: PathOptions,
    keep: Callable[[Array, Array | None], bool],
    n_jobs: int | None,
    *,
    together: bool,
) -> Trace:
    """Solve with all coordinates and whole blocks; nodes that are alone a few at a time, or ``together``."""
    problem, m, M = build_problem(penalised), penalised.loss.n_columns, penalised.loss.n_interactions

    def keep_entries(z: Array) -> bool:
        Z = z.reshape(m, -1)
        K = penalised.loss.completed(Z[:, :M].T.copy())
        return keep(K, as_location(Z[:, M:]) if Z.shape[1] > M else None)

    if together or penalised.symmetric or penalised.loss.gamma_last is not None:
        return trace_path(problem, options, keep_entries)
    return trace_nodes(problem, options, keep_entries, n_jobs)


def _solve_statistics(
    loss: StatisticLoss,
    alphas: int | Sequence[float] | Array | None,
    *,
    diagonal_multiplier: float,
    penalty_weights: Array | None,
    penalty: Penalty | None,
    alpha_min_ratio: float,
    tol: float,
    max_iter: int,
    **others: Any,
) -> StatisticPath:
    """Solve for an exponential family, whose parameters have no rows, columns or locations."""
    defaults = {"rule": "symmetric", "penalize_diagonal": False, "fit_location": True, "location_ratio": np.inf}
    for name, value in others.items():
        if value is not None and value != defaults.get(name):
            raise ArgumentError(name, value, "is for pairwise families; this loss has statistics only.")
    problem = build_statistic_problem(loss, diagonal_multiplier, penalty_weights, penalty)
    thetas: list[Array] = []

    def keep(Z: Array) -> bool:
        thetas.append(Z.copy())
        return False

    with np.errstate(all="ignore"):  # the solutions are checked below
        trace = trace_path(problem, PathOptions(alphas, alpha_min_ratio, tol, max_iter), keep)
    if not (np.isfinite(trace.alpha_max) and np.isfinite(trace.kkt).all() and np.isfinite(thetas).all()):
        raise UsageError("The statistics are beyond floating-point range; scale the columns of X.")
    return StatisticPath(
        trace.alphas, trace.alpha_max, np.array(thetas), trace.n_iter, trace.kkt, converged=trace.kkt <= tol
    )


class Interactions:
    """A sequence of k matrices of shape (m, m), kept sparse and given back dense.

    ``interactions[k]`` is one of them, ``np.asarray(interactions)`` all of them.

    Examples
    --------
    >>> import numpy as np
    >>> kept = Interactions.of([np.eye(2), np.zeros((2, 2))], 2)
    >>> kept.shape, kept[0].tolist(), len(kept[[1]])
    ((2, 2, 2), [[1.0, 0.0], [0.0, 1.0]], 1)
    """

    def __init__(self, solutions: list[csc_array], n_columns: int) -> None:
        self.solutions, self.n_columns = solutions, n_columns

    @classmethod
    def of(cls, matrices: Iterable[Array | csc_array], n_columns: int) -> Interactions:
        """Keep dense or sparse matrices."""
        return cls([as_sparse(K) for K in matrices], n_columns)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(k, m, m); with moderators, whose parts are stacked, (k, (1 + Q) m, m)."""
        n_rows = self.solutions[0].shape[0] if self.solutions else self.n_columns
        return len(self.solutions), n_rows, self.n_columns

    def __len__(self) -> int:
        return len(self.solutions)

    @overload
    def __getitem__(self, which: int | np.integer[Any]) -> Array: ...

    @overload
    def __getitem__(self, which: slice | IntArray | list[int]) -> Interactions: ...

    @overload
    def __getitem__(self, which: tuple[Any, ...]) -> Array: ...

    def __getitem__(self, which: Any) -> Array | Interactions:
        if isinstance(which, int | np.integer):
            return np.asarray(self.solutions[which].toarray())
        if isinstance(which, tuple):
            return np.asarray(self)[which]
        return Interactions([self.solutions[k] for k in np.arange(len(self))[which]], self.n_columns)

    def __iter__(self) -> Iterator[Array]:
        return (self[k] for k in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:  # noqa: FBT001 - NumPy's signature
        whole = np.zeros(self.shape)
        for k, K in enumerate(self.solutions):
            whole[k] = K.toarray()
        return whole if dtype is None else whole.astype(dtype)

    def joined(self, other: Interactions) -> Interactions:
        """Append others to these."""
        return Interactions([*self.solutions, *other.solutions], self.n_columns)


def as_sparse(K: Array | csc_array) -> csc_array:
    """Store a matrix by its columns; ten times as fast as SciPy's own way from a small dense one."""
    if issparse(K):
        return csc_array(K)
    columns, rows = np.nonzero(K.T)
    ends = np.searchsorted(columns, np.arange(K.shape[1] + 1))
    return csc_array((K[rows, columns], rows.astype(np.int32), ends.astype(np.int32)), shape=K.shape)
