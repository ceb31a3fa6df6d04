"""What estimators say of rows and cells: losses, scores, which are suspicious, what stands in missing cells."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import ArgumentError, UsageError
from robscore._tools.numbers import check_number, check_whole
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.certainty.imputations import completed_once, imputations, latent_once
from robscore.certainty.observed_losses import losses_under_margins, observed_losses, observed_rows, rows_to_judge
from robscore.certainty.suspicious_cells import suspicious_cells
from robscore.certainty.suspicious_rows import RowScores, row_scores, suspicious_rows
from robscore.certainty.unusual_values import in_numbers
from robscore.elements.streamed import elements_of, held
from robscore.estimators.data_opener import DataOpener
from robscore.families.power import PowerFamily
from robscore.family_choice.common_loss import is_comparable
from robscore.family_choice.common_score import CommonScore
from robscore.fitting.fit_result import Fit
from robscore.fitting.settings import Missing
from robscore.rows import Rows
from robscore.rows.input_data import read_frequency
from robscore.rows.own_types import in_own_types
from robscore.rows.partition import Partition
from robscore.rows.row_source import some_of
from robscore.rows.tables import row_labels

_LEVEL = 0.01  # of good rows that ``predict`` may flag, as ``suspicious_rows`` has it


class JudgesRows(DataOpener):
    """Methods about rows, under scikit-learn's names where it has them.

    It is not an ``OutlierMixin``: that promises an exact share of outliers, while here the data decide.
    """

    fitted_: Fit
    missing: Missing

    def row_losses(self, X: AnyData, *, covariates: AnyData | None = None) -> Array:
        """Each row's own score-matching loss at the fit, on the scaled columns.

        Large where a row does not fit the model: because of its size or of its dependence. Of the copula it is the
        loss of the latent numbers, under the margins of the fit: cells known to an interval, and missing ones, are
        completed several times by what the rows of X themselves say of how columns go together, not by the fit.

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        covariates : as in ``fit``, if the fit had some
            Not needed where they are columns of X.

        Returns
        -------
        array of shape (n,)
            Infinite for rows that overflow. After ``missing="impute"`` or ``cells=True`` the loss of a row with
            missing cells is that of the entries whose cells were observed, each over the share of the rows of X in
            which it is (so that means over rows are means entry by entry), the others as on average; NaN where nothing
            was observed, or a covariate is missing. With other ``missing``, and families whose weights depend on other
            columns (the simplex), NaN for incomplete rows.
        """
        check_is_fitted(self)
        fit = self.fitted_
        preparation, memory = fit.prepared.preparation, fit.settings.memory
        rows = self._open_given(X, covariates, reset=False).rows
        if preparation.has_margins:
            return self._latent_losses(rows)
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
            row (its position in X, from 0), label (in the index of a data frame, unless that counts from 0), flagged,
            variables (what makes the row stand out, with the values between which 95 % of the rows lie; for flagged
            rows and the first 20), why (how a flagged row is bad, after reweighting: too large, too small, one column,
            wrong dependence, in a cluster of so many, or too likely), together (what the dropped rows are as a whole:
            scattered, one column, in one place, or a group of so many, which may be real), p_value (share of rows of
            the model that are at least as surprising), rank, score. Flagged rows first. Without incomplete rows. In
            the data-frame library of the input.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> X = np.random.default_rng(0).normal(size=(200, 3))
        >>> X[7] = [0, 9, 0]
        >>> table = rs.RobustGraph("gaussian").fit(X).suspicious_rows()
        >>> int(table["row"][0]), bool(table["flagged"][0]), str(table["variables"][0])
        (7, True, 'x1 9.0, usually -1.6 to 2.0')
        """
        check_is_fitted(self)
        check_number("level", level)
        if not 0 < level < 1:
            raise ArgumentError("level", level, "must lie between 0 and 1: it is the share of good rows flagged.")
        fit = self.fitted_
        if X is None:
            own, labels = fit.prepared.to_judge, self._row_labels
            return suspicious_rows(fit, own, fit.used, level=level, labels=labels, called=self._called)
        rows, used = self._scaled_rows(X, covariates, fill=True)
        if not used.any():
            raise UsageError("X has no complete row to look at.")
        numbers = np.flatnonzero(used)
        given = self._open_given(X, covariates, reset=False).rows.selected(numbers)
        labels = row_labels(X)
        return suspicious_rows(fit, rows, numbers, level=level, given=given, labels=labels, called=self._called)

    def suspicious_cells(self) -> AnyData:
        """Cells that look wrong, given the rest of their row, most likely first; for a fit with ``cells=True``.

        Returns
        -------
        table with columns
            row (its position in X, from 0), column, value, expected (the median of what the rest of the row says),
            expected_low, expected_high (between which 95 % lie), probability (that the cell is wrong), flagged (more
            likely wrong than not). All flagged cells, and at least the 20 most suspicious. Of a column of words the
            values are the places of its words in their order, from 0.

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
            Truth values, ordered categories and whole numbers have the types that they had there, where every value
            is one, as after a fit of the copula.

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
        given = None
        if X is not None:
            given = self._open_given(X, covariates, reset=False).rows.gather(np.asarray)
        types = getattr(self, "_own_types", {})  # rows that are not in memory have none
        return [in_own_types(table, types) for table in imputations(self.fitted_, k, given)]

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
        ``min(n_blocks_, rows)`` blocks, and cannot be compared with others. So is the copula, by its latent numbers
        (see ``row_losses``): fits to the same rows can be compared, as in a search over penalties, since they have the
        same margins.

        Minus infinity if no row counts, or too many overflow. After ``missing="impute"`` or
        ``cells=True`` rows with missing cells are scored by their observed cells, never by what a fit filled in: every
        entry of the loss is a mean over the rows in which its cells were observed. (Only row weights come from
        completed rows: by a normal distribution of columns made symmetric, the same for all families.)

        Parameters
        ----------
        X : array-like or data frame of shape (n, m)
        y : ignored
        sample_weight : array-like of shape (n,), optional
            Frequencies of the rows, as in ``fit``.
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
        frequency = None if sample_weight is None else read_frequency(sample_weight, rows.n_rows)
        used = np.flatnonzero(rows_to_judge(self.fitted_, rows)[0])
        if not used.size:
            raise ValueError("X has no complete row to score.")
        counts = np.ones(used.size) if frequency is None else frequency[used]
        with np.errstate(all="ignore"):
            common_score = CommonScore.of(own, is_real=is_real)
            return common_score.score(family, self.fitted_.given, rows.selected(used), counts)

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

    def _called(self, name: str, value: float, decimals: int) -> str:
        """What a value of a column is called: its word where the column came in words."""
        levels = self._words.levels.get(name)
        return levels[round(value)] if levels and 0 <= round(value) < len(levels) else in_numbers(name, value, decimals)

    def _own_score(self, X: AnyData, sample_weight: AnyData | None, covariates: AnyData | None) -> float:
        """By the family's own loss."""
        losses = self.row_losses(X, covariates=covariates)
        frequency = None if sample_weight is None else read_frequency(sample_weight, losses.size)
        counted = np.flatnonzero(~np.isnan(losses) & (True if frequency is None else frequency > 0))
        losses, frequency = losses[counted], some_of(frequency, counted)
        if losses.size == 0:
            raise ValueError("X has no complete row to score.")
        partition = Partition.even(losses.size, min(self.n_blocks_, losses.size), frequency=frequency)
        return -float(np.median(partition.means(losses)))

    def _latent_losses(self, rows: Rows) -> Array:
        """Losses of latent numbers, shape (n,); NaN where nothing is known of a row."""
        fit, losses = self.fitted_, np.full(rows.n_rows, np.nan)
        if fit.n_given:
            raise UsageError(
                "score() and row_losses() are not known for the copula with covariates: rows that are judged are "
                "completed by what they themselves say, which is too little for effects. edge_stability(X, "
                "covariates=...) compares graphs of halves of the rows."
            )
        X = rows.gather(np.asarray)
        used = ~np.isnan(X).all(axis=1)
        if fit.settings.missing != "impute":
            used &= fit.prepared.preparation.complete(rows, fit.settings.missing)
        if not used.any():
            raise ValueError(f"X has {used.size} rows, all with missing cells, so there is none to judge.")
        losses[used] = losses_under_margins(fit, X[used])
        return losses

    def _scaled_rows(self, X: AnyData, covariates: AnyData | None, *, fill: bool = False) -> tuple[Rows, BoolArray]:
        """The complete rows of other data, scaled like the fit's, and which they are; or all rows, filled in."""
        rows = self._open_given(X, covariates, reset=False).rows
        settings, preparation = self.fitted_.settings, self.fitted_.prepared.preparation
        if preparation.has_margins:
            if fill and self.missing == "impute":
                used = ~np.asarray(rows.gather(partial(_without_value, len(self.fitted_.names))))
            else:
                used = preparation.complete(rows, settings.missing)
            return latent_once(self.fitted_, rows.selected(np.flatnonzero(used))), used
        if fill and self.missing == "impute":
            rows = completed_once(self.fitted_, rows)
        rows = held(rows, preparation.family, settings.memory)
        used = preparation.complete(rows, settings.missing)
        return preparation.scaled(rows, used), used

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


def _without_value(m: int, X: Array) -> BoolArray:
    return np.asarray(np.isnan(X[:, :m]).all(axis=1))


def _count_negative(X: Array) -> int:
    return int(np.count_nonzero(X < 0))
