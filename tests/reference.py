"""Slow, literal versions of what the library computes, sharing no code with it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from robscore.elements import PowerElements, SimplexElements, StatisticElements


def log_density_gradient(a, b, x, j):
    """v_j(x): the gradient of log p in x_j is v_j' z_j, z_j = (K_1j..K_mj, eta_j)."""
    u = x**a if a else np.log(x)
    return np.append(-(x[j] ** (a - 1)) * u, x[j] ** (b - 1))


def row_elements(family, x, step=1e-6):
    """Gamma(x) and g(x) of one row, derivatives in x_j by central differences."""
    m = x.size
    gamma, g = np.zeros((m, m + 1, m + 1)), np.zeros((m, m + 1))

    def weight(y):
        distance = family.domain.nearest(y[None]).distance
        return 1.0 if np.isinf(distance[0, j]) else float(family.boundary.value(distance)[0, j])

    for j in range(m):
        v = log_density_gradient(family.a, family.b, x, j)
        gamma[j] = weight(x) * np.outer(v, v)
        up, down = x.copy(), x.copy()
        up[j] += step
        down[j] -= step
        product = [weight(y) * log_density_gradient(family.a, family.b, y, j) for y in (up, down)]
        g[j] = -(product[0] - product[1]) / (2 * step)  # -(h v)' = -(h' v + h v')
    return gamma, g


def exact_row_elements(elements, i):
    """Gamma(x_i), over all parameters at once, and g(x_i), written out from the elements' arrays and flattened."""
    if isinstance(elements, PowerElements):
        return _power_row(elements, i)
    v, h, g, _ = (array[i] for array in elements.rows)
    if isinstance(elements, StatisticElements):
        gamma = sum(h[j] * np.outer(v[j], v[j]) for j in range(len(h)))
        return gamma.ravel(), g.ravel()
    m, p = v.shape
    gamma = np.zeros((m, p, m, p))
    coupled = isinstance(elements, SimplexElements)
    for j in range(m - coupled):
        w = np.zeros((m, p))
        w[j] = v[j]
        if coupled:
            w[m - 1] = -v[m - 1]
        gamma += h[j] * np.multiply.outer(w, w)
    return gamma.ravel(), g.ravel()


def _power_row(elements, i):
    u, A, B, C, alpha, beta, gamma_, _ = (array[i] for array in elements.rows)
    m = u.size
    gamma, g = np.zeros((m, m + 1, m, m + 1)), np.zeros((m, m + 1))
    for j in range(m):
        k = 0 if A.size == 1 else j
        gamma[j, :m, j, :m] = A[k] * np.outer(u, u)
        gamma[j, :m, j, m] = gamma[j, m, j, :m] = -B[k] * u
        gamma[j, m, j, m] = C[k] + elements.constant_C[k]
        g[j, :m] = alpha[j] * u
        g[j, j] += beta[j]
        g[j, m] = gamma_[j]
    return gamma.ravel(), g.ravel()


def full_gamma(loss):
    """Gamma over all parameters of a pairwise loss, shape (m(m+1), m(m+1))."""
    m, p = loss.g.shape
    full = np.zeros((m, p, m, p))
    for j in range(m):
        full[j, :, j] = loss.gamma[j]
    if loss.gamma_last is not None:
        reference = loss.reference % m
        for coupling, j in zip(loss.gamma_last, [j for j in range(m) if j != reference], strict=True):
            full[j, :, reference] = coupling
            full[reference, :, j] = coupling.T
    return full.reshape(m * p, m * p)


def duplication(m, *, zero_sums=False):
    """D: from (K's upper triangle row by row, without the diagonal if it is not free, then eta) to all z_j."""
    pairs = [(i, j) for i in range(m) for j in range(i + zero_sums, m)]
    D = np.zeros((m, m + 1, len(pairs) + m))
    for c, (i, j) in enumerate(pairs):
        D[j, i, c] = D[i, j, c] = 1.0
    for j in range(m):
        D[j, m, len(pairs) + j] = 1.0
    return D.reshape(m * (m + 1), -1)


def block_means(elements, blocks):
    """Explicit block means of Gamma and g, two arrays with K rows."""
    rows = [exact_row_elements(elements, i) for i in range(elements.n_rows)]
    return tuple(np.array([np.mean([rows[i][part] for i in block], axis=0) for block in blocks]) for part in (0, 1))


def sum_of_distances(points, m):
    return np.linalg.norm(points - m, axis=1).sum()


def brute_median(points):
    """Geometric median by a general optimiser (BFGS from the mean, polished by Newton), or a data point."""
    points = np.asarray(points, dtype=float)
    totals = [sum_of_distances(points, point) for point in points]
    best = int(np.argmin(totals))
    centred = points - points[best]
    scale = np.median(np.linalg.norm(centred, axis=1)) or 1.0
    centred = centred / scale
    basis = np.linalg.svd(centred, full_matrices=False)[2]
    low = centred @ basis.T  # an isometry: rows span the same space
    if np.linalg.matrix_rank(low) == 1:  # on a line: the median, or the midpoint of the two middle points
        return points[best] + scale * np.median(low[:, 0]) * basis[0]
    away = np.linalg.norm(low, axis=1) > 1e-12
    pull = (low[away] / np.linalg.norm(low[away], axis=1)[:, None]).sum(axis=0)
    if np.linalg.norm(pull) <= (~away).sum():
        return points[best]
    m = low.mean(axis=0)
    m = minimize(lambda z: sum_of_distances(low, z), m, method="BFGS", options={"gtol": 1e-9}).x
    for _ in range(50):
        difference = m - low
        d = np.linalg.norm(difference, axis=1)
        unit = difference / d[:, None]
        gradient = unit.sum(axis=0)
        hessian = (1 / d).sum() * np.eye(m.size) - (unit / d[:, None]).T @ unit
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
        length = 1.0
        while sum_of_distances(low, m - length * step) > sum_of_distances(low, m) + 1e-13 and length > 1e-8:
            length /= 2
        m = m - length * step
    return points[best] + scale * (m @ basis)


