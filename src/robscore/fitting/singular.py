"""Why an estimate without a penalty does not exist, in words."""

from __future__ import annotations

import numpy as np

from robscore._tools.messages import Setting, UsageError, quoted
from robscore.families.identifiability import check_identifiable
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import Settings
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import Loss, StatisticLoss
from robscore.solvers.unpenalised import dependent_columns


def singular_error(prepared: Prepared, weighed: Weighed, loss: Loss, settings: Settings, reason: str) -> UsageError:
    """The error for a loss without a unique minimum: too few rows, or what depends on what."""
    n, m = prepared.rows.n_rows, len(prepared.preparation.names)
    family = prepared.preparation.family
    counted = int(np.count_nonzero(weighed.weights.gamma_weights))
    singular = f"Gamma-hat is singular ({reason}), so the estimate without a penalty does not exist. "
    if counted < family.statistics_a_column(m, fit_location=settings.fit_location):
        expected = check_identifiable(family, n, m, weighed.n_blocks, fit_location=settings.fit_location)
        return UsageError(f"{singular}Only {counted} of {n} rows have positive weight. {expected.words}")
    if isinstance(loss, StatisticLoss):
        return UsageError(
            f"{singular}The statistics are linearly dependent on these data, or nearly so: leave one out."
        )
    names = prepared.preparation.names
    named = quoted([names[j] for j in dependent_columns(loss)]) or "a column and the location"
    return UsageError(
        f"{singular}Linearly dependent, nearly so, or far from zero for their spread: {named}. Drop one of them, keep ",
        Setting("scale", "median"),
        ", or add a penalty with RobustGraph.",
    )
