"""scikit-learn estimators: validate, call one arrow after the other, store. No mathematics here."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from robscore._typing import AnyData, Array, BoolArray, RandomState
from robscore._validation import default_names, readable
from robscore.elements import PairwiseElements
from robscore.families.base import Family, get_family
from robscore.medians.blocks import Partition, check_contamination, check_n_blocks, make_blocks, n_blocks_for
from robscore.preparation import Preparation, prepare, rows_to_use
from robscore.row_weights import robust_weights
from robscore.solvers.loss import QuadraticLoss
from robscore.solvers.unpenalised import SingularLossError, dependent_columns, solve_unpenalised


class _ScoreMatching(BaseEstimator):  # type: ignore[misc]
    """What every estimator does before and after its own minimisation."""

    family: str | Family
    contamination: float
    n_blocks: int | None
    shuffle: bool
    n_partitions: int
    fit_location: bool
    scale: Literal["median"] | None
    missing: Literal["raise", "drop"]
    random_state: RandomState

    def _robust_loss(self, X: AnyData) -> tuple[QuadraticLoss, PairwiseElements]:
        """Rows -> elements -> row weights -> loss; stores what was learnt on the way."""
        family = get_family(self.family)
        matrix, used = self._read(X, reset=True)
        n = int(np.count_nonzero(used))
        if n < 2:
            raise ValueError(f"Found {n} complete row(s) in X; at least 2 are needed.")
        check_contamination(self.contamination)
        self.n_blocks_ = n_blocks_for(n, self.contamination) if self.n_blocks is None else self.n_blocks
        check_n_blocks(self.n_blocks_, n)
        self._preparation: Preparation = prepare(
            family,
            matrix,
            used,
            self._column_names,
            scale=self.scale,
            fit_location=self.fit_location,
            caller=type(self).__name__,
        )
        elements = self._preparation.scaled_family.elements(self._preparation.rows(matrix, used))
        weights = robust_weights(
            elements,
            self.n_blocks_,
            n_partitions=self.n_partitions,
            shuffle=self.shuffle,
            random_state=self.random_state,
        )
        self.row_weights_ = np.zeros((matrix.shape[0], 2))
        self.row_weights_[used] = np.column_stack(weights)
        self.n_rows_used_ = n
        return elements.average(*weights), elements

    def _read(self, X: AnyData, *, reset: bool) -> tuple[Array, BoolArray]:
        """X as a float matrix, and which of its rows are complete."""
        X, names = readable(X)
        matrix: Array = validate_data(
            self,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
        )
        if reset:
            self._column_names = names or default_names(matrix.shape[1])
        return matrix, rows_to_use(matrix, self._column_names, self.missing)

    def _store(self, interaction: Array, location: Array) -> None:
        """Keep the parameters of the scaled columns, and those of the given ones."""
        self._scaled_parameters = (interaction, location)
        self.interaction_, self.location_ = self._preparation.unscale(interaction, location)

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


class RobustScoreMatching(_ScoreMatching):
    """Robust score matching without a penalty: theta-hat(K) = Gamma-hat^-1 g-hat (section 3.2 of the paper).

    Gamma-hat and g-hat are geometric medians of the means of K blocks of rows, so a bad row spoils at
    most one block. Needs more rows than columns.

    Parameters
    ----------
    family : str or Family, default "sqrt"
        "gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", or an object of ``rs.families``.
    contamination : float, default 0.05
        Share of bad rows to guard against; sets ``n_blocks`` to 4 * contamination * n when that is None.
    n_blocks : int, optional
        K. 1 is classic score matching; more blocks stand more bad rows but add bias on skewed data.
    shuffle : bool, default False
        Cut a random order of the rows into blocks instead of the given one.
    n_partitions : int, default 1
        With more than one, average the row weights over that many random partitions.
    fit_location : bool, default True
        Estimate eta; otherwise it is zero.
    scale : {"median", None}, default "median"
        Fit on robustly scaled columns, so that units do not matter, and map the parameters back.
    missing : {"raise", "drop"}, default "raise"
        What to do about rows with missing values.
    random_state : int, Generator or None
        For shuffled and repeated partitions.

    Attributes
    ----------
    interaction_ : array of shape (m, m)
        K, precision-like and symmetric: negative off the diagonal is positive association.
    location_ : array of shape (m,)
        eta.
    theta_ : array of shape (m(m+1)/2 + m,), or m(m+1)/2 without location
        The free parameters: K's upper triangle row by row, then eta.
    row_weights_ : array of shape (n, 2)
        What each row counts in Gamma-hat and in g-hat; each column sums to one.
    n_blocks_ : int
    n_rows_used_ : int
        Rows without missing values.
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
        contamination: float = 0.05,
        n_blocks: int | None = None,
        shuffle: bool = False,
        n_partitions: int = 1,
        fit_location: bool = True,
        scale: Literal["median"] | None = "median",
        missing: Literal["raise", "drop"] = "raise",
        random_state: RandomState = None,
    ) -> None:
        self.family = family
        self.contamination = contamination
        self.n_blocks = n_blocks
        self.shuffle = shuffle
        self.n_partitions = n_partitions
        self.fit_location = fit_location
        self.scale = scale
        self.missing = missing
        self.random_state = random_state

    def fit(self, X: AnyData, y: None = None) -> Self:
        """Estimate the parameters.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        y : ignored
        """
        loss, _ = self._robust_loss(X)
        try:
            interaction, location = solve_unpenalised(loss, fit_location=self.fit_location)
        except SingularLossError as error:
            raise ValueError(self._singular_message(loss, str(error))) from None
        self._store(interaction, location)
        upper = self.interaction_[np.triu_indices(loss.n_columns)]
        self.theta_ = np.append(upper, self.location_) if self.fit_location else upper
        return self

    def _singular_message(self, loss: QuadraticLoss, reason: str) -> str:
        counted = int(np.count_nonzero(self.row_weights_[:, 0]))
        needed = loss.n_columns + bool(self.fit_location)
        singular = f"Gamma-hat is singular ({reason}), so the estimate without a penalty does not exist. "
        if counted >= needed:
            columns = dependent_columns(loss)
            named = ", ".join(repr(self._column_names[j]) for j in columns[:5]) or "a column and the location"
            return singular + (
                f"Linearly dependent, nearly so, or far from zero for their spread: {named}. Drop one of them, keep "
                "scale='median', or add a penalty with RobustGraph."
            )
        return singular + (
            f"It needs at least {needed} different rows with positive weight, and {counted} of {self.n_rows_used_} "
            "rows have one. "
            f"Give more rows or fewer columns, use fewer blocks (n_blocks={self.n_blocks_} now; when the median "
            "falls on a single block only its rows count), or add a penalty with RobustGraph."
        )
