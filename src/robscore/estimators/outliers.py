"""Rows judged, under scikit-learn's names: score_samples, decision_function, predict."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import UsageError
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.certainty.suspicious_rows import RowScores, row_scores
from robscore.fitting.fit_result import Fit
from robscore.rows import Rows

_LEVEL = 0.01  # of good rows that may be flagged, as suspicious_rows has it


class JudgesRows:
    """The methods of outlier detectors, for estimators that keep their fit.

    It is not an ``OutlierMixin``: that promises an exact share of outliers, while here the data decide.
    """

    fitted_: Fit

    def _scaled_rows(self, X: AnyData, covariates: AnyData | None) -> tuple[Rows, BoolArray]:
        raise NotImplementedError

    def _judged(self, X: AnyData, covariates: AnyData | None) -> RowScores:
        """Scores of all rows; NaN for incomplete ones."""
        check_is_fitted(self)
        if isinstance(X, np.ndarray) and X.ndim == 1:
            raise UsageError("X must be a table of rows, but it has one dimension. Reshape your data: X.reshape(1, -1)")
        rows, used = self._scaled_rows(X, covariates)
        density, margin = np.full(used.size, np.nan), np.full(used.size, np.nan)
        if used.any():
            with np.errstate(all="ignore"):
                density[used], margin[used] = row_scores(self.fitted_, rows, level=_LEVEL)
        return RowScores(density, margin)

    def score_samples(self, X: AnyData, *, covariates: AnyData | None = None) -> Array:
        """The log density of every row at the fit without shrinkage, up to a constant: large for ordinary rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        covariates : as in ``fit``, if the fit had some

        Returns
        -------
        array of shape (n,)
            Minus the score of ``suspicious_rows``; NaN for incomplete rows when ``missing="drop"``.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> model = rs.RobustGraph("gaussian").fit(X)
        >>> int(model.score_samples([[0, 0, 0], [5, 5, 5]]).argmax())
        0
        """
        return self._judged(X, covariates).log_density

    def decision_function(self, X: AnyData, *, covariates: AnyData | None = None) -> Array:
        """How far every row lies above the limit: below zero for those that ``predict`` calls -1.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        covariates : as in ``fit``, if the fit had some

        Returns
        -------
        array of shape (n,)
        """
        return self._judged(X, covariates).margin

    def predict(self, X: AnyData, *, covariates: AnyData | None = None) -> IntArray:
        """1 for rows that fit, -1 for those that ``suspicious_rows`` flags, which includes about 1 % of the good rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        covariates : as in ``fit``, if the fit had some

        Returns
        -------
        integer array of shape (n,)
            -1 for incomplete rows when ``missing="drop"``.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> rs.RobustGraph("gaussian").fit(X).predict([[0, 0, 0], [9, 0, 0]]).tolist()
        [1, -1]
        """
        return np.where(self._judged(X, covariates).margin >= 0, 1, -1)
