"""Rows simulated from one fit after another, to compare the data with."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array
from robscore.families.base import Family, Parameters
from robscore.losses.quadratic import Loss, QuadraticLoss, as_location

_FEWEST_CHAINS, _MOST_CHAINS, _CELLS = 2000, 8000, 80_000  # for families that are sampled by chains from given rows
_FIRST_SWEEPS, _MORE_SWEEPS = 10, 5
_LEAST_DIAGONAL = 0.05  # of K, relative to its median
_LEAST_EIGENVALUE = 0.02  # of K with unit diagonal
_LEAST_LOCATIONS = (-0.95, -0.9)  # that have a density at 0; on the simplex


class Simulator:
    """Always the same random numbers, so that the rows of two fits differ by the fits alone.

    Parameters
    ----------
    family : Family
    start : array of shape (k, m)
        Good rows of the data, for chains to start from.
    seed : int
    """

    def __init__(self, family: Family, start: Array, seed: int) -> None:
        self.family, self.seed = family, seed
        count = int(np.clip(_CELLS // start.shape[1], _FEWEST_CHAINS, _MOST_CHAINS))
        chosen = np.linspace(0, len(start) - 1, count).round().astype(np.intp)
        self.chains, self.sweeps = start[chosen], _FIRST_SWEEPS

    def draw(self, parameters: Parameters) -> Array | None:
        """Rows, shape (N, m); None where the family cannot be sampled."""
        if not self.family.is_pairwise:
            return None
        K, eta = parameters
        try:
            self.family.check_parameters(K, eta)
            drawn = self.family.sampler().simulate(K, eta, seed=self.seed, start=self.chains, sweeps=self.sweeps)
        except (ValueError, TypeError):  # a domain or parameters that cannot be sampled
            return None
        if self.sweeps == _FIRST_SWEEPS and drawn.shape == self.chains.shape:
            self.chains, self.sweeps = drawn, _MORE_SWEEPS  # all later chains start here
        return drawn


def proper(family: Family, loss: Loss, parameters: Parameters) -> Parameters:
    """The parameters, interactions shrunk as far as a density needs it, with the location that suits them."""
    if not isinstance(loss, QuadraticLoss):
        return parameters
    interaction, location = parameters
    if loss.gamma_last is not None:  # compositions: K may be singular, and its columns may sum to zero
        values, vectors = np.linalg.eigh(loss.completed(interaction))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T, _at_least(location, _LEAST_LOCATIONS[1])
    diagonal = interaction.diagonal()
    diagonal = np.maximum(diagonal, _LEAST_DIAGONAL * max(float(np.median(diagonal)), 1e-8))
    size = np.sqrt(diagonal)
    off = interaction / np.multiply.outer(size, size)
    np.fill_diagonal(off, 0.0)
    shrink = min(1.0, (1 - _LEAST_EIGENVALUE) / max(-float(np.linalg.eigvalsh(off)[0]), 1e-12))
    off *= shrink
    np.fill_diagonal(off, 1.0)
    K = off * np.multiply.outer(size, size)
    if shrink < 1.0 and location.any():
        location = as_location(loss.best_location(loss.g[:, loss.n_columns :] - loss.pulls_of(K)))
    try:
        family.check_parameters(K, location)
    except ValueError:
        location = _at_least(location, _LEAST_LOCATIONS[0])
    return K, location


def _at_least(location: Array, least: float) -> Array:
    """The location where covariates are zero, raised to what has a density; their effects stay."""
    if location.ndim == 1:
        return np.maximum(location, least)
    return np.column_stack([np.maximum(location[:, 0], least), location[:, 1:]])
