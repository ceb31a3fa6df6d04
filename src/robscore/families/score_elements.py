"""Rows turned into score-matching elements, as given."""

from __future__ import annotations

from typing import Any

from robscore._tools.typing import AnyData
from robscore.families.base import Family, get_family
from robscore.rows import ArrayRows
from robscore.rows.frames import read_matrix
from robscore.rows.inspection import inspect


def score_elements(family: str | Family, X: AnyData) -> Any:
    """Score-matching elements of the rows X, as given: no scaling.

    Parameters
    ----------
    family : str or Family
        For example "sqrt" or ``rs.families.Gamma()``.
    X : array-like or data frame of shape (n, m)

    Returns
    -------
    Elements

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> elements = rs.score_elements("sqrt", np.random.default_rng(0).exponential(size=(50, 3)))
    >>> elements.average().gamma.shape
    (3, 4, 4)
    """
    chosen = get_family(family)
    matrix, names = read_matrix(X, "X")
    inspect(ArrayRows(matrix), chosen).check_domain(chosen, names, "score_elements")
    elements = chosen.resolved(matrix).elements(matrix)
    elements.check_statistics()
    return elements
