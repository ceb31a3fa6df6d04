"""What every estimator does the same way: check arguments, choose a family, fit, store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import ArgumentError, Caution, UsageError
from robscore._tools.numbers import check_number, evenly_spread
from robscore._tools.typing import AnyData, Array, RandomState
from robscore.cells.cell_rule import CellRule
from robscore.certainty.cautions import cautions_of
from robscore.certainty.check_fit import FitCheck, check_fit, describes_rows
from robscore.certainty.effects import effects
from robscore.estimators.common_docs import documented
from robscore.estimators.data_opener import Given
from robscore.estimators.judged_rows import JudgesRows
from robscore.estimators.moderation import ModerationMixin, moderations
from robscore.families.column_kinds import ColumnKind, Kind, kinds_in_words, remarks_on_kinds
from robscore.families.copula import GaussianCopula
from robscore.families.family import Family, get_family, is_auto, takes_words
from robscore.family_choice.choose_family import FamilyChoice, choose_family, copula_because
from robscore.family_choice.data_profile import ConstantSum, remarks_on_codes, remarks_on_columns
from robscore.fitting.fit_result import Fit
from robscore.fitting.prepare import Data
from robscore.fitting.settings import Missing, Settings
from robscore.rows import Rows
from robscore.rows.input_data import with_frequency
from robscore.rows.tables import default_names, row_labels
from robscore.rows.worded_columns import remarks_on_words
from robscore.weighting.row_rule import RowRule

_LOOKED_AT = 20_000  # rows, for what kinds of columns and values there are
_S = TypeVar("_S", bound=Settings)
_F = TypeVar("_F", bound=Fit)


class ScoreMatchingEstimator(ModerationMixin, JudgesRows, ABC):
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
    kinds: Mapping[str, Kind] | None
    contamination: float | None
    n_blocks: int | Literal["auto"] | None
    shuffle: bool
    n_partitions: int
    reweight: bool | RowRule | None
    fit_location: bool
    scale: Literal["median"] | None
    missing: Missing
    cells: bool | CellRule
    max_memory: float | str
    random_state: RandomState
    fitted_: Fit
    _whole: ConstantSum | None
    _family_choice: FamilyChoice

    def fit(
        self,
        X: AnyData,
        y: None = None,
        *,
        sample_weight: AnyData | None = None,
        covariates: AnyData | None = None,
        moderators: AnyData | None = None,
        lower: AnyData | None = None,
        upper: AnyData | None = None,
    ) -> Self:
        """Fit the model to data.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m); path of a Parquet file or folder; memory map; Dask collection;
            anything that :class:`robscore.ArrowRows` takes, such as a lazy frame
            Rows that do not fit in ``max_memory`` are read a piece at a time, in every pass over the data.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            Frequencies of the rows: a row of weight 2 counts as two equal rows, one of weight 0 is left out, and
            the sum of all is the number of rows. Survey weights are different; see the docs.
        covariates : data frame, series, dictionary or array of shape (n,) or (n, q); or names of columns of X, optional
            What shifts the locations: numbers, categories (dummies; the first level is the base) or dates (years).
            The interactions are then those given the covariates, and ``effects_`` holds the effects of these.
        moderators : as covariates, or names of columns of X or of covariates, optional
            What changes the interactions: groups (texts, categories) or numbers. ``interaction_for`` gives them at a
            value, ``differences`` tests what changes. They are covariates too.
        lower, upper : array-like or data frame of shape (n, m), optional
            Limits of cells that were not measured exactly: such a cell lies above ``lower`` and below ``upper``,
            whatever X says. NaN where X says it all, and where there is no limit on that side; data frames may hold
            some of the columns only. A value below a limit of detection of 0.05 has ``upper`` 0.05.

        Returns
        -------
        self
        """
        fit = self._fit(Given(X, sample_weight, covariates, moderators, lower, upper))
        self._row_labels = row_labels(X)
        self._warn(fit, stacklevel=2)
        return self

    @abstractmethod
    def _fit(self, given: Given) -> Fit:
        """Fit, and store what belongs to the estimator."""

    def _validate(self, kind: type[_S], given: Given) -> tuple[_S, Data]:
        """The arguments, checked, with a family; and the data, divided by their sums where these are constant."""
        arguments = self.get_params(deep=False)
        self._whole = None
        automatic = is_auto(self.family)
        settings = kind.of({**arguments, "family": self._first_family()} if automatic else arguments)
        has_covariates = given.covariates is not None or given.moderators is not None
        if has_covariates and not automatic:
            settings.check_covariates()
        data = self._open_all(given)
        if not automatic:
            self._family_choice = FamilyChoice(str(self.family), settings.family, "")
            self.family_ = self.family
            return replace(settings, family=self._with_kinds(settings.family, data)), data
        choice = self._choose_family(settings, data)
        self._whole = choice.constant_sum
        settings = self._taking(choice, settings, data)
        return settings, data if self._whole is None else replace(data, rows=self._closed(data.rows))

    def _first_family(self) -> str:
        """The family that arguments are checked with before "auto" has chosen: kinds of columns are the copula's."""
        return "gaussian" if getattr(self, "kinds", None) is None else "copula"

    def _choose_family(self, settings: Settings, data: Data) -> FamilyChoice:
        """The choice of "auto"."""
        if settings.family.has_margins:
            return replace(copula_because("kinds of columns are given"), family=settings.family)
        with np.errstate(all="ignore"):  # rows of any size may be among them
            return choose_family(
                self._own_rows(data),
                settings.seed,
                with_missing=settings.fills_in or data.limits is not None,
                with_copula=_allows_copula(settings, data),
                levels=data.levels,
            )

    def _taking(self, choice: FamilyChoice, settings: _S, data: Data) -> _S:
        """The settings of a fit of the family that "auto" takes, which is remembered."""
        settings = _checked(settings, choice.family, data)
        self._family_choice, self.family_ = choice, choice.name
        return replace(settings, family=self._with_kinds(settings.family, data))

    def _fitted(self, fit: Callable[[Data, _S], _F], data: Data, settings: _S) -> _F:
        """Fit; where the family that "auto" chose does not describe the rows, fit the copula in its place."""
        found, choice = fit(data, settings), self._family_choice
        if not choice.by_data or not _allows_copula(settings, data):
            return found
        with np.errstate(all="ignore"):
            if describes_rows(found):
                return found
        instead = copula_because(f"{choice.name} does not describe the rows that count", choice.remarks)
        return fit(data, self._taking(instead, settings, data))

    def _takes_words(self) -> bool:
        return takes_words(self.family)

    def _with_kinds(self, family: Family, data: Data) -> Family:
        """The family, which knows the kinds of columns before any rows are left out, where it goes by them."""
        if not family.has_margins:
            return family
        names = data.rows.names or default_names(self.n_features_in_)
        return family.knowing(_some(self._own_rows(data)), names, data.levels)

    def _own_rows(self, data: Data) -> Rows:
        """The rows of a fit without covariates, those of sample weight zero left out, the others with their weights."""
        rows = self._own_columns(data.rows)
        return rows if data.sample_weight is None else with_frequency(rows, data.sample_weight)[0]

    def _store(self, fit: Fit, data: Data) -> None:
        """The attributes that every fit has."""
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
        rows = self._own_rows(data)
        own = _some(rows)
        family = fit.settings.family
        if isinstance(family, GaussianCopula):
            self._kinds = family.found
            on_kinds = [*remarks_on_kinds(family.found), *remarks_on_words(self._words)]
        else:
            levels = self._words.levels
            self._kinds = {
                name: ColumnKind.of(column, levels=levels.get(name, ()))
                for name, column in zip(fit.names, own.T, strict=True)
            }
            on_kinds = remarks_on_columns(own[np.isfinite(own).all(axis=1)], fit.names)
        self._on_data = [*self._family_choice.remarks, *on_kinds, *remarks_on_codes(own, fit.names, rows.n_repeated)]
        self._cautions: list[Caution] | None = None

    @property
    def kinds_(self) -> dict[str, str]:
        """What every column is, by its name, for readers."""
        check_is_fitted(self)
        return {name: kind.word for name, kind in self._kinds.items()}

    @property
    def column_kinds(self) -> dict[str, ColumnKind]:
        """The kinds of the columns, with all that is known of them."""
        check_is_fitted(self)
        return self._kinds

    def _kinds_in_words(self) -> str:
        """How many columns there are of each kind; nothing where all are measurements, and so taken."""
        is_plain = {kind.word for kind in self._kinds.values()} <= {"continuous", "rounded"}
        return "" if is_plain and not self.fitted_.settings.family.has_margins else kinds_in_words(self._kinds.values())

    @property
    def row_labels(self) -> list[str] | None:
        """What the rows of the fit are called in the index of their data frame; None where that says nothing."""
        check_is_fitted(self)
        return None if self._row_labels is None else list(map(str, self._row_labels))

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

    @documented
    def effects(self, *, level: float = 0.95, fdr: float = 0.1, block_size: int | Literal["auto"] = "auto") -> AnyData:
        """Effects of the covariates on every column, with intervals and tests of "no effect".

        From the estimate of everything without a penalty, with the row weights of the fit, so that nothing is shrunk
        (``effects_`` belongs to the penalised graph). Where cells were filled in, errors count what is missing.

        Parameters
        ----------
        {intervals}
        {block_size}

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

        Of the copula, whose margins can be anything, pairs are compared with those of rows simulated from the fit and
        discretised as the data are: "shape" is then the z-score of joint extremes, "dependence" that of a column that
        first rises and then falls with another.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in ("drop", "impute")
        tags.input_tags.positive_only = not is_auto(self.family) and get_family(self.family).domain.is_non_negative
        return tags


def _checked(settings: _S, family: Family, data: Data) -> _S:
    """The settings with another family; raise where others that were asked for contradict it."""
    settings = replace(settings, family=family)
    settings.check_together()
    if data.given:
        settings.check_covariates()
    return settings


def _allows_copula(settings: Settings, data: Data) -> bool:
    """Whether nothing else that was asked for contradicts the copula."""
    try:
        _checked(settings, get_family("copula"), data)
    except UsageError:
        return False
    return all(one.levels for one in data.moderators)


def _some(rows: Rows) -> Array:
    """Rows, repeated by their frequency: all, or some."""
    if rows.frequency is not None:
        return rows.take(evenly_spread(np.arange(rows.n_rows), _LOOKED_AT, rows.frequency))
    return rows.take(rows.sample(min(rows.n_rows, _LOOKED_AT), np.random.default_rng(0)))
