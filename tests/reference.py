"""Slow, literal versions of what the library computes, sharing no code with it."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def log_density_gradient(a, b, x, j):
    """v_j(x): the gradient of log p in x_j is v_j' z_j, z_j = (K_1j..K_mj, eta_j)."""
    u = x**a if a else np.log(x)
    return np.append(-(x[j] ** (a - 1)) * u, x[j] ** (b - 1))


def row_elements(family, x, step=1e-6):
    """Gamma(x) and g(x) of one row, derivatives in x_j by central differences."""
    m = x.size
    gamma, g = np.zeros((m, m + 1, m + 1)), np.zeros((m, m + 1))

    def weight(y):
        return float(family.boundary.value(family.domain.nearest(y[None]).distance)[0, j])

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
    """Gamma(x_i) and g(x_i) written out from the compact arrays, entry by entry."""
    u, A, B, C, alpha, beta, gamma_ = (array[i] for array in elements.rows)
    m = u.size
    gamma, g = np.zeros((m, m + 1, m + 1)), np.zeros((m, m + 1))
    for j in range(m):
        k = 0 if A.size == 1 else j
        gamma[j, :m, :m] = A[k] * np.outer(u, u)
        gamma[j, :m, m] = gamma[j, m, :m] = -B[k] * u
        gamma[j, m, m] = C[k] + elements.constant_C[k]
        g[j, :m] = alpha[j] * u
        g[j, j] += beta[j]
        g[j, m] = gamma_[j]
    return gamma.ravel(), g.ravel()


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
    gamma, g = np.array(loss.gamma), loss.g
    for j in range(m):
        for k in range(m):
            gamma[j, k, k] *= 1 + beta
    slope = np.zeros((m, m + 1))  # derivative in every entry of every z_j
    for j in range(m):
        slope[j] = gamma[j] @ np.append(K[:, j], eta[j]) - g[j]

    def distance(derivative, value, threshold):
        if np.isinf(threshold):
            return 0.0 if value == 0 else np.inf
        if value != 0:
            return abs(derivative + np.sign(value) * threshold)
        return max(abs(derivative) - threshold, 0.0)

    worst = 0.0
    for j in range(m):
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
