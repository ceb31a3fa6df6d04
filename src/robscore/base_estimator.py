"""What every estimator does before and after its own minimisation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from robscore._remarks import Remark
from robscore._typing import AnyData, Array, BoolArray, RandomState
from robscore._validation import default_names, readable
from robscore.elements import Elements
from robscore.families.base import Family, get_family
from robscore.medians.blocks import Partition, check_contamination, check_n_blocks, make_blocks, n_blocks_for
from robscore.preparation import Preparation, prepare, rows_to_use
from robscore.row_weights import weigh_rows
from robscore.solvers.loss import Loss


class ScoreMatchingEstimator(BaseEstimator):  # type: ignore[misc]
    """Validation, scaling, row weights and row losses, shared by all estimators."""

    family: str | Family
    contamination: float
    n_blocks: int | None
    shuffle: bool
    n_partitions: int
    fit_location: bool
    scale: Literal["median"] | None
    missing: Literal["raise", "drop"]
    random_state: RandomState

    def _robust_loss(self, X: AnyData) -> tuple[Loss, Elements, list[Remark]]:
        """Rows -> elements -> row weights -> loss; stores what was learnt on the way."""
        family = get_family(self.family)
        matrix, used = self._read(X, reset=True)
        n = int(np.count_nonzero(used))
        if n < 2:
            raise ValueError(f"Found {n} complete row(s) in X; at least 2 are needed.")
        check_contamination(self.contamination)
        self._check_arguments(matrix.shape[1])
        if not (self.fit_location or family.is_pairwise):
            raise ValueError(f"fit_location=False: {family!r} has no location to leave out; leave out a statistic.")
        redundant = family.redundancy(fit_location=self.fit_location)
        if redundant:
            raise ValueError(redundant)
        self.n_blocks_ = n_blocks_for(n, self.contamination) if self.n_blocks is None else self.n_blocks
        check_n_blocks(self.n_blocks_, n)
        preparation, rows = prepare(
            family,
            matrix,
            used,
            self._column_names,
            scale=self.scale,
            fit_location=self.fit_location,
            caller=type(self).__name__,
        )
        self._preparation: Preparation = preparation
        elements = preparation.scaled_family.elements(rows)
        elements.check_statistics()
        weights, remarks = weigh_rows(
            elements,
            self.n_blocks_,
            n_partitions=self.n_partitions,
            shuffle=self.shuffle,
            random_state=self.random_state,
        )
        self.row_weights_ = np.zeros((matrix.shape[0], 2))
        self.row_weights_[used] = np.column_stack(weights)
        self._used = np.flatnonzero(used)
        self.n_rows_used_ = n
        return elements.average(*weights), elements, remarks

    def _check_arguments(self, n_columns: int) -> None:
        """Raise on arguments that make no sense for so many columns, before any work is done."""

    def _read(self, X: AnyData, *, reset: bool) -> tuple[Array, BoolArray]:
        """X as a float matrix, and which of its rows are complete."""
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
        if reset:
            self._column_names = table.names or default_names(matrix.shape[1])
            self._frame = table.library
        return matrix, rows_to_use(matrix, self._column_names, self.missing)

    def _store(self, *parameters: Array) -> None:
        """Keep the parameters of the scaled columns, and those of the given ones."""
        self._scaled_parameters = parameters
        given = self._preparation.unscale(parameters)
        if self._preparation.family.is_pairwise:
            self.interaction_, self.location_ = given
        else:
            (self.theta_,) = given

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
        matrix, used = self._read(X, reset=False)
        losses = np.full(matrix.shape[0], np.nan)
        elements = self._preparation.scaled_family.elements(self._preparation.rows(matrix, used))
        losses[used] = elements.row_losses(*self._scaled_parameters)
        return losses

    def score(self, X: AnyData, y: None = None) -> float:
        """Minus the median of means of the rows' losses; higher is better.

        Uses min(n_blocks_, rows) blocks, so that bad rows in X do not decide; with n_blocks=1 it is
        minus the mean.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        y : ignored
        """
        losses = self.row_losses(X)
        losses = losses[~np.isnan(losses)]
        if losses.size == 0:
            raise ValueError("X has no complete row to score.")
        blocks = make_blocks(losses.size, min(self.n_blocks_, losses.size))
        return -float(np.median(Partition.from_blocks(blocks).means(losses)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "drop"
        tags.input_tags.positive_only = get_family(self.family).domain.is_non_negative
        return tags
