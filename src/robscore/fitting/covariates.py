"""The scale of covariates, and refusals of those that are constant or redundant."""

from __future__ import annotations

from functools import partial

import numpy as np

from robscore._tools.messages import UsageError, quoted
from robscore._tools.typing import Array
from robscore.families.family import Scaling
from robscore.rows.row_source import Rows

_VARIES = 1e-10  # what a deviation must be, relative to the size of the values
_DEPENDENT = 1e-9  # least eigenvalue of the correlations


def with_covariates(scaling: Scaling | None, rows: Rows, names: list[str]) -> Scaling:
    """The scaling of all columns, in which the last ones, covariates, get mean 0 and deviation 1.

    ``rows`` are those that count, as given; raise where a covariate is constant, or others determine it.
    """
    q = len(names)
    along = () if rows.frequency is None else (rows.frequency,)
    total, sums = rows.total(partial(_sums, q), *along)
    mean = sums / total
    products = rows.total(partial(_products, mean), *along) / total
    deviation = np.sqrt(products.diagonal())
    constant = np.flatnonzero(~(deviation > _VARIES * np.abs(mean)) | (deviation == 0))
    if constant.size:
        raise UsageError(f"Constant covariates say nothing: {quoted([names[k] for k in constant])}. Drop them.")
    values, vectors = np.linalg.eigh(products / np.multiply.outer(deviation, deviation))
    if values[0] < _DEPENDENT:
        dependent = quoted([names[k] for k in np.flatnonzero(np.abs(vectors[:, 0]) > 0.1)])
        raise UsageError(f"The covariates {dependent} determine each other; drop one of them.")
    m = rows.n_columns - q
    own = Scaling(np.zeros(m), np.ones(m)) if scaling is None else Scaling(scaling.centre[:m], scaling.scale[:m])
    return Scaling(np.append(own.centre, mean), np.append(own.scale, deviation))


def _sums(q: int, rows: Array, frequency: Array | None = None) -> list[Array]:
    often = np.ones(len(rows)) if frequency is None else frequency
    return [np.array(often.sum()), often @ rows[:, -q:]]


def _products(mean: Array, rows: Array, frequency: Array | None = None) -> Array:
    away = rows[:, -mean.size :] - mean
    return np.asarray(away.T @ (away if frequency is None else away * frequency[:, None]))
