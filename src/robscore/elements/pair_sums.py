"""Sums over rows of powers of their gradients in every pair, from a few rows at a time: each row has m^2 of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from robscore._tools.typing import Array


def less_own_parameters(whole: Array, own: Array) -> Array:
    """Gradients in all of z_j, shape (rows, m, p), to those in K less what own parameters take, (rows, m, m)."""
    m = whole.shape[1]
    gradients: Array = whole[:, :, :m] - own[0] * np.einsum("njj->nj", whole[:, :, :m])[:, :, None]
    for k, factor in enumerate(own[1:]):
        gradients -= factor * whole[:, :, m + k, None]
    return gradients


def summed_squares(gradients: Iterable[Array], m: int) -> Array:
    """Of the gradient in K_jk, squared, and times that in K_kj, shape (2, m, m)."""
    sums = np.zeros((2, m, m))
    for some in gradients:
        sums[0] += np.einsum("njk,njk->jk", some, some)
        sums[1] += np.einsum("njk,nkj->jk", some, some)
    return sums


def summed_powers(gradients: Iterable[Array], m: int) -> Array:
    """Second and fourth powers of the gradient in K_jk and K_kj together, shape (2, m, m)."""
    sums = np.zeros((2, m, m))
    for some in gradients:
        squares = (some + some.transpose(0, 2, 1)) ** 2
        sums[0] += squares.sum(axis=0)
        sums[1] += np.einsum("njk,njk->jk", squares, squares)
    return sums