def kkt_residual(loss, K, eta, alpha, *, rule, beta, penalize_diagonal, fit_location, ratio, W, w):
    """Largest distance of the gradient to the subdifferential, parameter by parameter, from the definition."""
    m = len(eta)
    gamma = full_gamma(loss)
    for j in range(m):
        for k in range(m):
            gamma[j * (m + 1) + k, j * (m + 1) + k] *= 1 + beta
    z = np.concatenate([K, eta[None]]).T
    slope = (gamma @ z.ravel()).reshape(m, m + 1) - loss.g  # derivative in every entry of every z_j

    def distance(derivative, value, threshold):
        if np.isinf(threshold):
            return 0.0 if value == 0 else np.inf
        if value != 0:
            return abs(derivative + np.sign(value) * threshold)
        return max(abs(derivative) - threshold, 0.0)

    worst = 0.0
    for j in range(m):
        if loss.zero_sums:
            worst = max(worst, abs(K[:, j].sum()))
        else:
            worst = max(worst, distance(slope[j, j], K[j, j], alpha * W[j, j] if penalize_diagonal else 0.0))
        if fit_location:
            threshold = 0.0 if np.isinf(ratio) else alpha * w[j] / ratio
            worst = max(worst, distance(slope[j, m], eta[j], threshold))
        for i in range(m):
            if i == j:
                continue
            threshold = alpha * W[i, j] if W[i, j] else 0.0
            if rule != "symmetric":
                worst = max(worst, distance(slope[j, i], K[i, j], threshold))
            elif i < j:
                worst = max(worst, distance(slope[j, i] + slope[i, j], K[i, j], 2 * threshold))
    return worst


def dense_quadratic(Q, starts, firsts, sizes, owners, last, last_t):
    """The whole matrix Q of a penalised problem, from its blocks and the coupling of its last node."""
    n = firsts[-1] + sizes[-1]
    whole = np.zeros((n, n))
    for start, first, size in zip(starts, firsts, sizes, strict=True):
        whole[first : first + size, first : first + size] = Q[start : start + size**2].reshape(size, size)
    for first, size, down, up in zip(firsts, sizes, last, last_t, strict=False):
        whole[firsts[-1] :, first : first + size] = down.T
        whole[first : first + size, firsts[-1] :] = up.T
    return whole


def sweep(Q, linear, z, own, mirror, strengths, curvature, working, penalty):
    """One sweep of coordinate descent over z, in place; the largest distance from optimality met on the way."""
    worst = 0.0
    for c in working:
        entries = [own[c], mirror[c]] if mirror[c] >= 0 else [own[c]]
        gradient = (Q[entries] @ z).sum() - linear[c]
        worst = max(worst, penalty.violation(z[own[c]], gradient, strengths[c], np.zeros(0)))
        if curvature[c] > 0:
            z[entries] = penalty.prox(z[own[c]] * curvature[c] - gradient, curvature[c], strengths[c], np.zeros(0))
    return worst


def furthest_from_optimal(gradient, weights, known, alpha, tol, *, symmetric):
    """How far zeros of K are from optimal under an L1 penalty, and (row, node) of those beyond tol, node by node."""
    m = len(gradient)
    weights = np.broadcast_to(weights, (m, m))
    slopes, strengths = gradient.T, alpha * weights
    if symmetric:
        slopes, strengths = slopes + slopes.T, strengths + strengths.T
    free = [(i, j) for j in range(m) for i in range(j if symmetric else m) if i != j and known[j, i] < 0]
    distances = {(i, j): abs(slopes[i, j]) - strengths[i, j] for i, j in free if np.isfinite(weights[i, j])}
    return max([0.0, *distances.values()]), [entry for entry, distance in distances.items() if distance > tol]


def add_gamma(u, c, A, B, C, share, starts, entries, blocks, block_starts):
    """Add to Gamma_j[S_j, S_j] of every node what rows add, by products of matrices."""
    L = len(c)
    for j in range(len(A)):
        own = entries[starts[j] : starts[j + 1]]
        block = blocks[block_starts[j] : block_starts[j + 1]].reshape(own.size, own.size)
        design = u[own[:-L]]
        across = (design * (B[j] * share)) @ c.T
        block[:-L, :-L] += (design * (A[j] * share)) @ design.T
        block[:-L, -L:] -= across
        block[-L:, :-L] -= across.T
        block[-L:, -L:] += (c * (C[j] * share)) @ c.T


def add_g(u, c, alpha, gamma, share, starts, entries, g):
    """Add to g_j[S_j] of every node what rows add, by products of matrices."""
    m, L = len(alpha), len(c)
    for j in range(m):
        own = entries[starts[j] : starts[j + 1] - L]
        g[j, own] += u[own] @ (alpha[j] * share)
        g[j, m:] += c @ (gamma[j] * share)
