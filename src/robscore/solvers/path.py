"""Solutions of the penalised problem along a path of penalties (Definition 4.1).

Coordinate descent with warm starts. The gradient of every coordinate is kept up to date, so checking all of
them is cheap: the working set starts from the strong rule and grows by whatever violates optimality, and each
alpha ends when no coordinate at all does by more than tol * alpha_max.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from robscore._typing import Array, BoolArray, IntArray
from robscore._validation import check_number
from robscore.solvers.loss import QuadraticLoss
from robscore.solvers.problem import Problem, Rule, build_problem

_EASY_SWEEPS = 8  # the first ones settle the support; after them, extrapolate
_SWEEPS_A_SNAPSHOT = 2
_SNAPSHOTS = 5
_ONE_SWEEP_MORE = 3.0  # violations met in a sweep are about so much larger than those it leaves
_FIRST_CHECK = 125  # sweeps; at twice as many, and again each time they double, look at what is so slow
_LARGEST_JUMP = 1500  # parameters in the linear system that may then be solved

_BY_ALPHA = ("alphas", "interactions", "locations", "n_edges", "n_iter", "kkt", "converged")


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions for a decreasing sequence of penalties.

    Attributes
    ----------
    alphas : array of shape (k,), decreasing
    alpha_max : float
        The smallest alpha at which every penalised parameter is zero.
    interactions : array of shape (k, m, m)
        K at each alpha. With the rules "and" and "or" these are the raw matrices, column j from node j.
    locations : array of shape (k, m)
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
    interactions: Array
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

    def convergence_message(self) -> str:
        """How many penalties did not converge, which is the worst, and what to do."""
        worst = int(np.argmax(self.kkt))
        return (
            f"{np.count_nonzero(~self.converged)} of {self.alphas.size} penalties did not converge; worst is alpha = "
            f"{self.alphas[worst]:.3g}, {self.kkt[worst]:.1e} alpha_max from optimal. With few rows, or equal columns, "
            "there may be no minimum: use larger alphas or a diagonal_multiplier; else raise max_iter."
        )

    def insert(self, other: Path) -> Path:
        """The path with the solutions of another one put in their place."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _BY_ALPHA
        }
        return replace(self, **joined).pick(np.argsort(-joined["alphas"], kind="stable"))

    def pick(self, positions: IntArray) -> Path:
        """The path with only some of its solutions."""
        picked: dict[str, Any] = {name: getattr(self, name)[positions] for name in _BY_ALPHA}
        return replace(self, **picked)


def joined_support(interaction: Array, rule: Rule) -> BoolArray:
    """Pairs with an edge, shape (m, m), symmetric with a False diagonal."""
    edges = interaction != 0
    edges = edges | edges.T if rule == "or" else edges & edges.T
    np.fill_diagonal(edges, val=False)
    return edges


def joined_interaction(interaction: Array, rule: Rule) -> Array:
    """A symmetric K from a raw one: the average of both entries on the joined support."""
    keep = joined_support(interaction, rule) | np.eye(len(interaction), dtype=bool)
    return np.where(keep, (interaction + interaction.T) / 2, 0.0)


