"""How small the error of associations can be for columns of these kinds: the information in their cells, at the truth.

Of a row a table shows only the intervals that its latent numbers lie in. Its score there is the mean of the score of
the latent numbers given these intervals, and the variance of that mean is the information. With Sigma = K^-1, y = K z:

    score of Sigma_jk   y_j y_k - K_jk        score of Sigma_jj   (y_j^2 - K_jj) / 2        score of the mean   y_j

Scales and means are parameters too, since margins are unknown; of two values the scale is not, as they do not have one.
Means given the intervals are averages over Gibbs draws from the true model, from two chains apart, so that what chance
puts into one is not taken for information.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from benchmarks.tools.mixed_columns import mixed_table

_ROWS, _FIRST, _SWEEPS = 12_000, 20, 24
_CERTAIN = 1e-12  # probabilities closer to 0 or 1 have no quantile that is finite


def error_over_latent(m: int, seed: int, only: str | None = None, n_rows: int = _ROWS) -> float:
    """Return the least error of all associations over that of latent rows, root mean square, for a table's truth.

    Parameters
    ----------
    m, seed, only : as :func:`benchmarks.tools.mixed_columns.mixed_table` takes them
    n_rows : simulated rows that the information is measured on
    """
    table = mixed_table(n_rows, m, seed, only=only)
    P = table.association
    correlation = np.linalg.inv(np.where(np.eye(m), 1.0, -P))
    deviation = np.sqrt(correlation.diagonal())
    correlation /= np.multiply.outer(deviation, deviation)
    K = np.linalg.inv(correlation)
    has_scale = np.flatnonzero(np.array(table.kinds) != "two values")
    lower, upper = intervals(table.X, table.latent)
    one, other = (
        _mean_scores(table.latent, lower, upper, K, has_scale, np.random.default_rng([seed, k])) for k in (0, 1)
    )
    information = one.T @ other / n_rows
    covariance = np.linalg.inv((information + information.T) / 2) * (1 - len(information) / n_rows)  # without its bias
    D = _derivatives(K, P, has_scale)
    least = np.einsum("pa,ab,pb->p", D, covariance[: D.shape[1], : D.shape[1]], D)
    pairs = np.triu_indices(m, k=1)
    return float(np.sqrt(least.mean() / np.mean((1 - P[pairs] ** 2) ** 2)))


def intervals(X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the intervals of latent numbers that equal values stand for, two arrays of shape (n, m); points are equal.

    Ends are midway between the latent numbers of neighbouring values.
    """
    lower, upper = Z.copy(), Z.copy()
    for j, column in enumerate(X.T):
        values, which, counts = np.unique(column, return_inverse=True, return_counts=True)
        if values.size == len(column):
            continue
        least, largest = np.full(values.size, np.inf), np.full(values.size, -np.inf)
        np.minimum.at(least, which, Z[:, j])
        np.maximum.at(largest, which, Z[:, j])
        ends = np.concatenate([[-np.inf], (largest[:-1] + least[1:]) / 2, [np.inf]])
        tied = counts[which] > 1
        lower[tied, j], upper[tied, j] = ends[which[tied]], ends[which[tied] + 1]
    return lower, upper


def _mean_scores(
    Z: np.ndarray, lower: np.ndarray, upper: np.ndarray, K: np.ndarray, has_scale: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return the mean scores of rows given their intervals: pairs, scales, means; Gibbs draws begin at the truth."""
    n, m = Z.shape
    i, j = np.triu_indices(m, k=1)
    Z, drawn = Z.copy(), np.flatnonzero((lower < upper).any(axis=0))
    total = np.zeros((n, i.size + has_scale.size + m))
    for sweep in range(_FIRST + _SWEEPS):
        for k in drawn:
            sigma = K[k, k] ** -0.5
            mean = Z[:, k] - (Z @ K[:, k]) / K[k, k]
            a, b = ndtr((lower[:, k] - mean) / sigma), ndtr((upper[:, k] - mean) / sigma)
            new = mean + sigma * ndtri(np.clip(a + rng.random(n) * (b - a), _CERTAIN, 1 - _CERTAIN))
            Z[:, k] = np.where(lower[:, k] < upper[:, k], new, lower[:, k])
        if sweep >= _FIRST:
            y = Z @ K
            total += np.hstack([y[:, i] * y[:, j] - K[i, j], (y[:, has_scale] ** 2 - K[has_scale, has_scale]) / 2, y])
    return total / _SWEEPS


def _derivatives(K: np.ndarray, P: np.ndarray, has_scale: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return the derivatives of associations by the entries of Sigma, shape (pairs, entries): dK = -K dSigma K."""
    i, j = np.triu_indices(len(K), k=1)
    scale, half = np.sqrt(K.diagonal()), 0.5 / K.diagonal()
    columns = []
    for a, b in [*zip(i, j, strict=True), *((k, k) for k in has_scale)]:
        dK = -np.multiply.outer(K[a], K[b])
        dK = dK + dK.T if a != b else dK
        share = half * dK.diagonal()
        columns.append((-dK / np.multiply.outer(scale, scale))[i, j] - P[i, j] * (share[i] + share[j]))
    return np.column_stack(columns)
