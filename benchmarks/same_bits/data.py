"""Data, all of NumPy's making."""

from typing import Any

import numpy as np
import pandas as pd

import robscore as rs


def real(n: int, m: int, seed: int = 0) -> np.ndarray:
    """A Gaussian chain: every column depends on the one before."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    for j in range(1, m):
        X[:, j] += 0.5 * X[:, j - 1]
    return X + np.arange(m) % 5


def positive(n: int, m: int, seed: int = 0) -> np.ndarray:
    """Gamma-like columns, neighbours of which share a factor."""
    rng = np.random.default_rng(seed)
    own, shared = rng.gamma(1.5, size=(n, m)), rng.gamma(2.0, size=(n, m))
    return own * (0.5 + shared / 4 + np.roll(shared, 1, axis=1) / 4) + 0.01


def spoilt(n: int, m: int, seed: int = 0, share: float = 0.05) -> np.ndarray:
    """The same, with Pareto rows among them."""
    rng = np.random.default_rng(seed + 1000)
    X = positive(n, m, seed)
    bad = rng.choice(n, round(share * n), replace=False)
    X[bad] = 10 + 5 * rng.pareto(1.0, size=(bad.size, m))
    return X


def compositions(n: int, m: int, seed: int = 0) -> np.ndarray:
    logs = 0.6 * real(n, m, seed) - 0.6 * (np.arange(m) % 5)
    return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)


def in_box(n: int, m: int, seed: int = 0) -> np.ndarray:
    return np.clip(np.tanh(real(n, m, seed) / 3) * 1.5 + 0.4, -0.99, 1.99)


def in_two_intervals(n: int, m: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1, size=(n, m)) + 2 * rng.integers(0, 2, size=(n, m))


def named(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"site {chr(97 + k)}" for k in range(X.shape[1])])


def tanh_pair(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.tanh(x) * np.tanh(y)


def tanh_first(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.tanh(x) / np.cosh(y) ** 2


def tanh_second(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * np.tanh(x) * np.tanh(y) / np.cosh(y) ** 2


def minus(x: np.ndarray) -> np.ndarray:
    return -x


def minus_one(x: np.ndarray) -> np.ndarray:
    return -np.ones_like(x)


def half_square(x: np.ndarray) -> np.ndarray:
    return x**2 / 2


def itself(x: np.ndarray) -> np.ndarray:
    return x


def pairwise() -> rs.families.Pairwise:
    derivatives = {
        "pair": (tanh_first, tanh_second),
        "single": (minus_one, np.zeros_like),
        "self": (itself, np.ones_like),
    }
    return rs.families.Pairwise(tanh_pair, minus, t_self=half_square, derivatives=derivatives)


def statistics(x: np.ndarray) -> np.ndarray:
    return np.array([x[0], x[1], x[0] ** 2, x[1] ** 2, x[0] * x[1]])


def first_derivatives(X: np.ndarray) -> np.ndarray:
    x, y, one, none = X[:, 0], X[:, 1], np.ones(len(X)), np.zeros(len(X))
    return np.stack([np.stack([one, none, 2 * x, none, y], -1), np.stack([none, one, none, 2 * y, x], -1)], axis=1)


def second_derivatives(X: np.ndarray) -> np.ndarray:
    two, none = np.full(len(X), 2.0), np.zeros(len(X))
    return np.stack([np.stack([none, none, two, none, none], -1), np.stack([none, none, none, two, none], -1)], axis=1)


def circular(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.stack([jnp.cos(x[0]) * x[1], x[0] ** 2, x[1] ** 2, jnp.log(1 + x[0] ** 2 * x[1] ** 2), x[0]])