def solve_path(
    loss: QuadraticLoss,
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
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> Path:
    """Minimise the loss plus a weighted l1 norm of K (and eta) for a whole path of penalties.

        sum_j 1/2 z_j' Gamma_j z_j - g_j' z_j + alpha sum_{i != j} W_ij |K_ij| + (alpha / location_ratio) |eta|_1

    Parameters
    ----------
    loss : from ``elements.average(...)``
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
        Weights of |eta_j|, with a finite location_ratio.
    alpha_min_ratio : float, default 1e-3
    tol : float, default 1e-6
        Largest distance of the gradient to the subdifferential, relative to alpha_max.
    max_iter : int, default 10000
        Most sweeps for one alpha.

    Returns
    -------
    Path

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.random.default_rng(0).gamma(2.0, size=(200, 4))
    >>> path = rs.solve_path(rs.score_elements("sqrt", X).average(), 20)
    >>> path.interactions.shape, int(path.n_edges[0]), bool(path.converged.all())
    ((20, 4, 4), 0, True)
    """
    path = solve_quietly(
        loss,
        alphas,
        rule=rule,
        diagonal_multiplier=diagonal_multiplier,
        penalize_diagonal=penalize_diagonal,
        fit_location=fit_location,
        location_ratio=location_ratio,
        penalty_weights=penalty_weights,
        location_weights=location_weights,
        alpha_min_ratio=alpha_min_ratio,
        tol=tol,
        max_iter=max_iter,
    )
    if not path.converged.all():
        warnings.warn(path.convergence_message(), ConvergenceWarning, stacklevel=2)
    return path


def solve_quietly(
    loss: QuadraticLoss,
    alphas: int | Sequence[float] | Array | None,
    *,
    rule: Rule,
    alpha_min_ratio: float,
    tol: float,
    max_iter: int,
    **options: Any,
) -> Path:
    """As :func:`solve_path`, without a warning for penalties that did not converge."""
    check_number("tol", tol)
    check_number("alpha_min_ratio", alpha_min_ratio)
    if not 0 < tol < 1:
        raise ValueError(f"tol={tol!r} must lie between 0 and 1.")
    check_number("max_iter", max_iter, at_least=1)
    return _descend_path(build_problem(loss, rule=rule, **options), rule, alphas, alpha_min_ratio, tol, max_iter)


def _descend_path(
    problem: Problem,
    rule: Rule,
    alphas: int | Sequence[float] | Array | None,
    alpha_min_ratio: float,
    tol: float,
    max_iter: int,
) -> Path:
    from robscore.solvers.kernels import refresh

    Z = problem.null_solution()
    R = np.empty_like(Z)
    refresh(problem.Q, Z, R)
    alpha_max = _alpha_max(problem, R)
    grid = alpha_grid(alphas, alpha_max, alpha_min_ratio)
    unit = alpha_max if alpha_max > 0 else max(float(np.abs(problem.linear).max()), 1e-300)
    m = problem.loss.n_columns
    interactions, locations = np.empty((grid.size, m, m)), np.empty((grid.size, m))
    n_iter, kkt = np.zeros(grid.size, dtype=np.intp), np.zeros(grid.size)
    bounded, previous = True, alpha_max
    last: tuple[Array, Array, float] | None = None
    for k, alpha in enumerate(grid):
        if bounded and alpha < previous:
            here = (Z.copy(), R.copy(), previous)
            if last is not None:
                _predict(problem, last, Z, R, alpha, previous)
            n_iter[k], bounded = _solve_one(problem, Z, R, alpha, previous, tol * unit, max_iter)
            last, previous = here, alpha
        interactions[k], locations[k] = problem.parameters(Z)
        kkt[k] = problem.violations(Z, R, alpha).max(initial=0.0) / unit
    n_edges = np.array([np.count_nonzero(joined_support(K, rule)) // 2 for K in interactions], dtype=np.intp)
    return Path(
        alphas=grid,
        alpha_max=alpha_max,
        interactions=interactions,
        locations=locations,
        n_edges=n_edges,
        n_iter=n_iter,
        kkt=kkt,
        converged=kkt <= tol,
        rule=rule,
        fit_location=problem.fit_location,
        location_is_free=problem.profiled,
    )


def _predict(problem: Problem, last: tuple[Array, Array, float], Z: Array, R: Array, alpha: float, now: float) -> None:
    """Go on in a straight line from the last two solutions, in place, where that is a better start.

    Solutions are piecewise linear in alpha.
    """
    last_Z, last_R, last_alpha = last
    share = (alpha - now) / (now - last_alpha)
    _take_if_better(problem, Z, R, Z + share * (Z - last_Z), R + share * (R - last_R), alpha)


def _take_if_better(problem: Problem, Z: Array, R: Array, other_Z: Array, other_R: Array, alpha: float) -> None:
    """Replace Z and R, in place, where the other ones have a lower objective."""
    if problem.objective(other_Z, other_R, alpha) < problem.objective(Z, R, alpha):
        Z[:], R[:] = other_Z, other_R


def _solve_one(
    problem: Problem, Z: Array, R: Array, alpha: float, previous: float, tol: float, max_iter: int
) -> tuple[int, bool]:
    """Bring Z and R to the optimum at alpha; sweeps used, and whether the objective is bounded below."""
    from robscore.solvers.kernels import descend, refresh

    thresholds = alpha * problem.finite_weights
    strong = problem.penalised & (np.abs(problem.gradient(R)) >= problem.finite_weights * (2 * alpha - previous))
    chosen = (problem.weights == 0) | strong | (problem.values(Z) != 0)
    snapshots: list[tuple[Array, Array]] = []
    checkpoint, checked_at = Z.copy(), _FIRST_CHECK
    sweeps, calls = 0, 0
    while sweeps < max_iter:
        used, worst, changed = descend(
            problem.Q,
            problem.linear_by_coordinate,
            Z,
            R,
            problem.rows,
            problem.nodes,
            thresholds,
            problem.curvature,
            np.flatnonzero(chosen),
            problem.symmetric,
            0.6 * tol if sweeps < _FIRST_CHECK else 0.0,  # slow problems need every step
            _ONE_SWEEP_MORE * tol,
            min(_EASY_SWEEPS if calls == 0 else _SWEEPS_A_SNAPSHOT, max_iter - sweeps),
        )
        sweeps, calls = sweeps + used, calls + 1
        if worst > _ONE_SWEEP_MORE * tol and changed:
            snapshots.append((Z.copy(), R.copy()))
            if sweeps >= 2 * checked_at:
                if problem.falls_forever(checkpoint, Z, alpha):
                    Z[:] = checkpoint
                    refresh(problem.Q, Z, R)
                    return sweeps, False
                _jump_on_support(problem, Z, R, alpha)
                checkpoint, checked_at = Z.copy(), sweeps
                snapshots.clear()
            if len(snapshots) == _SNAPSHOTS:
                _extrapolate(problem, snapshots, Z, R, alpha)
                snapshots.clear()
            continue
        snapshots.clear()
        refresh(problem.Q, Z, R)
        violating = problem.violations(Z, R, alpha) > tol
        if not violating.any() or not (changed or (violating & ~chosen).any()):
            return sweeps, True
        chosen |= violating
    refresh(problem.Q, Z, R)
    return sweeps, True


def _jump_on_support(problem: Problem, Z: Array, R: Array, alpha: float) -> None:
    """Go to the minimum for the present signs, or as far as they hold, in place, where that lowers the objective.

    One linear system spares slow problems (columns that are nearly dependent) thousands of sweeps.
    """
    from robscore.solvers.kernels import refresh

    theta = problem.values(Z)
    support = np.flatnonzero((theta != 0) | (problem.weights == 0))
    if support.size > _LARGEST_JUMP:
        return
    here = theta[support]
    pull = alpha * problem.finite_weights[support] * np.sign(here)
    try:
        there = np.linalg.solve(problem.hessian_on(support), problem.linear_by_coordinate[support] - pull)
    except np.linalg.LinAlgError:
        return
    crossing = problem.penalised[support] & (here * there < 0)
    shares = here[crossing] / (here[crossing] - there[crossing])
    share = float(shares.min(initial=1.0))
    reached = here + share * (there - here)
    reached[np.flatnonzero(crossing)[shares == share]] = 0.0
    candidate_Z, candidate_R = problem.entries(support, reached), np.empty_like(R)
    refresh(problem.Q, candidate_Z, candidate_R)
    _take_if_better(problem, Z, R, candidate_Z, candidate_R, alpha)


def _extrapolate(problem: Problem, snapshots: list[tuple[Array, Array]], Z: Array, R: Array, alpha: float) -> None:
    """Anderson's extrapolation of the last snapshots, taken in place where it lowers the objective."""
    steps = np.diff([problem.values(z) for z, _ in snapshots], axis=0)
    gram = steps @ steps.T
    if not np.trace(gram) > 0:
        return
    gram[np.diag_indices(len(gram))] += 1e-10 * np.trace(gram)
    coefficients = np.linalg.solve(gram, np.ones(len(gram)))
    total = coefficients.sum()
    if not total > 0:
        return
    coefficients /= total
    candidate_Z = np.tensordot(coefficients, np.array([z for z, _ in snapshots[1:]]), axes=1)
    candidate_R = np.tensordot(coefficients, np.array([r for _, r in snapshots[1:]]), axes=1)
    _take_if_better(problem, Z, R, candidate_Z, candidate_R, alpha)


def _alpha_max(problem: Problem, R: Array) -> float:
    """max_c |gradient_c| / w_c over penalised coordinates, at the null solution."""
    gradient = np.abs(problem.gradient(R)[problem.penalised])
    gradient[gradient <= 1e-14 * np.abs(problem.linear).max()] = 0.0  # nothing but rounding
    return float((gradient / problem.weights[problem.penalised]).max(initial=0.0))


def alpha_grid(alphas: int | Sequence[float] | Array | None, alpha_max: float, alpha_min_ratio: float) -> Array:
    """The penalties of a path, decreasing."""
    if alphas is None:
        alphas = 100
    if isinstance(alphas, int | np.integer) and not isinstance(alphas, bool):
        if alphas < 1:
            raise ValueError(f"alphas={alphas!r} must be at least 1, or a list of penalties.")
        if not 0 < alpha_min_ratio < 1:
            raise ValueError(f"alpha_min_ratio={alpha_min_ratio!r} must lie between 0 and 1.")
        if alpha_max == 0:
            return np.zeros(1)  # nothing is penalised, so all penalties give the same answer
        return np.geomspace(alpha_max, alpha_max * alpha_min_ratio, alphas)
    try:
        grid = np.sort(np.atleast_1d(np.asarray(alphas, dtype=float)))[::-1].copy()
    except (TypeError, ValueError):
        raise ValueError(f"alphas={alphas!r} must be a number of penalties, or the penalties themselves.") from None
    if isinstance(alphas, bool) or grid.ndim != 1 or grid.size == 0 or not np.isfinite(grid).all() or (grid < 0).any():
        raise ValueError(f"alphas={alphas!r} must be finite penalties of at least 0.")
    return grid
