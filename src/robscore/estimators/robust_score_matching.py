"""Robust score matching without a penalty, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from robscore._tools.typing import RandomState
from robscore.cells.cell_rule import CellRule
from robscore.estimators.common_docs import documented
from robscore.estimators.data_opener import Given
from robscore.estimators.estimator import ScoreMatchingEstimator
from robscore.families.column_kinds import Kind
from robscore.families.family import Family
from robscore.fitting.fit import fit_parameters
from robscore.fitting.fit_result import Fit
from robscore.fitting.settings import Missing, Settings
from robscore.weighting.row_rule import RowRule


@documented
class RobustScoreMatching(ScoreMatchingEstimator):
    """Robust score matching without a penalty: theta-hat(K) = Gamma-hat^-1 g-hat (section 3.2 of the paper).

    Gamma-hat and g-hat are geometric medians of the means of K blocks of rows, so a bad row spoils at
    most one block. Needs more rows than columns.

    Parameters
    ----------
    {family}
    {kinds}
    {bad_rows}
    fit_location : bool, default True
        Estimate eta; otherwise it is zero.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter, and map the parameters back.
    {cells}
    random_state : int, Generator or None
        For the simulated rows that others are compared with (None always simulates the same ones), and for shuffled and
        repeated partitions.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K, precision-like and symmetric: negative off the diagonal is positive association.
    location_ : array of shape (m,)
        eta.
    {of_covariates}
    theta_ : array of shape (m(m+1)/2 + m,), or m(m+1)/2 without location
        K's upper triangle row by row, then eta; for an exponential family, shape (r,), its own parameters, and
        then there is neither ``interaction_`` nor ``location_``.
    {of_rows}
    {of_fit}

    Examples
    --------
    >>> import robscore as rs
    >>> truth = rs.simulate.random_model(3, 2, min_eigenvalue=0.5, random_state=0)
    >>> X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=500, random_state=1)
    >>> X, bad_rows = rs.simulate.contaminate_pareto(X, 0.05, random_state=2)
    >>> model = rs.RobustScoreMatching("sqrt", contamination=0.05).fit(X)
    >>> model.n_blocks_, model.interaction_.shape
    (100, (3, 3))
    """

    def __init__(
        self,
        family: str | Family = "sqrt",
        *,
        kinds: Mapping[str, Kind] | None = None,
        contamination: float | None = None,
        n_blocks: int | Literal["auto"] | None = None,
        shuffle: bool = False,
        n_partitions: int = 1,
        reweight: bool | RowRule | None = None,
        fit_location: bool = True,
        scale: Literal["median"] | None = "median",
        missing: Missing = "raise",
        cells: bool | CellRule = False,
        max_memory: float | str = "1 GB",
        random_state: RandomState = None,
    ) -> None:
        self.family = family
        self.kinds = kinds
        self.contamination = contamination
        self.n_blocks = n_blocks
        self.shuffle = shuffle
        self.n_partitions = n_partitions
        self.reweight = reweight
        self.fit_location = fit_location
        self.scale = scale
        self.missing = missing
        self.cells = cells
        self.max_memory = max_memory
        self.random_state = random_state

    def _fit(self, given: Given) -> Fit:
        settings, data = self._validate(Settings, given)
        fit = self._fitted(fit_parameters, data, settings)
        settings = fit.settings
        self._store(fit, data)
        if settings.family.is_pairwise:
            upper = self.interaction_[np.triu_indices(len(fit.names))]
            self.theta_ = np.append(upper, self.location_) if self.fit_location else upper
        else:
            (self.theta_,) = fit.given
        return fit
