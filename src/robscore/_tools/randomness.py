"""Randomness comes only through an explicit generator."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import RandomState


def as_generator(random_state: RandomState) -> np.random.Generator:
    """Turn a seed, a generator or scikit-learn's RandomState into a generator.

    From a RandomState, which scikit-learn users may pass, one seed is drawn.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)
