"""From the data a user has to scaled rows that a family accepts, with every refusal in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robscore._typing import Array, BoolArray
from robscore._validation import check_rows, describe_entries

if TYPE_CHECKING:
    from robscore.families.base import Family, Parameters, Scaling


@dataclass(frozen=True)
class Preparation:
    """How rows are made ready: fixed by the data an estimator was fitted on, applied to any other.

    Attributes
    ----------
    family : the family as the user chose it.
    scaled_family : the same for scaled columns.
    scaling : centre and scale of the columns, or None.
    names : column names, for messages.
    caller : name of the estimator, for messages.
    """

    family: Family
    scaled_family: Family
    scaling: Scaling | None
    names: list[str]
    caller: str

    def rows(self, X: Array, used: BoolArray) -> Array:
        """The rows of X, shape (n, m), that are to be used, checked against the family and scaled."""
        numbers = np.flatnonzero(used)
        check_rows(self.family, X[used], self.names, caller=self.caller, row_numbers=numbers)
        return _scaled(X[used], self.scaling)

    def unscale(self, parameters: Parameters) -> Parameters:
        """Parameters in the given units from those of the scaled columns."""
        return parameters if self.scaling is None else self.family.unscale(parameters, self.scaling)


def prepare(
    family: Family,
    X: Array,
    used: BoolArray,
    names: list[str],
    *,
    scale: str | None,
    fit_location: bool,
    caller: str,
) -> tuple[Preparation, Array]:
    """Check the rows of X, shape (n, m), that are to be used; how they were made ready, and the scaled rows."""
    if scale not in ("median", None):
        raise ValueError(f"scale={scale!r} is not known; use 'median' or None.")
    numbers = np.flatnonzero(used)
    X = X[used]
    check_rows(family, X, names, caller=caller, row_numbers=numbers)
    constant = X.max(axis=0) == X.min(axis=0)
    if constant.any():
        listed = ", ".join(repr(names[j]) for j in np.flatnonzero(constant)[:5])
        raise ValueError(f"Constant columns tell nothing about dependence: {listed}. Drop them (of {len(names)}).")
    scaling = family.scaling(X, fit_location=fit_location) if scale == "median" else None
    if scaling is not None and not (scaling.scale > 0).all():
        listed = ", ".join(repr(names[j]) for j in np.flatnonzero(~(scaling.scale > 0))[:5])
        raise ValueError(
            f"scale='median' finds no spread in columns {listed}: half of their values or more are equal. "
            "Drop these columns, or pass scale=None."
        )
    rows = _scaled(X, scaling)
    scaled_family = family if scaling is None else family.scaled(scaling)
    return Preparation(family, scaled_family.resolved(rows), scaling, names, caller), rows


def _scaled(X: Array, scaling: Scaling | None) -> Array:
    return X if scaling is None else scaling.apply(X)


def rows_to_use(X: Array, names: list[str], missing: str) -> BoolArray:
    """Which rows of X, shape (n, m), are complete; raise on infinities, and on NaN unless they may be dropped."""
    if missing not in ("raise", "drop"):
        raise ValueError(f"missing={missing!r} is not known; use 'raise' or 'drop'.")
    infinite = np.isinf(X)
    if infinite.any():
        raise ValueError(f"Input X contains infinity: {describe_entries(infinite, names)}. Drop those rows.")
    absent = np.isnan(X)
    if absent.any() and missing == "raise":
        raise ValueError(
            f"Input X contains NaN: {describe_entries(absent, names)}. "
            "Pass missing='drop' to leave out incomplete rows."
        )
    return np.asarray(~absent.any(axis=1))
