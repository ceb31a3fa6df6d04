"""The data that an estimator accepts, at a fit and afterwards: rows of any kind, with their covariates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from robscore._tools.messages import ArgumentError, UsageError, quoted
from robscore._tools.typing import AnyArray, AnyData, Array, IntArray
from robscore.family_choice.data_profile import ConstantSum
from robscore.fitting.prepare import Data
from robscore.rows import ArrayRows, Rows
from robscore.rows.covariate_columns import (
    Covariate,
    CovariateDesign,
    Moderator,
    names_of_columns,
    read_covariates,
    split_frame,
    with_moderators,
)
from robscore.rows.input_data import open_rows, read_limits, readable
from robscore.rows.own_types import OwnType, own_types
from robscore.rows.row_source import MappedRows, with_columns
from robscore.rows.tables import default_names
from robscore.rows.worded_columns import Worded, in_categories, in_codes


class Given(NamedTuple):
    """What a user passes to ``fit``, as it is."""

    X: AnyData
    sample_weight: AnyData | None = None
    covariates: AnyData | None = None
    moderators: AnyData | None = None
    lower: AnyData | None = None
    upper: AnyData | None = None


class DataOpener(BaseEstimator):  # type: ignore[misc]
    """Remembers the columns of a fit, and checks those of other data against them.

    Attributes
    ----------
    covariates_ : CovariateDesign or None
        How covariates become columns.
    """

    covariates_: CovariateDesign | None
    n_features_in_: int
    _whole: ConstantSum | None
    _own_types: dict[str, OwnType]
    _words: Worded
    _row_labels: AnyArray | None

    def _open(self, X: AnyData, *, reset: bool) -> tuple[Rows, str | None]:
        """The rows of X, checked to have the columns of the fit unless this is one; and the data-frame library."""
        rows, frame = open_rows(X), None
        if rows is None:
            rows, frame = self._open_matrix(X, reset=reset)
        else:
            self._check_columns(rows, reset=reset)
        return rows if reset else self._closed(rows), frame

    def _takes_words(self) -> bool:
        """Whether columns of ordered text are read as numbers."""
        return False

    def _check_columns(self, rows: Rows, *, reset: bool) -> None:
        """As scikit-learn does it for arrays: remember the columns, or raise where they are not those of the fit."""
        if reset:
            self.n_features_in_ = rows.n_columns
            if rows.names is not None:
                self.feature_names_in_ = np.array(rows.names, dtype=object)
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            return
        if rows.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {rows.n_columns} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
        if rows.names is not None and rows.names != list(getattr(self, "feature_names_in_", rows.names)):
            raise ValueError("The columns of X must be those of the fit, by name and in the same order.")

    def _open_matrix(self, X: AnyData, *, reset: bool) -> tuple[Rows, str | None]:
        """The rows of data in memory, and the library of the data frame that they came in."""
        words = in_codes(X, None if reset else self._words) if self._takes_words() else in_categories(X)
        given, X = X, words.frame
        table = readable(X)
        if reset:
            self._own_types = own_types(given, words.levels)
            self._words = words._replace(frame=None)
        validate_data(self, X, reset=reset, skip_check_array=True)
        matrix: Array = check_array(
            table.values,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
            estimator=self,
            input_name="X",
        )
        return ArrayRows(matrix, table.names, whole=False), table.library

    def _open_given(self, X: AnyData, covariates: AnyData | None, *, reset: bool) -> Data:
        """The rows of X, with covariates where the fit has some."""
        names = names_of_columns(covariates)
        if reset:
            self.covariates_, self._words = None, Worded(None, {}, {})
        elif self.covariates_ is None:
            if covariates is not None:
                raise UsageError("The fit had no covariates, so none can be given now; fit with them first.")
        elif covariates is None and self.covariates_.from_data:
            names = self.covariates_.names
        elif covariates is None:
            raise UsageError(f"The fit was given the covariates {quoted(self.covariates_.names)}; give them here too.")
        if covariates is None and names is None:
            rows, library = self._open(X, reset=reset)
            return Data(rows, type(self).__name__, library, levels=self._words.levels)
        if names is None:
            rows, library = self._open(X, reset=reset)
            columns = read_covariates(covariates, rows.n_rows)
        else:
            opened = open_rows(X)
            if opened is not None:
                return self._open_named(opened, names, reset=reset)
            rest, columns = split_frame(X, names)
            rows, library = self._open(rest, reset=reset)
        if self.covariates_ is None:
            self.covariates_ = CovariateDesign.of(columns, from_data=names is not None)
        joined = with_columns(rows, self.covariates_.matrix(columns))
        return Data(joined, type(self).__name__, library, given=self.covariates_.terms, levels=self._words.levels)

    def _open_all(self, given: Given) -> Data:
        """The data of a fit, with everything that a user passes."""
        data = self._open_moderated(given.X, given.covariates, given.moderators)
        data = replace(data, sample_weight=given.sample_weight)
        if given.lower is None and given.upper is None:
            return data
        if data.moderators:
            name = data.moderators[0].name
            raise UsageError(f"Limits of cells do not go with moderators such as {name!r}; fit every group by itself.")
        own_rows = data.rows.rows if isinstance(data.rows, MappedRows) and data.given else data.rows
        if not isinstance(own_rows, ArrayRows):
            raise UsageError("Limits of cells need rows in memory; fit a sample of the rows, or leave these out.")
        m = self.n_features_in_
        names = data.rows.names or default_names(m)
        lower, upper = read_limits(given.lower, given.upper, names, data.rows.n_rows)
        X = data.rows.gather(np.asarray).copy()
        own = X[:, :m]
        exact = lower == upper
        own[np.isfinite(lower) | np.isfinite(upper)] = np.nan
        own[exact] = lower[exact]
        limits = np.where(exact, -np.inf, lower), np.where(exact, np.inf, upper)
        return replace(data, rows=ArrayRows(X, data.rows.names, whole=False), limits=limits)

    def _open_moderated(self, X: AnyData, covariates: AnyData | None, moderators: AnyData | None) -> Data:
        """The rows of a fit, with all covariates, those that moderate among them."""
        if moderators is None:
            return self._open_given(X, covariates, reset=True)
        covariates, names = with_moderators(X, covariates, moderators)
        try:
            data = self._open_given(X, covariates, reset=True)
        except ArgumentError as error:
            if error.argument != "covariates" or error.value not in names:
                raise
            raise ArgumentError("moderators", error.value, error.problem) from None
        assert self.covariates_ is not None
        return replace(data, moderators=Moderator.of(self.covariates_, names))

    def _open_named(self, rows: Rows, names: Sequence[str], *, reset: bool) -> Data:
        """Rows that are not in memory, with some of their own columns put last, as covariates: numbers all of them."""
        if rows.names is None or (absent := [name for name in names if name not in rows.names]):
            has = "no names" if rows.names is None else f"no {quoted(absent)}"
            raise UsageError(f"covariates={list(names)!r} are names of columns, and those of X have {has}.")
        own = [k for k, name in enumerate(rows.names) if name not in names]
        order = np.array([*own, *(rows.names.index(name) for name in names)], dtype=np.intp)
        first = rows.mapped(partial(_reordered, order[: len(own)]), len(own))
        first.names = [rows.names[k] for k in own]
        self._check_columns(first, reset=reset)
        if reset:
            self.covariates_ = CovariateDesign(tuple(Covariate(name, "number") for name in names), from_data=True)
        whole = rows.mapped(partial(_reordered, order), order.size)
        whole.names = first.names
        return Data(whole, type(self).__name__, given=names)

    def _own_columns(self, rows: Rows) -> Rows:
        """The rows without covariates."""
        m = self.n_features_in_
        return rows if rows.n_columns == m else rows.mapped(partial(_reordered, np.arange(m)), m)

    def _closed(self, rows: Rows) -> Rows:
        """Compositions divided by what all rows sum to."""
        if self._whole is None:
            return rows
        if rows.n_columns != self.n_features_in_:
            raise UsageError("The rows sum to a constant; with covariates, divide them by their sums before the fit.")
        return self._whole.closed(rows)


def _reordered(order: IntArray, rows: Array) -> Array:
    return rows[:, order]
