"""What every estimator does the same way: open data, store a fit, judge rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from robscore._tools.arguments import check_number
from robscore._tools.errors import ArgumentError, UsageError
from robscore._tools.remarks import Caution
from robscore._tools.typing import AnyData, Array, BoolArray, RandomState
from robscore.certainty.cautions import cautions_of
from robscore.certainty.check_fit import FitCheck, check_fit
from robscore.certainty.effects import effects
from robscore.certainty.suspicious_rows import suspicious_rows
from robscore.elements.streamed import elements_of, held
from robscore.estimators.opening import DataOpener, Opened
from robscore.families.base import Family, get_family
from robscore.families.power import PowerFamily
from robscore.family_choice.comparison import Taken, take_family
from robscore.family_choice.nodes import is_comparable
from robscore.family_choice.recognise import remarks_on_columns
from robscore.family_choice.scoring import Scoring
from robscore.fitting.fit import Fit
from robscore.fitting.settings import Settings
from robscore.rows import Rows
from robscore.rows.base import some_of
from robscore.rows.blocks import Partition
from robscore.rows.frequency import read_frequency

_LOOKED_AT = 2000  # rows, for what kinds of columns there are
_S = TypeVar("_S", bound=Settings)


class ScoreMatchingEstimator(DataOpener):
    """What all estimators share.

    Attributes
    ----------
    fitted_ : Fit
        The whole fit as one frozen value.
    family_ : str or Family
        The family that was taken: the one given, or what "auto" came to.
    cautions_ : list of str
        What to be careful about, worst first; empty where all is well.
    """

    family: str | Family
    contamination: float | None
    n_blocks: int | Literal["auto"] | None
    shuffle: bool
    n_partitions: int
    reweight: bool | None
    fit_location: bool
    scale: Literal["median"] | None
    missing: Literal["raise", "drop"]
    max_memory: float | str
    random_state: RandomState
    fitted_: Fit
    _row_total: float | None
    _taken: Taken

    def _settled(self, X: AnyData, covariates: AnyData | None, kind: type[_S]) -> tuple[_S, Opened]:
        """The arguments, checked, with a family; and the data, closed where they are to be."""
        arguments = self.get_params(deep=False)
        self._row_total = None
        settings = kind.of(arguments if self.family != "auto" else {**arguments, "family": "gaussian"})
        if covariates is not None and self.family != "auto":
            settings.check_covariates()
        data = self._open_given(X, covariates, reset=True)
        if self.family != "auto":
            self._taken = Taken(str(self.family), settings.family, "")
            self.family_ = self.family
            return settings, data
        with np.errstate(all="ignore"):  # rows of any size may be among them
            self._taken = take_family(self._own_columns(data.rows), settings.seed)
        self.family_ = self._taken.name
        settings = replace(settings, family=self._taken.family)
        settings.check_together()
        if covariates is not None:
            settings.check_covariates()
        self._row_total = self._taken.total
        return settings, data if self._row_total is None else data._replace(rows=self._closed(data.rows))

    def _store(self, fit: Fit, rows: Rows) -> None:
        """The attributes that every fit has; rows are those of the data."""
        self.fitted_ = fit
        self.row_weights_ = fit.row_weights
        self.n_rows_used_ = fit.prepared.rows.n_rows
        self.n_blocks_ = fit.weighed.n_blocks
        self.n_blocks_criterion_ = fit.weighed.n_blocks_criterion
        self.share_dropped_ = fit.weights.share_dropped
        if fit.settings.family.is_pairwise:
            self.interaction_, location = fit.given
            self.location_ = location if location.ndim == 1 else location[:, 0].copy()
            self.effects_: Array | None = None if location.ndim == 1 else location[:, 1:].copy()
        own = _some_complete(self._own_columns(rows))
        self._on_data = [*self._taken.remarks, *remarks_on_columns(own, fit.names)]
        self._cautions: list[Caution] | None = None

    @property
    def cautions_(self) -> list[Caution]:
        """What to be careful about, worst first; found when first asked for, since many fits are never read."""
        check_is_fitted(self)
        if self._cautions is None:
            with np.errstate(all="ignore"):  # rows of any size may be among them
                self._cautions = cautions_of(self.fitted_, self._on_data)
        return self._cautions

    @staticmethod
    def _warn(fit: Fit, *, stacklevel: int) -> None:
        """Warn of what did not converge, as scikit-learn does; all else is in ``cautions_``."""
        for remark in fit.remarks:
            if remark.category is ConvergenceWarning:
                remark.warn(stacklevel=stacklevel + 1)

    def _scaled_rows(self, X: AnyData, covariates: AnyData | None) -> tuple[Rows, BoolArray]:
        """The complete rows of other data as those of the fit are scaled, and which are complete."""
        rows, *_ = self._open_given(X, covariates, reset=False)
        settings, preparation = self.fitted_.settings, self.fitted_.prepared.preparation
        rows = held(rows, preparation.family, settings.memory)
        used = preparation.complete(rows, settings.missing)
        return preparation.scaled(rows, used), used

    def row_losses(self, X: AnyData, *, covariates: AnyData | None = None) -> Array:
        """Each row's own score-matching loss at the fit, on the scaled columns.

        Large where a row does not fit the model: because of its size or of its dependence.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        covariates : as in ``fit``, if the fit had some
            Not needed where they are columns of X.

        Returns
        -------
        array of shape (n,)
            NaN for incomplete rows when ``missing="drop"``; infinite for rows that overflow.
        """
        check_is_fitted(self)
        rows, used = self._scaled_rows(X, covariates)
        losses = np.full(used.size, np.nan)
        if used.any():
            fit = self.fitted_
            elements = elements_of(fit.prepared.preparation.scaled_family, rows, fit.settings.memory)
            losses[used] = elements.row_losses(*fit.scaled)
        return losses

    def suspicious_rows(
        self, X: AnyData | None = None, *, covariates: AnyData | None = None, level: float = 0.01
    ) -> AnyData:
        """Rows from the most to the least surprising under the fit, those flagged that hardly belong to the model.

        A row's score is -log p(x) at the fit without shrinkage, up to a constant. It sees rows that are too large as
        well as rows of ordinary size with the wrong dependence. (The estimator keeps the rows of its fit for this, or
        where they are.)

        Parameters
        ----------
        X : array-like or data frame of shape (n, m), optional
            By default the data of the fit.
        covariates : as in ``fit``, if the fit had some and X is given
            Rows are then surprising for their covariates: the score is how many deviations -log p lies above that of
            rows simulated there.
        level : float, default 0.01
            The false-alarm level: no more than this share of good rows of the fit is flagged too, on average (of
            other rows it may be more where the fit has few rows a column). From thousands of rows simulated from the
            fit, so levels below about 0.001 cannot be had; one standard error of that simulation is left as a margin.
            Where the fit cannot be sampled, rows are flagged that stand out, and ``p_value`` is NaN. After
            reweighting, rows that it leaves out are flagged in any case, and rows that count in full are not.

        Returns
        -------
        table with columns
            row (its position in X, from 0), score, p_value (share of rows of the model that are at least as
            surprising), rank, flagged, why (in which way a flagged row is bad, after reweighting: too large, too
            small, one column, wrong dependence, in a cluster of so many; and too likely), variables (what makes the
            row stand out, for flagged rows and the first 20), together (what the rows that the fit leaves out are as a
            whole: scattered, one column, in one place, or a group of so many, which may be real). Flagged rows first.
            Without incomplete rows. In the data-frame library of the input.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> X[7] = [0, 9, 0]
        >>> table = rs.RobustGraph("gaussian").fit(X).suspicious_rows()
        >>> int(table["row"][0]), bool(table["flagged"][0]), str(table["variables"][0])
        (7, True, 'x1 high')
        """
        check_is_fitted(self)
        check_number("level", level)
        if not 0 < level < 1:
            raise ArgumentError("level", level, "must lie between 0 and 1: it is the share of good rows flagged.")
        fit = self.fitted_
        if X is None:
            return suspicious_rows(fit, fit.prepared.rows, fit.used, level=level)
        rows, used = self._scaled_rows(X, covariates)
        if not used.any():
            raise UsageError("X has no complete row to look at.")
        return suspicious_rows(fit, rows, np.flatnonzero(used), level=level)

    def effects(self, *, level: float = 0.95, fdr: float = 0.1, block_size: int | Literal["auto"] = "auto") -> AnyData:
        """What covariates do to every column, with intervals, and tests of "no effect".

        From the estimate of everything without a penalty, with the row weights of the fit, so that nothing is shrunk
        (``effects_`` belongs to the penalised graph).

        Parameters
        ----------
        level : float, default 0.95
            Of the intervals, one by one.
        fdr : float, default 0.1
            False discovery rate at which effects are called significant (Benjamini-Hochberg over the table).
        block_size : int or "auto", default "auto"
            Rows that stay together, for series in time; as in ``RobustGraph.edge_intervals``.

        Returns
        -------
        table with columns
            column, covariate, effect (what one unit of the covariate adds to the column's location), effect_error,
            effect_low, effect_high, p_value, q_value, significant; least p-value first.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> rng = np.random.default_rng(0)
        >>> season = rng.normal(size=300)
        >>> X = rng.normal(size=(300, 3)) + np.outer(season, [1, 1, 0])
        >>> table = rs.RobustGraph("gaussian").fit(X, covariates={"season": season}).effects()
        >>> sorted(table["column"][table["significant"]])
        ['x0', 'x1']
        """
        check_is_fitted(self)
        return effects(self.fitted_, level=level, fdr=fdr, block_size=block_size)

    def check_fit(self, *, level: float = 0.05) -> FitCheck:
        """Whether the family fits, and what it misses and where.

        Stein residuals of the estimate without a penalty: means that are zero if the family is right, whatever its
        parameters, of functions that the estimate itself does not set to zero. Their errors leave out what the
        estimated parameters take away, and include the derivative of the row weights. For each column three functions
        of its own distribution and three of how the others pull at it. For power families on [0, inf) or the real
        line, with at least eight rows for every parameter of a column.

        Parameters
        ----------
        level : float, default 0.05
            Of the verdict.

        Returns
        -------
        FitCheck
            ``p_value`` of one test of all columns, ``verdict`` ("fits", "does not fit"), ``columns`` and ``pairs``
            (tables with z-scores and p-values), and ``words``, which it prints as.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(500, 3)) @ np.tri(3)
        >>> rs.RobustGraph("gaussian").fit(X).check_fit().verdict
        'fits'
        >>> rs.RobustGraph("truncated-gaussian").fit(np.exp(X)).check_fit().verdict
        'does not fit'
        """
        check_is_fitted(self)
        check_number("level", level)
        if not 0 < level < 1:
            raise ArgumentError("level", level, "must lie between 0 and 1.")
        with np.errstate(all="ignore"):
            return check_fit(self.fitted_, level=level)

    def score(
        self, X: AnyData, y: None = None, *, sample_weight: AnyData | None = None, covariates: AnyData | None = None
    ) -> float:
        """Minus the mean loss of rows; higher is better.

        All power families on [0, inf) or the real line are scored by the same loss, that of
        :func:`robscore.compare_families`: columns over the medians of the fit's data, h = min(d, 3)^2 (where these data
        have values below zero: columns centred and over their deviations, h = 1), and rows far from the middle of the
        fit's data count less, or not at all, so that bad rows do not decide. So a search over ``family``, such as
        ``GridSearchCV``, compares like with like. Other families (the simplex, boxes, statistics of your own), and fits
        with covariates, are scored by their own h on columns as they scale them, by a median of the means of
        min(n_blocks_, rows) blocks, and are not to be compared with others.

        Minus infinity where no row counts, or too many overflow.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often every row is there, as in ``fit``.
        covariates : as in ``fit``, if the fit had some
        """
        check_is_fitted(self)
        prepared = self.fitted_.prepared
        family, scaling = prepared.preparation.family, prepared.preparation.scaling
        if self.covariates_ is not None or covariates is not None:
            return self._own_score(X, sample_weight, covariates)
        own = prepared.rows if scaling is None else prepared.rows.mapped(scaling.undo)
        is_real = not family.domain.is_non_negative and bool(own.total(_count_negative))
        if not is_comparable(family, is_real=is_real):
            return self._own_score(X, sample_weight, None)
        assert isinstance(family, PowerFamily)
        rows, _ = self._open(X, reset=False)
        often = None if sample_weight is None else read_frequency(sample_weight, rows.n_rows)
        used = np.flatnonzero(prepared.preparation.complete(rows, self.fitted_.settings.missing))
        if not used.size:
            raise ValueError("X has no complete row to score.")
        with np.errstate(all="ignore"):
            losses, phi = Scoring.of(own, is_real=is_real).losses(family, self.fitted_.given, rows.selected(used))
        counts = np.ones(used.size) if often is None else often[used]
        counted = (counts > 0) & (phi > 0)
        counts, losses, phi = counts[counted], losses[counted], phi[counted]
        return -float(counts @ losses / (counts @ phi)) if counted.any() else -np.inf

    def _own_score(self, X: AnyData, sample_weight: AnyData | None, covariates: AnyData | None) -> float:
        """By the family's own loss."""
        losses = self.row_losses(X, covariates=covariates)
        often = None if sample_weight is None else read_frequency(sample_weight, losses.size)
        counted = np.flatnonzero(~np.isnan(losses) & (True if often is None else often > 0))
        losses, often = losses[counted], some_of(often, counted)
        if losses.size == 0:
            raise ValueError("X has no complete row to score.")
        partition = Partition.even(losses.size, min(self.n_blocks_, losses.size), frequency=often)
        return -float(np.median(partition.means(losses)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "drop"
        tags.input_tags.positive_only = self.family != "auto" and get_family(self.family).domain.is_non_negative
        return tags


def _count_negative(X: Array) -> int:
    return int(np.count_nonzero(X < 0))


def _some_complete(rows: Rows) -> Array:
    """Complete rows, all or some that are spread over the data."""
    X = rows.take(np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _LOOKED_AT)).astype(np.intp))
    return X[np.isfinite(X).all(axis=1)]
