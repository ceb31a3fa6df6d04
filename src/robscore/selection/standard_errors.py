"""Standard errors of the derivatives of a loss in K_ij, at a solution on a path.

A derivative is a sum over rows, d_ij = sum_r s_r, so its variance is estimated by the rows' shares,

    error^2 = sum_r s_r^2 - (sum_r s_r)^2 / n

Every pair's derivative is taken after the node parameters of its two columns, K_jj and eta_j, have adapted to it: with
H_jj their Hessian, and h their second derivatives with K_ij, s_r is less by h' H_jj^-1 times the row's share in their
derivatives. Where the last column of a composition couples all others, all parameters of the graph have adapted.

Rows of a series are not independent: if neighbours' shares resemble each other, the variance of their sum is tau times
as large (:mod:`robscore.weighting.time_blocks`), standard errors are sqrt(tau) times as large, and n rows say as much
as n / tau. :func:`autocorrelation_time` measures tau by the shares at the largest penalty. Sorted rows are no series,
so for these, as for independent rows, tau is exactly 1, and no order changes the choice.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import PairwiseElements
from robscore.losses.interaction_parts import both_ends, ends_exchanged
from robscore.losses.quadratic import QuadraticLoss, as_location, assemble_hessian
from robscore.solvers.path import Path, joined_support
from robscore.solvers.unpenalised import Factor, SingularLossError, factor_positive_definite
from robscore.weighting.row_weights import RowWeights, WeightedRows, squared_total
from robscore.weighting.time_blocks import TimeBlocks

_MOST_ROWS, _MOST_NUMBERS = 5_000, 300_000  # guard time: rows, and their shares, that are looked at


def standard_errors(
    loss: QuadraticLoss, path: Path, position: int, rows: WeightedRows, pairs: tuple[IntArray, IntArray], own: Array
) -> Array:
    """Compute them for both ends of every pair i < j, shape (2, p); the same where both are one parameter.

    ``own`` is what :func:`on_own_parameters` gives.
    """
    whole = loss.completed(path.interactions[position]), path.locations[position]
    K, eta = profile_out_node_parameters(loss, *whole, fit_location=path.fit_location)
    together = path.rule == "symmetric"
    if loss.gamma_last is not None and together:
        edges = joined_support(K, path.rule)
        squares = _after_graph(loss, (K, eta), edges, rows, pairs, fit_location=path.fit_location)
        return np.broadcast_to(np.sqrt(squares), (2, squares.size))
    alone, across = rows.pair_squares((K, eta), own)
    mean = (loss.gamma_times(K, eta) - loss.g)[:, : loss.n_interactions]
    if together:
        squares = alone + ends_exchanged(alone) + 2 * across
        squares -= _of_mean(mean + ends_exchanged(mean), rows)
    else:
        squares = alone - _of_mean(mean, rows)
    squares = np.maximum(squares, 0.0)
    return np.sqrt(both_ends(squares, pairs))


def degrees_of_freedom(
    loss: QuadraticLoss, path: Path, rows: WeightedRows, pairs: tuple[IntArray, IntArray], own: Array
) -> Array:
    """Say how far each standard error can be trusted, shape (p,): a derivative over its error is about Student's t.

    With kappa the kurtosis of what rows add to it, a sum of n squares has the relative variance (kappa - 1) / n, that
    of a chi squared with 2 n / (kappa - 1) degrees of freedom. Pairs that seem better than most are not believed.
    """
    whole = loss.completed(path.interactions[0]), path.locations[0]
    z = profile_out_node_parameters(loss, *whole, fit_location=path.fit_location)
    kurtosis = both_ends(rows.pair_kurtosis(z, own), pairs)[0]
    typical = np.median(kurtosis) if kurtosis.size else 3.0
    return np.maximum(2 * rows.n_rows / np.maximum(np.maximum(kurtosis, typical) - 1, 1e-3), 1.0)


def _of_mean(total: Array, rows: WeightedRows) -> Array:
    """Compute the part of a sum of squares that is due to the mean, for rows that add up to a total."""
    return np.asarray(total**2 * squared_total(rows.gamma_weights, rows.frequency) / np.sum(rows.gamma_weights) ** 2)


def on_own_parameters(loss: QuadraticLoss, *, fit_location: bool) -> Array:
    """Compute H_jj^-1 h: what K_jj and eta_j take of the derivative in entry k of z_j, at [0, j, k] and [1, j, k].

    That is an array of shape (2, m, m). With q covariates eta_j has 1 + q entries, and there are 2 + q such matrices;
    with moderators one more for every free diagonal, and all of shape (m, (1 + Q) m).
    """
    m = loss.n_columns
    if loss.n_locations > 1:
        every = np.arange(loss.n_interactions)
        own = loss.parts.own_entries(m, loss.n_locations)
        across = np.stack([loss.block(j, own[:, j], every) for j in range(m)], axis=1)
        return _solved_jointly(loss, across, fit_location=fit_location)
    with_diagonal = loss.own_rows()
    t = np.broadcast_to(loss.coupling()[0], (m, m))
    return np.stack(_solved(loss, with_diagonal, t, fit_location=fit_location))


def _solved_jointly(loss: QuadraticLoss, in_own: Array, *, fit_location: bool) -> Array:
    """Do as :func:`_solved` for several parameters of a node: ``in_own`` has shape (parameters, m, q)."""
    every, found = loss.parts.own_entries(loss.n_columns, loss.n_locations), np.zeros_like(in_own)
    n_diagonals = len(every) - loss.n_locations
    own = [] if loss.zero_sums else list(range(n_diagonals))
    own += list(range(n_diagonals, len(every))) if fit_location else []
    for j in range(loss.n_columns):
        entries, right = every[own, j], in_own[own, j]
        hessian = loss.block(j, entries, entries)
        scale = np.sqrt(np.maximum(hessian.diagonal(), np.finfo(float).tiny))
        solved = np.linalg.pinv(hessian / np.multiply.outer(scale, scale), rcond=1e-12, hermitian=True)
        found[own, j] = solved @ (right / scale[:, None]) / scale[:, None]
    return found


def _solved(loss: QuadraticLoss, in_diagonal: Array, in_location: Array, *, fit_location: bool) -> tuple[Array, Array]:
    """Multiply derivatives in K_jj and eta_j, arrays of shape (m, q), by the inverse of their Hessian, for every j."""
    m = loss.n_columns
    t, s = loss.coupling()
    c, s = np.broadcast_to(t, (m, m)).diagonal()[:, None], np.broadcast_to(s, (m,))[:, None]
    d = loss.diagonal()[:, :m].diagonal()[:, None]
    none = np.zeros_like(in_diagonal)
    if loss.zero_sums:
        return none, in_location / _safe(s) if fit_location else none
    if not fit_location:
        return in_diagonal / _safe(d), none
    determinant = _safe(d * s - c**2, relative_to=d * s)
    return (s * in_diagonal - c * in_location) / determinant, (d * in_location - c * in_diagonal) / determinant


def profile_out_node_parameters(
    loss: QuadraticLoss, K: Array, eta: Array, *, fit_location: bool
) -> tuple[Array, Array]:
    """Move every K_jj and eta_j to where the loss alone has them: multipliers and penalties had moved these."""
    m = loss.n_columns
    derivative, nodes = loss.gamma_times(K, eta) - loss.g, np.arange(m)
    own = loss.parts.own_entries(m, loss.n_locations)
    in_own = derivative[nodes, own][:, :, None]
    moved: Sequence[Array] | Array
    if loss.n_locations > 1:
        moved = _solved_jointly(loss, in_own, fit_location=fit_location)
    else:
        moved = _solved(loss, *in_own, fit_location=fit_location)
    K, n_diagonals = K.copy(), len(own) - loss.n_locations
    K[own[:n_diagonals], nodes] -= np.stack([part[:, 0] for part in moved[:n_diagonals]])
    return K, eta - as_location(np.concatenate(moved[n_diagonals:], axis=1))


def _safe(values: Array, relative_to: Array | float = 1.0) -> Array:
    """Put infinity, to divide by, in place of what is zero up to rounding."""
    return np.where(values > 1e-12 * np.abs(relative_to), values, np.inf)


def _after_graph(
    loss: QuadraticLoss,
    z: tuple[Array, Array],
    edges: BoolArray,
    rows: WeightedRows,
    pairs: tuple[IntArray, IntArray],
    *,
    fit_location: bool,
) -> Array:
    """Compute squared errors of derivatives after all parameters of a graph but its own have adapted, shape (p,)."""
    m = loss.n_columns
    i, j = pairs
    free = np.tril(edges, -1)
    np.fill_diagonal(free, val=not loss.zero_sums)
    own_nodes, own_rows = np.nonzero(free)
    if fit_location:
        own_nodes = np.append(own_nodes, np.tile(np.arange(m), loss.n_locations))
        own_rows = np.append(own_rows, np.repeat(np.arange(m, m + loss.n_locations), m))
    d = own_nodes.size
    of_graph = rows.gradients(z, own_rows, own_nodes, symmetric=True)
    squares = np.empty(i.size)
    factor: Factor | None = None
    for node in range(m):
        mine = np.flatnonzero(i == node)
        outside = mine[~edges[i[mine], j[mine]]]
        nodes, entries = np.append(own_nodes, j[outside]), np.append(own_rows, i[outside])
        position = _positions(nodes, entries, loss)
        hessian = assemble_hessian(loss.block, position, nodes.size, loss.gamma_last, loss.reference)
        if factor is None:
            factor = _root(hessian[:d, :d])
            taken = factor.unwhiten(factor.whiten(of_graph)) if d else of_graph
            precision = _diagonal_of_inverse(factor, d)
            place = _positions(own_nodes, own_rows, loss)
        gradients = rows.gradients(z, entries[d:], nodes[d:], symmetric=True) - taken @ hessian[:d, d:]
        squares[outside] = _sum_of_squares(gradients, rows)
        inside = mine[edges[i[mine], j[mine]]]
        at = place[j[inside], i[inside]]
        squares[inside] = _sum_of_squares(taken[:, at] / precision[at], rows)
    return squares


def _positions(nodes: IntArray, entries: IntArray, loss: QuadraticLoss) -> IntArray:
    """Number the parameter that every entry of z_1..z_m is, in the shape of g; -1 where it is none."""
    position = np.full(loss.g.shape, -1, dtype=np.intp)
    position[nodes, entries] = np.arange(nodes.size)
    mirrored = entries < loss.n_columns
    position[entries[mirrored], nodes[mirrored]] = np.flatnonzero(mirrored)
    return position


def _root(hessian: Array) -> Factor:
    """Factor a Hessian, with a little ridge where it is singular."""
    ridge = 0.0
    while True:
        try:
            return Factor(*factor_positive_definite(hessian + np.diag(ridge * hessian.diagonal())))
        except SingularLossError:
            ridge = max(10 * ridge, 1e-8)
            if ridge > 1:
                raise


def _diagonal_of_inverse(factor: Factor, size: int) -> Array:
    return np.asarray(np.sum(factor.whiten(np.eye(size)) ** 2, axis=0)) if size else np.zeros(0)


def _sum_of_squares(gradients: Array, rows: WeightedRows) -> Array:
    each = gradients if rows.frequency is None else gradients / rows.frequency[:, None]
    squares = np.einsum("ij,ij->j", gradients, each)
    return np.asarray(np.maximum(squares - _of_mean(gradients.sum(axis=0), rows), 0.0))


def autocorrelation_time(loss: QuadraticLoss, path: Path, elements: PairwiseElements, weights: RowWeights) -> float:
    """Measure tau of the rows in their order; 1 unless they are clearly a series."""
    if weights.frequency is not None or loss.n_columns < 2:
        return 1.0  # weighted rows are not a series
    first = elements.subset(np.arange(min(elements.n_rows, _MOST_ROWS)))
    # Rows that differ, and of equal ones the first with a weight: copies are a frequency, and no series.
    keys = first.row_keys()
    gamma, g = (of_rows[: keys.size] for of_rows in weights)
    counted_first = np.argsort((gamma == 0) | (g == 0), kind="stable")
    some = np.sort(counted_first[np.unique(keys[counted_first], return_index=True)[1]])
    if not all(of_rows[some].sum() > 0 for of_rows in weights):
        return 1.0
    rows = WeightedRows.of(first.subset(some), weights.some(some))
    shares = _shares(loss, path, rows)
    counted = rows.gamma_weights > 0
    shares[counted] -= shares[counted].mean(axis=0)
    return TimeBlocks.of(shares).tau_of_series


def _shares(loss: QuadraticLoss, path: Path, rows: WeightedRows) -> Array:
    """Compute what rows add to the derivatives in K_ij, for all pairs or some of every column, shape (n, p)."""
    m = loss.n_columns
    whole = loss.completed(path.interactions[0]), path.locations[0]
    z = profile_out_node_parameters(loss, *whole, fit_location=path.fit_location)
    own = on_own_parameters(loss, fit_location=path.fit_location)
    entries = loss.parts.own_entries(m, loss.n_locations)
    in_own = [rows.gradients(z, at, np.arange(m), symmetric=False) for at in entries]
    most = _MOST_NUMBERS // rows.elements.n_rows
    if m * (m - 1) // 2 <= most:
        i, j = np.triu_indices(m, 1)
    else:  # each column with those next to it
        bands = max(most // m, 1)
        i = np.tile(np.arange(m), bands)
        j = (i + np.repeat(np.arange(1, bands + 1), m)) % m
    shares = np.zeros((rows.elements.n_rows, i.size))
    for entry, node in ((i, j), (j, i)):
        shares += rows.gradients(z, entry, node, symmetric=False)
        for factor, gradient in zip(own, in_own, strict=True):
            shares -= factor[node, entry] * gradient[:, node]
    return shares
