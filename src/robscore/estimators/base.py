"""What every estimator does the same way: open data, store a fit, judge rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from robscore._tools.arguments import check_number
from robscore._tools.errors import ArgumentError, UsageError
from robscore._tools.remarks import Caution
from robscore._tools.typing import AnyData, Array, BoolArray, RandomState
from robscore.certainty.cautions import cautions_of
from robscore.certainty.suspicious_rows import suspicious_rows
from robscore.elements.streamed import elements_of, held
from robscore.families.base import Family, get_family
from robscore.fitting.fit import Fit
from robscore.rows import ArrayRows, Rows
from robscore.rows.blocks import Partition
from robscore.rows.frames import readable
from robscore.rows.opening import open_rows


class ScoreMatchingEstimator(BaseEstimator):  # type: ignore[misc]
    """What all estimators share.

    Attributes
    ----------
    fitted_ : Fit
        The whole fit as one frozen value.
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
    cautions_: list[Caution]

    def _store(self, fit: Fit) -> None:
        """The attributes that every fit has."""
        self.fitted_ = fit
        self.row_weights_ = fit.row_weights
        self.n_rows_used_ = fit.prepared.rows.n_rows
        self.n_blocks_ = fit.weighed.n_blocks
        self.n_blocks_criterion_ = fit.weighed.n_blocks_criterion
        self.share_dropped_ = fit.weights.share_dropped
        if fit.settings.family.is_pairwise:
            self.interaction_, self.location_ = fit.given
        self.cautions_ = cautions_of(fit)

    @staticmethod
    def _warn(fit: Fit, *, stacklevel: int) -> None:
        """Warn of what did not converge, as scikit-learn does; all else is in ``cautions_``."""
        for remark in fit.remarks:
            if remark.category is ConvergenceWarning:
                remark.warn(stacklevel=stacklevel + 1)

    def _open(self, X: AnyData, *, reset: bool) -> tuple[Rows, str | None]:
        """The rows of X, checked to have the columns of the fit unless this is one; and the data-frame library."""
        rows = open_rows(X)
        if rows is None:
            return self._open_matrix(X, reset=reset)
        self._check_columns(rows, reset=reset)
        return rows, None

    def _scaled_rows(self, X: AnyData) -> tuple[Rows, BoolArray]:
        """The complete rows of other data as those of the fit are scaled, and which are complete."""
        rows, _ = self._open(X, reset=False)
        settings, preparation = self.fitted_.settings, self.fitted_.prepared.preparation
        rows = held(rows, preparation.family, settings.memory)
        used = preparation.complete(rows, settings.missing)
        return preparation.scaled(rows, used), used

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
        table = readable(X)
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

    def row_losses(self, X: AnyData) -> Array:
        """Each row's own score-matching loss at the fit, on the scaled columns.

        Large where a row does not fit the model: because of its size or of its dependence.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)

        Returns
        -------
        array of shape (n,)
            NaN for incomplete rows when ``missing="drop"``; infinite for rows that overflow.
        """
        check_is_fitted(self)
        rows, used = self._scaled_rows(X)
        losses = np.full(used.size, np.nan)
        if used.any():
            fit = self.fitted_
            elements = elements_of(fit.prepared.preparation.scaled_family, rows, fit.settings.memory)
            losses[used] = elements.row_losses(*fit.scaled)
        return losses

    def suspicious_rows(self, X: AnyData | None = None, *, level: float = 0.01) -> AnyData:
        """Rows from the most to the least surprising under the fit, those flagged that hardly belong to the model.

        A row's score is -log p(x) at the fit without shrinkage, up to a constant. It sees rows that are too large as
        well as rows of ordinary size with the wrong dependence. (The estimator keeps the rows of its fit for this, or
        where they are.)

        Parameters
        ----------
        X : array-like or data frame of shape (n, m), optional
            By default the data of the fit.
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
        rows, used = self._scaled_rows(X)
        if not used.any():
            raise UsageError("X has no complete row to look at.")
        return suspicious_rows(fit, rows, np.flatnonzero(used), level=level)

    def score(self, X: AnyData, y: None = None) -> float:
        """Minus the median of means of the rows' losses; higher is better.

        Uses min(n_blocks_, rows) blocks, so that bad rows in X do not decide; with n_blocks=1 it is
        minus the mean. Minus infinity where half of the blocks or more hold a row that overflows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        y : ignored
        """
        losses = self.row_losses(X)
        losses = losses[~np.isnan(losses)]
        if losses.size == 0:
            raise ValueError("X has no complete row to score.")
        partition = Partition.even(losses.size, min(self.n_blocks_, losses.size))
        return -float(np.median(partition.means(losses)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "drop"
        tags.input_tags.positive_only = get_family(self.family).domain.is_non_negative
        return tags
