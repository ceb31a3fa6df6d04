"""Robust score matching without a penalty, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Literal

import numpy as np

from robscore._tools.typing import AnyData, RandomState
from robscore.estimators.base import ScoreMatchingEstimator
from robscore.families.family import Family
from robscore.fitting.fit import fit_parameters
from robscore.fitting.fit_result import Fit
from robscore.fitting.settings import Missing, Settings


class RobustScoreMatching(ScoreMatchingEstimator):
    """Robust score matching without a penalty: theta-hat(K) = Gamma-hat^-1 g-hat (section 3.2 of the paper).

    Gamma-hat and g-hat are geometric medians of the means of K blocks of rows, so a bad row spoils at
    most one block. Needs more rows than columns.

    Parameters
    ----------
    family : str or Family, default "sqrt"
        "gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex", or an object of ``rs.families``;
        "auto" chooses one from the data: by their domain, then by :func:`robscore.compare_families`.
    contamination : float, optional
        Share of bad rows to guard against, if known: sets the number of blocks to the paper's 4 * contamination * n.
    n_blocks : int or "auto", optional
        K. 1 is classic score matching; more blocks tolerate more bad rows but add bias on skewed data. "auto" lets the
        data choose. Without it and without ``contamination`` rows are reweighted. If that is not possible, every
        row is a block of its own, so that the order does not matter; with more than 5000 rows, and for ``score``, there
        are 0.4 n blocks.
    shuffle : bool, default False
        Cut a random order of the rows into blocks instead of the given one.
    n_partitions : int, default 1
        With more than one, average the row weights over that many random partitions.
    reweight : bool, optional
        Drop the rows that do not belong with the others: too far from the middle, in a cluster, with one wrong
        column, or too surprising under the fit; you need not know how many, the data decide. Clean rows are hardly
        ever dropped. On by default unless ``n_blocks`` or ``contamination`` is given. The answer then does not depend
        on the order of the rows. Tolerates about 20 % bad rows, more if they are scattered.
    fit_location : bool, default True
        Estimate eta; otherwise it is zero.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter, and map the parameters back.
    missing : {"raise", "drop", "impute"}, default "raise"
        What to do about missing values: an error; leave out incomplete rows; or fill them in, by draws from the fit
        given the observed cells of their rows, until fit and draws agree. That is right if values are missing at random
        given the observed ones, and wrong if they are missing because of what they are.
    cells : bool, default False
        Look for single wrong cells too: those that the rest of their row, and the other rows, do not expect. They are
        treated as missing. See :meth:`suspicious_cells`.
    max_memory : number of bytes, or str such as "500 MB", default "1 GB"
        Memory for what is computed from the rows and for sums over blocks; rows that do not fit are read again in
        every pass over the data. The row weights take another 50 bytes per row.
    random_state : int, Generator or None
        For the simulated rows that others are compared with (None always simulates the same ones), and for shuffled and
        repeated partitions.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K, precision-like and symmetric: negative off the diagonal is positive association.
    location_ : array of shape (m,)
        eta.
    effects_ : array of shape (m, q), or None
        What one unit of every covariate, in the order of their columns, adds to eta; None without covariates.
    covariates_ : CovariateDesign, or None
        How covariates became these columns; ``covariates_.terms`` are their names.
    moderations_ : dict of arrays of shape (m, m), or None
        What one unit of every moderator, or being in a group, adds to ``interaction_``, which is then what all rows
        have in common: not that of any group, and for numbers at their mean.
    theta_ : array of shape (m(m+1)/2 + m,), or m(m+1)/2 without location
        K's upper triangle row by row, then eta; for an exponential family, shape (r,), its own parameters, and
        then there is neither ``interaction_`` nor ``location_``.
    row_weights_ : array of shape (n, 2)
        How much each row counts in Gamma-hat and in g-hat; each column sums to one.
    n_blocks_ : int
    share_dropped_ : float or None
        Share of the rows that reweighting left out altogether; None without reweighting.
    n_blocks_criterion_ : dict of float by K, or None
        What ``n_blocks="auto"`` compared; the smallest is best.
    n_rows_used_ : int
        Rows without missing values.
    family_ : str or Family
        The family used: the one given, or the choice of "auto".
    cautions_ : list of str
        What to be careful about, worst first; empty if all is well.
    n_features_in_, feature_names_in_ : as in scikit-learn

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
        contamination: float | None = None,
        n_blocks: int | Literal["auto"] | None = None,
        shuffle: bool = False,
        n_partitions: int = 1,
        reweight: bool | None = None,
        fit_location: bool = True,
        scale: Literal["median"] | None = "median",
        missing: Missing = "raise",
        cells: bool = False,
        max_memory: float | str = "1 GB",
        random_state: RandomState = None,
    ) -> None:
        self.family = family
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

    def _fit(
        self, X: AnyData, sample_weight: AnyData | None, covariates: AnyData | None, moderators: AnyData | None
    ) -> Fit:
        settings, data = self._validate(Settings, X, sample_weight, covariates, moderators)
        fit = fit_parameters(data, settings)
        self._store(fit, data.rows)
        if settings.family.is_pairwise:
            upper = self.interaction_[np.triu_indices(len(fit.names))]
            self.theta_ = np.append(upper, self.location_) if self.fit_location else upper
        else:
            (self.theta_,) = fit.given
        return fit
