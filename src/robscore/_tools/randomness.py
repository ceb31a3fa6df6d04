"""Randomness comes only through an explicit generator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robscore._tools.typing import RandomState


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn a seed, a generator or scikit-learn's RandomState into a generator.

    From a RandomState, which scikit-learn users may pass, one seed is drawn.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)


def mixed_bits(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers in which every bit depends on every bit of those given (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
