"""Symmetric matrices as flat vectors with the same inner products: off-diagonal entries times the root of 2."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array

ROOT2 = np.sqrt(2.0)


def pairs_of(u: Array) -> Array:
    """Products u_k u_l for k <= l of rows, shape (n, m), off-diagonal ones times sqrt(2), shape (m(m+1)/2, n)."""
    m = u.shape[1]
    columns = np.ascontiguousarray(u.T)
    result = np.empty((m * (m + 1) // 2, u.shape[0]))
    position = 0
    for k in range(m):
        np.multiply(columns[k], columns[k], out=result[position])
        np.multiply(ROOT2 * columns[k], columns[k + 1 :], out=result[position + 1 : position + m - k])
        position += m - k
    return result


def own_pairs(c: Array) -> Array:
    """The same for the rows (1, c), with c of shape (n, q)."""
    return pairs_of(np.concatenate([np.ones((len(c), 1)), c], axis=1))


def columns_with_one(c: Array) -> list[Array | float]:
    """The columns of (1, c), shape (n, 1) each; the first as a number, which costs nothing."""
    return [1.0, *c.T[:, :, None]]


def unpacked(features: Array, m: int, n_locations: int = 1) -> Array:
    """Symmetric blocks, shape (..., m+L, m+L), from flat vectors as ``mean`` and ``node_features`` have them."""
    n_pairs, p = m * (m + 1) // 2, m + n_locations
    blocks = np.empty((*features.shape[:-1], p, p))
    last = n_pairs + n_locations * m
    for size, start, part in ((m, 0, features[..., :n_pairs]), (n_locations, m, features[..., last:])):
        upper = np.triu_indices(size)
        pairs = part / np.where(upper[0] == upper[1], 1.0, ROOT2)
        blocks[..., start + upper[0], start + upper[1]] = pairs
        blocks[..., start + upper[1], start + upper[0]] = pairs
    for k in range(n_locations):
        across = features[..., n_pairs + k * m : n_pairs + (k + 1) * m] / ROOT2
        blocks[..., :m, m + k] = blocks[..., m + k, :m] = across
    return blocks


def spread(gamma: Array, c: Array) -> list[Array]:
    """The array gamma, shape (..., n, m), times every column of (1, c), of the same shape each."""
    return [gamma, *(gamma * c[..., [k]] for k in range(c.shape[-1]))]
