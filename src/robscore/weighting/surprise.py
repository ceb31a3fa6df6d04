"""How surprising rows are under a fit: -log p(x), up to a constant."""

from __future__ import annotations

from functools import partial

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.families.base import Family, Parameters
from robscore.rows.base import Rows


def surprise_of(family: Family, overflow: BoolArray, rows: Rows, parameters: Parameters) -> Array:
    """Of every row, shape (n,); infinite for rows that overflow."""
    surprise: Array = rows.gather(partial(surprise_of_rows, family, parameters))
    surprise[overflow] = np.inf
    return surprise


def surprise_of_rows(family: Family, parameters: Parameters, X: Array) -> Array:
    """Of rows X, shape (n, m), as an array of shape (n,); infinite where it is not a number."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        surprise = -family.log_density(X, *parameters)
    return np.asarray(np.where(np.isnan(surprise), np.inf, surprise))
