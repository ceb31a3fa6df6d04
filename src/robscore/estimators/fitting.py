"""``fit``, the same for every estimator."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

from robscore._tools.typing import AnyData
from robscore.fitting.fit_result import Fit


class FitsRows:
    """What ``fit`` takes and returns; an estimator says in ``_fit`` what is fitted and stored."""

    def fit(
        self,
        X: AnyData,
        y: None = None,
        *,
        sample_weight: AnyData | None = None,
        covariates: AnyData | None = None,
        moderators: AnyData | None = None,
    ) -> Self:
        """Fit the model to data.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m); path of a Parquet file or folder; memory map; Dask collection;
            anything that :class:`robscore.ArrowRows` takes, such as a lazy frame
            Rows that do not fit in ``max_memory`` are read a piece at a time, in every pass over the data.
        y : ignored
        sample_weight : array-like of shape (n,), optional
            How often every row counts: a row of weight 2 counts as two equal rows, one of weight 0 is left out, and
            the sum of all is the number of rows. Survey weights are different; see the docs.
        covariates : data frame, series, dictionary or array of shape (n,) or (n, q); or names of columns of X, optional
            What shifts the locations: numbers, categories (dummies; the first level is the base) or dates (years).
            The interactions are then those given the covariates, and ``effects_`` holds the effects of these.
        moderators : as covariates, or names of columns of X or of covariates, optional
            What changes the interactions: groups (texts, categories) or numbers. ``interaction_for`` gives them at a
            value, ``differences`` tests what changes. They are covariates too.

        Returns
        -------
        self
        """
        self._warn(self._fit(X, sample_weight, covariates, moderators), stacklevel=2)
        return self

    @abstractmethod
    def _fit(
        self, X: AnyData, sample_weight: AnyData | None, covariates: AnyData | None, moderators: AnyData | None
    ) -> Fit:
        """Fit, and store what belongs to the estimator."""

    @staticmethod
    @abstractmethod
    def _warn(fit: Fit, *, stacklevel: int) -> None:
        """Warn of what did not converge."""
