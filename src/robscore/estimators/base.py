"""What every estimator does the same way: open data, store a fit, judge rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from robscore._tools.arguments import check_number, check_whole
from robscore._tools.messages import ArgumentError, Caution, UsageError
from robscore._tools.typing import AnyData, Array, BoolArray, RandomState
from robscore.certainty.cautions import cautions_of
from robscore.certainty.check_fit import FitCheck, check_fit
from robscore.certainty.effects import effects
from robscore.certainty.imputations import completed_once, imputations
from robscore.certainty.observed_losses import observed_losses, observed_rows, rows_to_judge
from robscore.certainty.suspicious_cells import suspicious_cells
from robscore.certainty.suspicious_rows import suspicious_rows
from robscore.elements.streamed import elements_of, held
from robscore.estimators.fitting import FitsRows
from robscore.estimators.moderation import ModerationMixin, moderations
from robscore.estimators.opening import DataOpener
from robscore.estimators.outliers import JudgesRows
from robscore.families.family import Family, get_family
from robscore.families.power import PowerFamily
from robscore.family_choice.choose_family import FamilyChoice, choose_family
from robscore.family_choice.common_loss import is_comparable
from robscore.family_choice.common_score import CommonScore
from robscore.family_choice.data_profile import ConstantSum, remarks_on_codes, remarks_on_columns
from robscore.fitting.fit_result import Fit
from robscore.fitting.prepare import Data
from robscore.fitting.settings import Missing, Settings
from robscore.rows import Rows
from robscore.rows.input_data import read_frequency
from robscore.rows.partition import Partition
from robscore.rows.row_source import some_of

_LOOKED_AT = 20_000  # rows, for what kinds of columns and values there are
_S = TypeVar("_S", bound=Settings)


class ScoreMatchingEstimator(FitsRows, ModerationMixin, JudgesRows, DataOpener):
    """What all estimators share.

    Attributes
    ----------
    fitted_ : Fit
        The whole fit as one frozen value.
    family_ : str or Family
        The family used: the one given, or the choice of "auto".
    cautions_ : list of str
        What to be careful about, worst first; empty if all is well.
    """

    family: str | Family
    contamination: float | None
    n_blocks: int | Literal["auto"] | None
    shuffle: bool
    n_partitions: int
    reweight: bool | None
    fit_location: bool
    scale: Literal["median"] | None
    missing: Missing
    cells: bool
    max_memory: float | str
    random_state: RandomState
    fitted_: Fit
    _whole: ConstantSum | None
    _family_choice: FamilyChoice

    def _validate(
        self,
        kind: type[_S],
        X: AnyData,
        sample_weight: AnyData | None,
        covariates: AnyData | None,
        moderators: AnyData | None,
    ) -> tuple[_S, Data]:
        """The arguments, checked, with a family; and the data, divided by their sums where these are constant."""
        arguments = self.get_params(deep=False)
        self._whole = None
        is_auto = _is_auto(self.family)
        settings = kind.of({**arguments, "family": "gaussian"} if is_auto else arguments)
        has_covariates = covariates is not None or moderators is not None
        if has_covariates and not is_auto:
            settings.check_covariates()
        data = replace(self._open_moderated(X, covariates, moderators), sample_weight=sample_weight)
        if not is_auto:
            self._family_choice = FamilyChoice(str(self.family), settings.family, "")
            self.family_ = self.family
            return settings, data
        with np.errstate(all="ignore"):  # rows of any size may be among them
            self._family_choice = choose_family(
                self._own_columns(data.rows), settings.seed, with_missing=settings.fills_in
            )
        self.family_ = self._family_choice.name
        settings = replace(settings, family=self._family_choice.family)
        settings.check_together()
        if has_covariates:
            settings.check_covariates()
        self._whole = self._family_choice.constant_sum
        return settings, data if self._whole is None else replace(data, rows=self._closed(data.rows))

    def _store(self, fit: Fit, rows: Rows) -> None:
        """The attributes that every fit has; rows are those of the data."""
        self.fitted_ = fit
        self.row_weights_ = fit.row_weights
        self.n_rows_used_ = fit.prepared.rows.n_rows
        self.n_blocks_ = fit.weighed.n_blocks
        self.n_blocks_criterion_ = fit.weighed.n_blocks_criterion
        self.share_dropped_ = fit.weights.share_dropped
        if fit.settings.family.is_pairwise:
            self.interaction_, location = fit.interaction, fit.given[1]
            self.moderations_: dict[str, Array] | None = moderations(fit)
            self.location_ = location if location.ndim == 1 else location[:, 0].copy()
            self.effects_: Array | None = None if location.ndim == 1 else location[:, 1:].copy()
        own = _some(self._own_columns(rows))
        kinds = remarks_on_columns(own[np.isfinite(own).all(axis=1)], fit.names)
        self._on_data = [*self._family_choice.remarks, *kinds, *remarks_on_codes(own, fit.names, rows.n_rows)]
        self._cautions: list[Caution] | None = None

    @property
    def cautions_(self) -> list[Caution]:
        """What to be careful about, worst first; computed on first use, since many fits are never read."""
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

    def _scaled_rows(self, X: AnyData, covariates: AnyData | None, *, fill: bool = False) -> tuple[Rows, BoolArray]:
        """The complete rows of other data, scaled like the fit's, and which they are; or all rows, filled in."""
        rows = self._open_given(X, covariates, reset=False).rows
        if fill and self.missing == "impute":
            rows = completed_once(self.fitted_, rows)
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
            Infinite for rows that overflow. After ``missing="impute"`` or ``cells=True`` the loss of a
            row with missing cells is that of the entries whose cells are there, each over the share of the rows of X
            in which it is (so that means over rows are means entry by entry), the others as on average; NaN where
            nothing is there, or a covariate is not. With other ``missing``, and families whose weights depend on other
            columns (the simplex), NaN for incomplete rows.
        """
        check_is_fitted(self)
        fit = self.fitted_
        preparation, memory = fit.prepared.preparation, fit.settings.memory
        rows = self._open_given(X, covariates, reset=False).rows
        rows = held(rows, preparation.family, memory)
        used, by_cells = rows_to_judge(fit, rows)
        if not used.any():
            raise ValueError(
                f"X has {used.size} rows, all with missing cells, so there is none to judge; fill some in."
            )
        losses = np.full(used.size, np.nan)
        scaled = preparation.scaled(rows, used)
        elements = None if by_cells else elements_of(preparation.scaled_family, scaled, memory)
        losses[used] = observed_losses(fit, scaled) if elements is None else elements.row_losses(*fit.scaled)
        return losses

    def suspicious_rows(
        self, X: AnyData | None = None, *, covariates: AnyData | None = None, level: float = 0.01
    ) -> AnyData:
        """Rows from the most to the least surprising under the fit; those that hardly belong to it are flagged.

        A row's score is -log p(x) at the fit without shrinkage, up to a constant. It detects rows that are too large
        as well as rows of ordinary size with the wrong dependence. (For this the estimator keeps the rows of its fit,
        or their location.)

        Parameters
        ----------
        X : array-like or data frame of shape (n, m), optional
            By default the data of the fit.
        covariates : as in ``fit``, if the fit had some and X is given
            Rows are then surprising for their covariates: the score is how many deviations -log p lies above that of
            rows simulated there.
        level : float, default 0.01
            The false-alarm level: on average at most this share of the good rows of the fit is flagged (of other
            rows possibly more, if the fit has few rows per column). It is computed from thousands of rows simulated
            from the fit, so levels below about 0.001 are out of reach; one standard error of that simulation is kept as
            a margin. If the fit cannot be sampled, rows that stand out are flagged, and ``p_value`` is NaN.
            After reweighting, dropped rows are always flagged, and rows that count in full never.

        Returns
        -------
        table with columns
            row (its position in X, from 0), score, p_value (share of rows of the model that are at least as
            surprising), rank, flagged, why (how a flagged row is bad, after reweighting: too large, too small,
            one column, wrong dependence, in a cluster of so many, or too likely), variables (what makes the
            row stand out, for flagged rows and the first 20), together (what the dropped rows are as a whole:
            scattered, one column, in one place, or a group of so many, which may be real). Flagged rows first.
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
        rows, used = self._scaled_rows(X, covariates, fill=True)
        if not used.any():
            raise UsageError("X has no complete row to look at.")
        return suspicious_rows(fit, rows, np.flatnonzero(used), level=level)

    def suspicious_cells(self) -> AnyData:
        """Cells that look wrong, given the rest of their row, most likely first; for a fit with ``cells=True``.

        Returns
        -------
        table with columns
            row (its position in X, from 0), column, value, expected (the median of what the rest of the row says),
            expected_low, expected_high (between which 95 % lie), probability (that the cell is wrong), flagged (more
            likely wrong than not). All flagged cells, and at least the 20 most suspicious.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> X[7, 1] = 9; X[11, 0] = -9; X[90, 2] = 10
        >>> table = rs.RobustGraph("gaussian", cells=True).fit(X).suspicious_cells()
        >>> sorted(zip(table["row"][:3].tolist(), table["column"][:3].tolist(), table["flagged"][:3].tolist()))
        [(7, 'x1', True), (11, 'x0', True), (90, 'x2', True)]
        """
        check_is_fitted(self)
        return suspicious_cells(self.fitted_)

    def imputations(self, k: int = 5, X: AnyData | None = None, *, covariates: AnyData | None = None) -> list[AnyData]:
        """Completed tables, each with different draws in the missing (and, for the fit's own data, wrong) cells.

        For other methods that need complete tables: apply them to each, and combine the results.

        Parameters
        ----------
        k : int, default 5
        X : array-like or data frame of shape (n, m), optional
            By default the data of the fit: the rows that it used. Rows that were not held in memory must be given.
        covariates : as in ``fit``, if the fit had some and X is given

        Returns
        -------
        list of k tables, in the data-frame library of the fit's data; arrays of shape (n, m) if those were an array

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(200, 3)) @ np.tri(3)
        >>> X[3, 0] = np.nan
        >>> tables = rs.RobustGraph("gaussian", missing="impute").fit(X).imputations(2)
        >>> bool(np.isfinite(tables[0]).all()), bool((tables[0] != tables[1]).sum() == 1)
        (True, True)
        """
        check_is_fitted(self)
        check_whole("k", k, at_least=1)
        if X is None:
            return imputations(self.fitted_, k)
        rows = self._open_given(X, covariates, reset=False).rows
        return imputations(self.fitted_, k, rows.gather(np.asarray))

    def effects(self, *, level: float = 0.95, fdr: float = 0.1, block_size: int | Literal["auto"] = "auto") -> AnyData:
        """Effects of the covariates on every column, with intervals and tests of "no effect".

        From the estimate of everything without a penalty, with the row weights of the fit, so that nothing is shrunk
        (``effects_`` belongs to the penalised graph). Where cells were filled in, errors count what is missing.

        Parameters
        ----------
        level : float, default 0.95
            Coverage of each interval.
        fdr : float, default 0.1
            False discovery rate at which effects are called significant (Benjamini-Hochberg over the table).
        block_size : int or "auto", default "auto"
            Rows that stay together, for time series; as in ``RobustGraph.edge_intervals``.

        Returns
        -------
        table with columns
            column, covariate, effect (what one unit of the covariate adds to the column's location), effect_error,
            effect_low, effect_high, p_value, q_value, significant; smallest p-value first.

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
        """Whether the family fits, and what it misses where.

        Stein residuals of the estimate without a penalty: means that are zero if the family is right, whatever its
        parameters, of functions that the estimate itself does not set to zero. Their standard errors account
        for the estimated parameters and include the derivative of the row weights. Each column has three functions for
        its own distribution and three for its dependence on the others. For power families on [0, inf) or the real
        line, with at least eight rows for every parameter of a column. If cells were filled in, residuals are means
        over several completions drawn for this.

        Parameters
        ----------
        level : float, default 0.05
            Of the verdict.

        Returns
        -------
        FitCheck
            ``p_value`` of one test of all columns, ``verdict`` ("fits", "does not fit"), ``columns`` and ``pairs``
            (tables with z-scores and p-values), and ``words``, its printed form.

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
        """The negative mean loss of rows; higher is better.

        All power families on [0, inf) or the real line are scored by the same loss, that of
        :func:`robscore.compare_families`: columns over the medians of the fit's data, h = min(d, 3)^2 (where these data
        have values below zero: columns centred and over their deviations, h = 1), and rows far from the middle of the
        fit's data count less, or not at all, so that bad rows do not decide. So a search over ``family``, such as
        ``GridSearchCV``, compares like with like. Other families (the simplex, boxes, statistics of your own), and fits
        with covariates, are scored by their own h on columns as they scale them, by a median of the means of
        ``min(n_blocks_, rows)`` blocks, and cannot be compared with others.

        Minus infinity if no row counts, or too many overflow. After ``missing="impute"`` or
        ``cells=True`` rows with missing cells are scored by what is there of them, never by what a fit filled in: every
        entry of the loss is a mean over the rows in which its cells are there. (Only what a row counts comes from
        completed rows: by a normal distribution of columns made symmetric, the same for all families.)

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often every row counts, as in ``fit``.
        covariates : as in ``fit``, if the fit had some
        """
        check_is_fitted(self)
        prepared = self.fitted_.prepared
        family = prepared.preparation.family
        if self.covariates_ is not None or covariates is not None:
            return self._own_score(X, sample_weight, covariates)
        own = observed_rows(self.fitted_)
        is_real = not family.domain.is_non_negative and bool(own.total(_count_negative))
        if not is_comparable(family, is_real=is_real):
            return self._own_score(X, sample_weight, None)
        assert isinstance(family, PowerFamily)
        rows, _ = self._open(X, reset=False)
        often = None if sample_weight is None else read_frequency(sample_weight, rows.n_rows)
        used = np.flatnonzero(rows_to_judge(self.fitted_, rows)[0])
        if not used.size:
            raise ValueError("X has no complete row to score.")
        counts = np.ones(used.size) if often is None else often[used]
        with np.errstate(all="ignore"):
            common_score = CommonScore.of(own, is_real=is_real)
            return common_score.score(family, self.fitted_.given, rows.selected(used), counts)

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
        tags.input_tags.allow_nan = self.missing in ("drop", "impute")
        tags.input_tags.positive_only = not _is_auto(self.family) and get_family(self.family).domain.is_non_negative
        return tags


def _is_auto(family: object) -> bool:
    return isinstance(family, str) and family == "auto"


def _count_negative(X: Array) -> int:
    return int(np.count_nonzero(X < 0))


def _some(rows: Rows) -> Array:
    """Rows, all or some at random."""
    return rows.take(rows.sample(min(rows.n_rows, _LOOKED_AT), np.random.default_rng(0)))
