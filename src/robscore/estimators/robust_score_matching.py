"""Robust score matching without a penalty, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np

from robscore._tools.typing import AnyData, RandomState
from robscore.estimators.base import ScoreMatchingEstimator
from robscore.families.base import Family
from robscore.fitting.fit import fit_parameters
from robscore.fitting.settings import Settings


class RobustScoreMatching(ScoreMatchingEstimator):
    """Robust score matching without a penalty: theta-hat(K) = Gamma-hat^-1 g-hat (section 3.2 of the paper).

    Gamma-hat and g-hat are geometric medians of the means of K blocks of rows, so a bad row spoils at
    most one block. Needs more rows than columns.

    Parameters
    ----------
    family : str or Family, default "sqrt"
        "gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex", or an object of ``rs.families``;
        "auto" takes the one that the data say: by their domain, then by :func:`robscore.compare_families`.
    contamination : float, optional
        Share of bad rows to guard against, if known: sets the number of blocks to the paper's 4 * contamination * n.
    n_blocks : int or "auto", optional
        K. 1 is classic score matching; more blocks tolerate more bad rows but add bias on skewed data. "auto" lets the
        data choose. Without it and without ``contamination`` rows are reweighted. Where that is not possible every
        row is a block of its own, so that no order matters; with more than 5000 rows, and for ``score``, there are
        0.4 n blocks.
    shuffle : bool, default False
        Cut a random order of the rows into blocks instead of the given one.
    n_partitions : int, default 1
        With more than one, average the row weights over that many random partitions.
    reweight : bool, optional
        Leave out the rows that do not belong with the others: too far from the middle, in a cluster, with one wrong
        column, or too surprising under the fit; you need not know how many, the data decide. Clean rows are hardly
        ever left out. By default where neither ``n_blocks`` nor ``contamination`` is given. The answer then does not
        depend on the order of the rows. Tolerates about 20 % bad rows, more if they are scattered.
    fit_location : bool, default True
        Estimate eta; otherwise it is zero.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter, and map the parameters back.
    missing : {"raise", "drop"}, default "raise"
        What to do about rows with missing values.
    max_memory : number of bytes, or str such as "500 MB", default "1 GB"
        What is made of the rows, and sums over blocks, may take so much memory; rows for which it is not enough are
        read again in every pass over the data. The row weights, about 50 bytes a row, come on top of that.
    random_state : int, Generator or None
        For the rows that are simulated to judge others by (None always simulates the same ones), and for shuffled and
        repeated partitions.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K, precision-like and symmetric: negative off the diagonal is positive association.
    location_ : array of shape (m,)
        eta.
    effects_ : array of shape (m, q), or None
        What one unit of every covariate, in the order of their columns, adds to eta; None without covariates.
    covariates_ : Design, or None
        How covariates became these columns; ``covariates_.terms`` are their names.
    theta_ : array of shape (m(m+1)/2 + m,), or m(m+1)/2 without location
        K's upper triangle row by row, then eta; for an exponential family, shape (r,), its own parameters, and
        then there is neither ``interaction_`` nor ``location_``.
    row_weights_ : array of shape (n, 2)
        What each row counts in Gamma-hat and in g-hat; each column sums to one.
    n_blocks_ : int
    share_dropped_ : float or None
        Share of the rows that reweighting left out altogether; None without reweighting.
    n_blocks_criterion_ : dict of float by K, or None
        What ``n_blocks="auto"`` looked at; the least is best.
    n_rows_used_ : int
        Rows without missing values.
    family_ : str or Family
        The family that was taken: the one given, or what "auto" came to.
    cautions_ : list of str
        What to be careful about, worst first; empty where all is well.
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
        missing: Literal["raise", "drop"] = "raise",
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
        self.max_memory = max_memory
        self.random_state = random_state

    def fit(
        self, X: AnyData, y: None = None, *, sample_weight: AnyData | None = None, covariates: AnyData | None = None
    ) -> Self:
        """Estimate the parameters.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m); path of a Parquet file or folder; memory map; Dask collection
            Rows that do not fit in ``max_memory`` are read a piece at a time, in every pass over the data.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often every row is there: a row of weight 2 counts as two equal rows, one of weight 0 is left out, and
            the sum of all is the number of rows. Survey weights are something else; see the docs.
        covariates : data frame, series, dictionary or array of shape (n,) or (n, q); or names of columns of X, optional
            What moves the locations: numbers, categories (dummies; the first level is the base) or dates (years).
            The graph is then that of the columns given the covariates, and ``effects_`` what these do.
        """
        settings, data = self._settled(X, covariates, Settings)
        fit = fit_parameters(
            data.rows,
            settings,
            caller=type(self).__name__,
            frame=data.frame,
            sample_weight=sample_weight,
            given=data.given,
        )
        self._store(fit, data.rows)
        if settings.family.is_pairwise:
            upper = self.interaction_[np.triu_indices(len(fit.names))]
            self.theta_ = np.append(upper, self.location_) if self.fit_location else upper
        else:
            (self.theta_,) = fit.given
        self._warn(fit, stacklevel=2)
        return self
