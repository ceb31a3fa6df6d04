"""From the data a user has to scaled rows that a family accepts, with every refusal in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.typing import BoolArray
from robscore.rows.base import Rows
from robscore.rows.inspection import Inspection, inspect

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

    def complete(self, rows: Rows, missing: str) -> BoolArray:
        """Which rows are complete, shape (n,); raise on what may not be missing, or not be there."""
        found = inspect(rows, self.family)
        found.check_complete(self.names, missing)
        found.check_domain(self.family, self.names, self.caller)
        return found.complete

    def scaled(self, rows: Rows, used: BoolArray) -> Rows:
        """The rows that are to be used, scaled."""
        return _scaled(rows.selected(np.flatnonzero(used)), self.scaling)

    def unscale(self, parameters: Parameters) -> Parameters:
        """Parameters in the given units from those of the scaled columns."""
        return parameters if self.scaling is None else self.family.unscale(parameters, self.scaling)


def prepare(
    family: Family,
    rows: Rows,
    found: Inspection,
    names: list[str],
    *,
    scale: str | None,
    fit_location: bool,
    caller: str,
) -> tuple[Preparation, Rows]:
    """How the complete ones of rows that were looked at are made ready, and those, scaled."""
    if scale not in ("median", None):
        raise ValueError(f"scale={scale!r} is not known; use 'median' or None.")
    found.check_domain(family, names, caller)
    constant = found.low == found.high
    if constant.any():
        listed = ", ".join(repr(names[j]) for j in np.flatnonzero(constant)[:5])
        raise ValueError(f"Constant columns tell nothing about dependence: {listed}. Drop them (of {len(names)}).")
    rows = rows.selected(np.flatnonzero(found.complete))
    scaling = family.scaling(rows, fit_location=fit_location) if scale == "median" else None
    if scaling is not None and not (scaling.scale > 0).all():
        listed = ", ".join(repr(names[j]) for j in np.flatnonzero(~(scaling.scale > 0))[:5])
        raise ValueError(
            f"scale='median' finds no spread in columns {listed}: half of their values or more are equal. "
            "Drop these columns, or pass scale=None."
        )
    rows = rows.mapped(np.copy) if scaling is None else _scaled(rows, scaling)  # the user's array stays the user's
    scaled_family = family if scaling is None else family.scaled(scaling)
    return Preparation(family, scaled_family.resolved(rows), scaling, names, caller), rows


def _scaled(rows: Rows, scaling: Scaling | None) -> Rows:
    return rows if scaling is None else rows.mapped(scaling.apply)
