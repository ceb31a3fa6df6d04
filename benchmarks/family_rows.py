"""Rows of every family with a location that is not zero, kept on disk: slices take their time."""

import numpy as np

import robscore as rs
from benchmarks.kept import FOLDER, SHAPES

POWER = rs.families.Power(1.5, 0.5)
POSITIVE = ("sqrt", "gamma", "truncated-gaussian", "log-log", "power")
NAMES = {**{name: name for name in POSITIVE}, "power": repr(POWER)}


def family_called(name: str) -> str | rs.families.Family:
    """As ``family=`` takes it."""
    return POWER if name == "power" else name


def family_rows(name: str, m: int, n: int, seed: int, locations: tuple[float, ...] = (0.5, -0.5)) -> np.ndarray:
    """N rows of m columns on one of five shapes of graph."""
    path = FOLDER / "rows" / f"{name}-{m}-{n}-{seed}-{'-'.join(map(str, locations))}.npy"
    if path.exists():
        return np.load(path)
    truth = rs.simulate.shaped_model(SHAPES[seed % len(SHAPES)], m, locations=locations, random_state=[seed, m])
    X = rs.simulate.sample(
        family_called(name), truth.interaction, truth.location, n_rows=n, burn_in=150, thin=10,
        random_state=[seed, m, 1],
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{np.random.default_rng().integers(2**62)}.npy")
    np.save(part, X)
    part.replace(path)
    return X
