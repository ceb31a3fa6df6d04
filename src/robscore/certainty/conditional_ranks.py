"""Where every entry of a row lies in its distribution given the rest: uniform if the model is right."""

from __future__ import annotations

import numpy as np

from robscore._tools.errors import UsageError
from robscore._tools.typing import Array, IntArray
from robscore._tools.words import Setting
from robscore.cells.conditionals import conditionals, has_conditionals
from robscore.certainty.check_fit import rows_to_check
from robscore.fitting.fit import Fit
from robscore.weighting.simulation import proper

_POINTS = 1000
_MOST_ROWS = 1000


def conditional_ranks(fit: Fit, columns: IntArray) -> Array:
    """F(x_j | the others) of rows that count, at most 1000, and some columns, shape (n, k)."""
    family = fit.prepared.preparation.scaled_family
    if family.n_given or not has_conditionals(family):
        raise UsageError(
            f"{fit.prepared.preparation.family!r} cannot be checked column by column: that needs a family on [0, inf) "
            "or the real line, without covariates; choose one with ",
            Setting("family"),
            ".",
        )
    X = fit.prepared.rows.take(rows_to_check([fit], _MOST_ROWS))
    parameters = proper(family, fit.loss, fit.unshrunk)
    return conditionals(family, X, parameters, X[:, columns], columns, np.ones(len(X), dtype=bool), _POINTS).share
