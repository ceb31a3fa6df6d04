"""Sums over rows of powers of their gradients in every pair, from a few rows at a time: each row has m^2 of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

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


def squares_of_products(u: Array, T: Array, taken: Sequence[Array], own: Array) -> Array:
    """As :func:`summed_squares`, from products of n x m arrays, where the gradient in K_kj is u_k T_j.

    ``taken`` are the gradients in own parameters, shape (n, m) each, of which ``own``, shape (len(taken), m, m), is
    taken off.
    """
    squares = (T * T).T @ (u * u)
    across = (T * u).T @ (T * u)
    mixed = np.zeros_like(squares)  # of what is taken away from [j, k] with the gradient itself at [k, j]
    for gradient, factor in zip(taken, own, strict=True):
        squares -= 2 * factor * ((T * gradient).T @ u)
        mixed += factor * ((gradient * u).T @ T)
    across -= mixed + mixed.T
    of_own: Array | float = 0.0
    for (a, first), (b, second) in (((k, part), (k, part)) for k, part in enumerate(taken)):
        squares += own[a] * own[b] * np.einsum("ij,ij->j", first, second)[:, None]
        of_own = of_own + own[a] * (first.T @ second) * own[b].T
    for (a, first), (b, second) in combinations(enumerate(taken), 2):
        squares += 2 * own[a] * own[b] * np.einsum("ij,ij->j", first, second)[:, None]
        both = own[a] * (first.T @ second) * own[b].T
        of_own = of_own + both + both.T
    return np.stack([squares, across + of_own])
