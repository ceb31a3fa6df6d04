"""How much does every row move an estimate of latent numbers? Cells tell these in part, and margins are estimated.

A copula's estimate theta solves, with u(theta) what latent numbers are drawn by and t the thresholds of the margins,

    F(theta, t) = sum_i w_i E_u(theta)[psi(z_i, theta) | intervals of row i by t] = 0

Draws are on the scale of the margins, on which latent numbers have mean 0 and variance 1: K <- D^1/2 K D^1/2 with
D = diag(K^-1). So, with s(z) the statistics of log p_u = u' s(z) + ..., and H the Hessian of the averaged loss,

    dF/dtheta = B = H + sum_i w_i Cov_u[psi(z_i), s(z_i) | intervals] du/dtheta

    influence of row i on u = -du/dtheta B^-1 { w_i E[psi(z_i) | intervals] + sum_t dF/dt influence_i(t) }

Without du/dtheta, B is nearly singular, since a column of two values says nothing of a variance: standard errors were
several times too large. The last sum is in :mod:`robscore.certainty.margin_influence`.

Draws and fits in turn come near the solution slowly where cells say little: of two binary columns each round goes less
than half of the way that is left. As B is known, two steps of Newton's go all of it at the end. Many draws make them,
since what chance puts into a loss is made larger by B^-1 too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.certainty.influence import Influence, Solved, solve_loss
from robscore.certainty.margin_influence import on_moments
from robscore.elements import Elements
from robscore.elements.streamed import elements_of
from robscore.families.family import Parameters
from robscore.fitting.fit_result import Fit
from robscore.fitting.imputing import Filler, on_latent_scale, weights_of_copies
from robscore.fitting.latent_scale import of_unit_variances
from robscore.losses.interaction_parts import mirrored
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import ArrayRows
from robscore.solvers.unpenalised import Refit
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_weights import RowWeights

_N_DRAWS, _AT_ONCE = 100, 20  # draws that make the estimate, and how many of them are held together
_N_KNOWN = 4  # of them are taken for known, to see what this would be worth
_MANY_ROWS, _MOST_DRAWS = 300_000, 500  # completed rows that covariances within rows come from
_MANY_PRODUCTS = 1e10  # of pairs of their moments: it guards time
_STEP = 1e-5  # of derivatives by differences: it guards rounding


@dataclass(frozen=True, eq=False)
class FilledInfluence:
    """An estimate over all allowed pairs, what every row does to it, and what the rows are worth.

    Attributes
    ----------
    solved : Solved
    influence : Influence
    effective : array of shape (p,), or None
        How many rows of latent numbers would say as much about an association; None where no numbers are latent.
    """

    solved: Solved
    influence: Influence
    effective: Array | None = None


def latent_influence(
    fit: Fit, filler: Filler, parameters: Parameters, allowed: BoolArray, frequency: Array | None
) -> FilledInfluence:
    """The estimate over the allowed pairs, and the influence of every row on it, from parameters near it.

    Where rows have a ``frequency``, shape (n,), it is the influence of all copies of a row over its root.
    """
    family = fit.prepared.preparation.scaled_family
    for is_last in (False, True):
        step = _Step.of(fit, filler, parameters, allowed, is_last=is_last)
        parameters = proper(family, step.draws.loss, of_free_parameters(step.solved.solution, step.values))
    draws, solved = step.draws, step.solved
    m, added = len(fit.names), step.added
    given = draws.stack[-1][:, m:]
    gradients = _gradients(solved.solution, draws.weights, draws.moments, given) + _by_margins(fit, step)
    root = 1.0 if frequency is None else np.sqrt(frequency)[:, None]
    influence = solved.with_filling(gradients / root, added)
    known = [
        solved.with_filling(_gradients(solved.solution, draws.weights, _products(copy, m), given) / root, 0 * added)
        for copy in draws.stack[:: _AT_ONCE // _N_KNOWN]
    ]
    effective = _effective(solved, influence, known)
    influence = influence @ _derivative(step.at_unit, step.values).T
    K, eta = of_free_parameters(solved.solution, step.at_unit(step.values))
    solved = replace(solved, solution=replace(solved.solution, interaction=K, location=eta))
    return FilledInfluence(solved, solved.arranged(influence), effective * fit.weights.effective_rows[0])


@dataclass(frozen=True, eq=False)
class _Step:
    """A step of Newton's towards parameters that agree with the estimate from draws by them.

    Attributes
    ----------
    draws : _Draws
        By u, parameters on the scale of the margins.
    solved : Solved
        The estimate theta from them.
    drawn_by : array of shape (d,)
        The free ones among u.
    added : array of shape (d, d)
        A = sum_i w_i Cov[psi, s | intervals] du/dtheta.
    at_unit : function of free parameters, which brings them onto the scale of the margins
    """

    draws: _Draws
    solved: Solved
    drawn_by: Array
    added: Array
    at_unit: Callable[[Array], Array]

    @classmethod
    def of(cls, fit: Fit, filler: Filler, parameters: Parameters, allowed: BoolArray, *, is_last: bool) -> _Step:
        """From draws by these parameters, fewer of them unless it is the last step."""
        draws = _Draws.of(fit, filler, parameters, n_least=_N_DRAWS if is_last else 0)
        solved = solve_loss(draws.loss, fit.prepared.rows.n_repeated, allowed, fit_location=fit.settings.fit_location)

        def at_unit(values: Array) -> Array:
            return _on_scale_of_margins(fit, solved.solution, values)

        drawn_by = at_unit(in_free_parameters(solved.solution, parameters))
        added = _added(solved.solution, draws.covariance) @ _derivative(at_unit, drawn_by)
        return cls(draws, solved, drawn_by, added, at_unit)

    @property
    def values(self) -> Array:
        """Where both agree to first order, u + (I + H^-1 A)^-1 (theta - u), shape (d,); theta where that is too far."""
        solution = self.solved.solution
        found = in_free_parameters(solution, (solution.interaction, solution.location))
        values = self.drawn_by + np.linalg.solve(self.solved.damping(self.added), found - self.drawn_by)
        K, _ = of_free_parameters(solution, values)
        return np.asarray(values if np.linalg.eigvalsh(K)[0] > 0 else found)


@dataclass(frozen=True, eq=False)
class _Draws:
    """Many completions by the same parameters, and what is averaged over them.

    Attributes
    ----------
    loss : QuadraticLoss
    stack : array of shape (R, n, m + q)
        The last completions, with covariates.
    weights : _Weights
        Of the rows, by these completions.
    moments : array of shape (n, k)
        Means of the products z_a z_b, a <= b, and z_a c_b of every row.
    covariance : array of shape (k, k)
        Of these products within a row, on average over rows with their weights.
    """

    loss: QuadraticLoss
    stack: Array
    weights: _Weights
    moments: Array
    covariance: Array

    @classmethod
    def of(cls, fit: Fit, filler: Filler, parameters: Parameters, *, n_least: int) -> _Draws:
        """Draw the cells as often as covariances need it, and at least so often; if all are points, not at all."""
        n, m = filler.filled.shape
        if not filler.filled.any():
            loss, _, weights = loss_of(fit, filler.copies)
            moments = _products(filler.copies[0], m)
            none = np.zeros((moments.shape[1], moments.shape[1]))
            return cls(loss, filler.copies, _Weights.of(weights, n), moments, none)
        n_rows = min(_MANY_ROWS, _MANY_PRODUCTS / _products(filler.copies[-1], m).shape[1] ** 2)
        n_squared = int(np.clip(np.ceil(n_rows / (n * _AT_ONCE)), 1, _MOST_DRAWS // _AT_ONCE)) * _AT_ONCE
        n_draws = max(n_least, n_squared)
        sums, squares = np.zeros(()), np.zeros(())
        for count in range(0, n_draws, _AT_ONCE):
            stack = np.stack([_one_more(filler, parameters) for _ in range(_AT_ONCE)])
            new, _, weights = loss_of(fit, stack)
            loss = new if count == 0 else loss.mixed_with(new, _AT_ONCE / (count + _AT_ONCE))
            of_rows = _Weights.of(weights, n)
            for copy in stack:
                products = _products(copy, m)
                sums = sums + products
                if count < n_squared:
                    squares = squares + products.T @ (of_rows.gamma[:, None] * products)
            if count + _AT_ONCE == n_squared:
                within = (squares - sums.T @ (of_rows.gamma[:, None] * sums) / n_squared) / (n_squared - 1)
        return cls(loss, stack, of_rows, sums / n_draws, within)


def _one_more(filler: Filler, parameters: Parameters) -> Array:
    """One more completion, shape (n, m + q)."""
    filler.draw(parameters)
    return np.asarray(filler.copies[-1])


class _Weights(NamedTuple):
    """What all completions of a row weigh together, arrays of shape (n,), and the fit that a taper pulls to."""

    gamma: Array
    g: Array
    pulls: Array
    parameters: Parameters

    @classmethod
    def of(cls, weights: RowWeights, n: int) -> _Weights:
        """Of the weights of R n completions."""
        gamma, g, pulls = (part.reshape(-1, n).sum(axis=0) for part in (*weights, weights.pulls))
        return cls(gamma, g, pulls, weights.parameters)


def loss_of(fit: Fit, stack: Array) -> tuple[QuadraticLoss, Elements, RowWeights]:
    """The loss of completions, shape (R, n, m), their elements and their weights."""
    assert fit.prepared.filling is not None
    now = replace(fit.prepared, filling=replace(fit.prepared.filling, copies=stack))
    rows = ArrayRows(stack.reshape(-1, stack.shape[2]))
    elements = elements_of(fit.prepared.preparation.scaled_family, rows, fit.settings.memory)
    weights = weights_of_copies(now, fit.weighed, elements, rows)
    loss = weights.loss(elements)
    if not fit.prepared.preparation.moderators:  # groups differ in variances
        loss = on_latent_scale(now, fit.weights, loss)
    assert isinstance(loss, QuadraticLoss)
    return loss, elements, weights


def _products(Z: Array, m: int) -> Array:
    """The products z_a z_b with a <= b, and z_a c_b with c_0 = 1, of rows Z with their covariates, shape (n, k)."""
    a, b = np.triu_indices(m)
    given = np.insert(Z[:, m:], 0, 1.0, axis=1)
    return np.concatenate([Z[:, a] * Z[:, b], *(Z[:, :m] * c[:, None] for c in given.T)], axis=1)


def _gradients(solution: Refit, weights: _Weights, moments: Array, given: Array) -> Array:
    """What rows add to the gradient at an estimate, shape (n, d), by their moments, shape (n, k), and covariates."""
    m = len(solution.interaction)
    a, b = np.triu_indices(m)
    given = np.insert(given, 0, 1.0, axis=1)
    arranged = np.empty((len(moments), m, m + given.shape[1]))
    arranged[:, a, b] = arranged[:, b, a] = moments[:, : a.size]
    arranged[:, :, m:] = moments[:, a.size :].reshape(len(moments), -1, m).transpose(0, 2, 1)
    found = weights.gamma[:, None] * _on_moments(solution, (solution.interaction, solution.location), arranged, given)
    found -= np.multiply.outer(weights.g, solution.rows == solution.nodes)
    if weights.pulls.any():
        found -= weights.pulls[:, None] * _on_moments(solution, weights.parameters, arranged, given)
    return np.asarray(found)


def _added(solution: Refit, covariance: Array) -> Array:
    """Sum of the covariances of psi and of s within rows, shape (d, d), from those of products.

    What log p changes by per unit of K_ab is -z_a z_b, of K_aa half of that, and of eta_ab it is z_a c_b.
    """
    m, rows, nodes = len(solution.interaction), solution.rows, solution.nodes
    a, b = np.triu_indices(m)
    k, n_given = a.size, solution.location.size // m
    place, unit = np.zeros((m + n_given, m), dtype=np.intp), np.zeros((len(covariance), m, m + n_given))
    place[a, b] = place[b, a] = np.arange(k)
    place[m:] = k + np.arange(n_given * m).reshape(n_given, m)
    unit[np.arange(k), a, b] = unit[np.arange(k), b, a] = 1.0
    for c in range(n_given):
        unit[place[m + c], np.arange(m), m + c] = 1.0
    factor = np.where(rows >= m, 1.0, np.where(rows == nodes, -0.5, -1.0))
    psi = _on_moments(solution, (solution.interaction, solution.location), unit)
    return np.asarray(psi.T @ covariance[:, place[rows, nodes]] * factor)


def _on_moments(solution: Refit, at: Parameters, moments: Array, given: Array | None = None) -> Array:
    """Gamma times parameters, in free ones, shape (n, d), of rows with moments E z z' and E z c'; c c' is of ``given``.

    These are the columns of ``moments``, shape (n, m, m + 1 + q). With r = K z - eta c, it is r_a z_b + r_b z_a in K_ab
    and -r_a c_b in eta_ab.
    """
    (K, eta), rows, nodes = at, solution.rows, solution.nodes
    m, eta = len(K), eta.reshape(len(K), -1)
    squares, across = moments[:, :, :m], moments[:, :, m:].transpose(0, 2, 1)
    in_eta = -across @ K
    if given is not None:
        in_eta += given[:, :, None] * (given @ eta.T)[:, None, :]
    both = np.concatenate([K @ squares - eta @ across, in_eta], axis=1)
    found = both[:, rows, nodes]
    off = np.flatnonzero((rows < m) & (rows != nodes))
    found[:, off] += both[:, nodes[off], rows[off]]
    return np.asarray(found)


def _by_margins(fit: Fit, step: _Step) -> Array:
    """What rows add to the gradient by way of the margins, shape (n, d)."""
    filling, solution = fit.prepared.filling, step.solved.solution
    assert filling is not None
    assert filling.bounds is not None
    K, eta = of_free_parameters(solution, step.drawn_by)
    parameters = K, eta.reshape(len(K), -1)
    moved = on_moments(step.draws.stack, filling.bounds, step.draws.weights.gamma, parameters)
    return _on_moments(solution, (solution.interaction, solution.location), moved)


def in_free_parameters(solution: Refit, parameters: Parameters) -> Array:
    """The free parameters of an estimate, shape (d,), among K and eta."""
    K, eta = parameters
    return np.asarray(np.concatenate([K, eta.reshape(K.shape[1], -1).T])[solution.rows, solution.nodes])


def of_free_parameters(solution: Refit, values: Array) -> Parameters:
    """K and eta with these values, shape (d,), of the free parameters of an estimate, and zero elsewhere."""
    K, eta = np.zeros_like(solution.interaction), np.zeros_like(solution.location)
    n_rows, m = K.shape
    own = solution.rows < n_rows
    rows, nodes = solution.rows[own], solution.nodes[own]
    K[rows, nodes] = K[mirrored(rows, nodes, m)] = values[own]
    eta.reshape(m, -1)[solution.nodes[~own], solution.rows[~own] - n_rows] = values[~own]
    return K, eta


def _on_scale_of_margins(fit: Fit, solution: Refit, values: Array) -> Array:
    """What latent numbers would be drawn by, in free parameters, shape (d,)."""
    filling, rows = fit.prepared.filling, fit.prepared.rows
    assert filling is not None
    X, family = rows.take(np.arange(rows.n_rows)), fit.prepared.preparation.scaled_family
    parameters = of_free_parameters(solution, values)
    return in_free_parameters(solution, of_unit_variances(family, parameters, X, filling.weights))


def _derivative(function: Callable[[Array], Array], at: Array) -> Array:
    """The derivative of a function of d numbers, by differences, shape (d, d): column q is that in number q."""
    steps = _STEP * np.eye(at.size)
    return np.stack([(function(at + step) - function(at - step)) / (2 * _STEP) for step in steps], axis=1)


def _effective(solved: Solved, influence: Array, known: list[Array]) -> Array:
    """How much of a row of latent numbers a row says about every association, shape (p,).

    That is the variance of the estimate were all latent numbers known, by several completions, over its own.
    """
    own, *of_known = (np.sum(solved.arranged(rows).on_association() ** 2, axis=0) for rows in (influence, *known))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(np.nan_to_num(np.mean(of_known, axis=0) / own, nan=1.0), 1.0)
