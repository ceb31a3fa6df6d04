"""The paper as a careful reader writes it in NumPy: explicit block means, equation (5) iterated, proximal gradient.

Square-root model with h = x^(3/2). The location is free and profiled out, the proximal gradient is accelerated and
starts at the solution of the penalty before.
"""

from typing import Any

import numpy as np

from benchmarks.rivals.base import Rival, Task


class Plain(Rival):
    """All that the paper needs, with nothing but NumPy."""

    name = "plain NumPy"
    tasks = ("robust path", "path", "weights", "median")

    def run(self, task: Task) -> Any:
        """Return the task's result."""
        if task.kind == "median":
            return weiszfeld(task.data) @ task.data
        gamma, g = block_means(task.data, task.n_blocks if task.kind != "path" else 1)
        weights = weiszfeld(gamma.reshape(len(gamma), -1)), weiszfeld(g.reshape(len(g), -1))
        if task.kind == "weights":
            return weights
        averaged = (np.tensordot(part, means, 1) for part, means in zip(weights, (gamma, g), strict=True))
        return penalised_path(*profiled(*averaged), task.n_alphas, task.ratio, task.tol)


def block_means(X: np.ndarray, n_blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return means of Gamma, (K, m, m + 1, m + 1), and g, (K, m, m + 1): parameters node by node, eta last."""
    n, m = X.shape
    y = np.sqrt(X)
    design = np.column_stack([-y, np.ones(n)])
    gamma = np.empty((n_blocks, m, m + 1, m + 1))
    g = np.empty((n_blocks, m, m + 1))
    for k, rows in enumerate(np.array_split(np.arange(n), n_blocks)):
        d = design[rows]
        gamma[k] = (y[rows].T[:, None, :] / rows.size * d.T) @ d
        g[k, :, :m] = y[rows].mean(axis=0)
        g[k, np.arange(m), np.arange(m)] += y[rows].mean(axis=0) / 2
        g[k, :, m] = -1
    return gamma, g


def weiszfeld(points: np.ndarray, tol: float = 1e-9, max_iter: int = 1000) -> np.ndarray:
    """Return the weights of equation (5), iterated as it stands."""
    if len(points) == 1:
        return np.ones(1)
    median = points.mean(axis=0)
    for _ in range(max_iter):
        weights = 1 / distances(points, median)
        weights /= weights.sum()
        moved = weights @ points
        if np.linalg.norm(moved - median) <= tol * np.linalg.norm(median):
            break
        median = moved
    return weights


def distances(points: np.ndarray, median: np.ndarray) -> np.ndarray:
    """Return |point - median|, piece by piece: a copy of all block means would cost more than the arithmetic."""
    pieces = np.array_split(points, min(len(points), 1 + points.size // 1_000_000))
    return np.concatenate([np.linalg.norm(piece - median, axis=1) for piece in pieces])


def profiled(gamma: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the quadratic in K alone, (m, m, m) and (m, m), after minimising over eta."""
    cross, last = gamma[:, :-1, -1], gamma[:, -1, -1, None]
    return gamma[:, :-1, :-1] - cross[:, :, None] * (cross / last)[:, None, :], g[:, :-1] - cross * g[:, -1:] / last


def penalised_path(gamma: np.ndarray, g: np.ndarray, n_alphas: int, ratio: float, tol: float) -> np.ndarray:
    """Solve Definition 4.1 with a free diagonal over symmetric K, by accelerated proximal gradient with restarts."""
    m = len(g)
    off = 1 - np.eye(m)
    step = 1 / np.linalg.eigvalsh(gamma)[:, -1].max()

    def gradient(K: np.ndarray) -> np.ndarray:
        raw = np.matmul(gamma, K[:, :, None])[:, :, 0] - g
        return (raw + raw.T) / 2

    def proximal_step(K: np.ndarray, alpha: float) -> np.ndarray:
        moved = K - step * gradient(K)
        return np.sign(moved) * np.maximum(np.abs(moved) - step * alpha * off, 0)

    K = np.diag(g.diagonal() / gamma[np.arange(m), np.arange(m), np.arange(m)])
    alpha_max = np.abs(gradient(K) * off).max()
    solutions = []
    for alpha in np.geomspace(alpha_max, ratio * alpha_max, n_alphas):
        ahead, momentum = K, 1.0
        for _ in range(100_000):
            moved = proximal_step(ahead, alpha)
            if np.abs(moved - ahead).max() <= step * tol * alpha_max:
                break
            if np.sum((ahead - moved) * (moved - K)) > 0:
                momentum = 1.0
            faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead, K, momentum = moved + (momentum - 1) / faster * (moved - K), moved, faster
        K = moved
        solutions.append(K)
    return np.array(solutions)
