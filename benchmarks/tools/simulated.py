"""Simulated rows that several benchmarks use; those that take long to draw are stored on disk."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

import robscore as rs
from benchmarks.tools import resumable

SHAPES = ("random", "chain", "hub", "grid", "scale-free")
POWER = rs.families.Power(1.5, 0.5)
POSITIVE = ("sqrt", "gamma", "truncated-gaussian", "log-log", "power")
NAMES = {**{name: name for name in POSITIVE}, "power": repr(POWER)}


def square_root_data(n: int, m: int, n_edges: int, share: float, seed: int = 0) -> np.ndarray:
    """Return rows of a random square-root model, a share of them replaced by Pareto draws."""
    truth = rs.simulate.random_model(m, n_edges, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, thin=5, random_state=seed + 1)
    return rs.simulate.contaminate_pareto(X, share, random_state=seed + 2).X


def sparse_square_root_data(n: int, m: int, n_edges: int, share: float, seed: int = 0) -> np.ndarray:
    """Return such rows with thousands of columns: K is diagonally dominant with unit diagonal, and chains are short."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, m, size=(2, n_edges))
    kept = i != j
    K = np.zeros((m, m))
    K[i[kept], j[kept]] = rng.choice([-1.0, 1.0], kept.sum()) * rng.uniform(0.5, 1.0, kept.sum())
    K += K.T
    np.fill_diagonal(K, np.abs(K).sum(axis=1) + 0.5)
    size = np.sqrt(K.diagonal())
    K /= np.multiply.outer(size, size)
    X = rs.simulate.sample("sqrt", K, np.full(m, 0.5), n_rows=n, thin=2, burn_in=50, random_state=rng)
    return rs.simulate.contaminate_pareto(X, share, random_state=rng).X


def model_and_rows(family: str, shape: str, m: int, n: int, seed: int) -> tuple[rs.simulate.Model, np.ndarray]:
    """Return a model whose graph has one of the ``SHAPES``, and n clean rows of it."""
    truth = rs.simulate.shaped_model(shape, m, random_state=[seed, m, SHAPES.index(shape)])
    location = truth.location
    if family == "simplex":
        location = np.random.default_rng(seed).uniform(0.0, 1.0, size=m)

    def draw() -> np.ndarray:
        return rs.simulate.sample(
            family, truth.interaction, location, n_rows=n, burn_in=150, thin=10, random_state=[seed, m, 1]
        )

    return truth, _stored(f"{family}-{shape}-{m}-{n}-{seed}", draw)


def family_called(name: str) -> str | rs.families.Family:
    """Return a family of ``POSITIVE`` in the form that ``family=`` takes."""
    return POWER if name == "power" else name


def rows_with_locations(name: str, m: int, n: int, seed: int, locations: tuple[float, ...] = (0.5, -0.5)) -> np.ndarray:
    """Return n clean rows whose columns have locations other than zero; the seed decides which of the ``SHAPES``."""
    truth = rs.simulate.shaped_model(SHAPES[seed % len(SHAPES)], m, locations=locations, random_state=[seed, m])

    def draw() -> np.ndarray:
        return rs.simulate.sample(
            family_called(name), truth.interaction, truth.location, n_rows=n, burn_in=150, thin=10,
            random_state=[seed, m, 1],
        )  # fmt: skip

    return _stored(f"{name}-{m}-{n}-{seed}-{'-'.join(map(str, locations))}", draw)


def _stored(name: str, draw: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the rows of that name from disk; draw and store them first if they are not there."""
    path: Path = resumable.FOLDER / "rows" / f"{name}.npy"
    if path.exists():
        return np.load(path)
    X = draw()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{np.random.default_rng().integers(2**62)}.npy")  # another process may draw the same
    np.save(part, X)
    part.replace(path)
    return X
