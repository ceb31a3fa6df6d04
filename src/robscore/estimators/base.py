"""What every estimator does before and after its own minimisation."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from robscore._tools.arguments import check_number, read_bytes
from robscore._tools.progress import stage, tell
from robscore._tools.remarks import Remark
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray, RandomState
from robscore.certainty.suspicious_rows import report_rows, rows_to_explain, telling_variables, usual_rows
from robscore.elements import Elements
from robscore.elements.base import Storage
from robscore.elements.streamed import check_memory, elements_of, held
from robscore.families.base import Family, NoDensityError, Parameters, get_family
from robscore.fitting.prepare import Preparation, prepare
from robscore.losses.quadratic import Loss
from robscore.rows import ArrayRows, Rows
from robscore.rows.blocks import Partition, check_contamination, check_n_blocks, n_blocks_for
from robscore.rows.frames import readable
from robscore.rows.inspection import inspect
from robscore.rows.names import default_names
from robscore.rows.opening import open_rows
from robscore.rows.tables import Kind, as_table
from robscore.selection.blocks import block_grid, choose_n_blocks, least_blocks
from robscore.weighting.reweighting import START_CONTAMINATION, Reweighted, reweigh
from robscore.weighting.row_weights import Products, RowWeights, shared_products, weigh_rows
from robscore.weighting.taper import Taper

_FEWEST_REWEIGHTED = 20  # rows; fewer say too little about each other
_MUCH = 0.28  # share of rows left out that is worth a remark


class ScoreMatchingEstimator(BaseEstimator):  # type: ignore[misc]
    """Validation, scaling, row weights and row losses, shared by all estimators."""

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
    _judged_by: Parameters
    _loss_storage: Storage = "auto"

    def _robust_loss(self, X: AnyData) -> tuple[Loss, Elements, list[Remark]]:
        """Rows -> elements -> row weights -> loss; stores what was learnt on the way."""
        family = get_family(self.family)
        rows = self._open(X, reset=True)
        looked_at = inspect(rows, family)
        looked_at.check_complete(self._column_names, self.missing)
        used = looked_at.complete
        n = int(np.count_nonzero(used))
        if n < 2:
            raise ValueError(f"Found {n} complete row(s) in X; at least 2 are needed.")
        if self.contamination is not None:
            check_contamination(self.contamination)
        if self.reweight is not None and not isinstance(self.reweight, bool | np.bool_ | int):
            raise ValueError(f"reweight={self.reweight!r} must be True, False or None (where nothing else is said).")
        self._check_arguments(rows.n_columns)
        if not (self.fit_location or family.is_pairwise):
            raise ValueError(f"fit_location=False: {family!r} has no location to leave out; leave out a statistic.")
        redundant = family.redundancy(fit_location=self.fit_location)
        if redundant:
            raise ValueError(redundant)
        self.n_blocks_ = self._first_n_blocks(n)
        rows = held(rows, family, self._memory, self._loss_storage)
        check_memory(family, rows, self._loss_storage, self._memory)
        preparation, rows = prepare(
            family,
            rows,
            looked_at,
            self._column_names,
            scale=self.scale,
            fit_location=self.fit_location,
            caller=type(self).__name__,
        )
        self._preparation: Preparation = preparation
        elements = elements_of(preparation.scaled_family, rows, self._memory)
        elements.check_statistics()
        elements.storage = self._loss_storage
        self._complete = used
        self._rows = rows
        self.n_rows_used_ = n
        self._taper: Taper | None = None
        self.share_dropped_: float | None = None
        self.n_blocks_criterion_: dict[int, float] | None = None
        tell(f"weighing {self.n_blocks_} blocks of rows")
        weights, remarks = self._weigh(elements, self.n_blocks_)
        loss: Loss = elements.average(*weights)
        if (self._reweights or self.n_blocks == "auto") and n >= _FEWEST_REWEIGHTED:
            with stage("looking for bad rows"):
                found = self._reweigh(elements, rows, loss)
            if isinstance(found, Remark):
                remarks = [*remarks, found]
            elif self._reweights:
                self._taper, loss = found.taper, found.loss
                self.share_dropped_ = float(np.mean(found.taper.weights == 0))
                share = found.taper.weights / found.taper.weights.sum()
                weights, remarks = RowWeights(share, share), self._remarks_on(self.share_dropped_)
            else:
                weights, remarks = self._choose_n_blocks(elements, found)
                loss = elements.average(*weights)
        self.row_weights_ = np.zeros((used.size, 2))
        for column, part in enumerate(weights):
            self.row_weights_[used, column] = part
        return loss, elements, remarks

    def _remarks_on(self, dropped: float) -> list[Remark]:
        """What to say where much, a share of the rows, was left out."""
        if dropped <= _MUCH:
            return []
        words = (
            f"{dropped:.0%} of the rows were left out, because {self._preparation.family!r} does not describe them. "
            "If so many are not bad, try another family, or reweight=False."
        )
        return [Remark(words, UserWarning)]

    def _first_n_blocks(self, n: int) -> int:
        """K as given, or by the contamination; to start with where the data are to decide."""
        if self.n_blocks is None or self.n_blocks == "auto":
            return n_blocks_for(n, START_CONTAMINATION if self.contamination is None else self.contamination)
        if isinstance(self.n_blocks, str):
            raise ValueError(f"n_blocks={self.n_blocks!r} is not known; use 'auto', None or a number.")
        check_n_blocks(self.n_blocks, n)
        return self.n_blocks

    @property
    def _reweights(self) -> bool:
        """Whether rows are reweighted: by default where nothing is said of blocks or bad rows."""
        return self.n_blocks is None and self.contamination is None if self.reweight is None else self.reweight

    def _weigh(
        self, elements: Elements, n_blocks: int, products: Products | None = None
    ) -> tuple[RowWeights, list[Remark]]:
        """Row weights of blocks; where the number of blocks is not the user's, of the rows that do not overflow."""
        kept: IntArray | None = None
        if self.n_blocks is None and self.contamination is None and elements.overflow.any():
            kept = np.flatnonzero(~elements.overflow)
            if 2 * kept.size <= elements.n_rows:
                elements.check_no_overflow(np.arange(elements.n_rows))
            elements, n_blocks = elements.subset(kept), max(1, round(n_blocks * kept.size / elements.n_rows))
        weights, remarks = weigh_rows(
            elements,
            n_blocks,
            n_partitions=self.n_partitions,
            shuffle=self.shuffle,
            random_state=self.random_state,
            products=products,
        )
        if kept is None:
            return weights, remarks
        whole = np.zeros((2, self.n_rows_used_))
        whole[:, kept] = weights
        return RowWeights(whole[0], whole[1]), remarks

    def _reweigh(self, elements: Elements, rows: Rows, loss: Loss) -> Reweighted | Remark:
        """What the surprise of the rows says, starting from the fit of a robust loss; or why it says nothing."""
        family = self._preparation.scaled_family

        def fit(loss: Loss) -> Parameters:
            return self._first_fit(loss, elements)

        blocks = f"the weights are those of n_blocks={self.n_blocks_}; give n_blocks or contamination to silence this."
        try:
            if not family.is_natural:
                raise NoDensityError(
                    f"Rows of {self._preparation.family!r}, with its base density, are not reweighted."
                )
            found = reweigh(elements, rows, family, fit(loss), fit)
        except NoDensityError as error:
            return Remark(f"{error} So {blocks}", UserWarning)
        if not found.failed:
            return found
        words = (
            f"Nearly half of the rows do not look like {self._preparation.family!r}, so bad rows cannot be told by it; "
            f"try another family. For now {blocks}"
        )
        return Remark(words, UserWarning)

    def _choose_n_blocks(self, elements: Elements, found: Reweighted) -> tuple[RowWeights, list[Remark]]:
        """Row weights of the K that the reweighted loss likes best."""
        products = shared_products(elements)
        weights: dict[int, tuple[RowWeights, list[Remark]]] = {}

        def loss_of(n_blocks: int) -> Loss:
            weights[n_blocks] = self._weigh(elements, n_blocks, products)
            return elements.average(*weights[n_blocks][0])

        self.n_blocks_criterion_ = choose_n_blocks(
            block_grid(elements.n_rows), loss_of, lambda loss: self._fit_like(loss, found.parameters), found.loss
        )
        self.n_blocks_ = least_blocks(self.n_blocks_criterion_)
        return weights[self.n_blocks_]

    @abstractmethod
    def _first_fit(self, loss: Loss, elements: Elements) -> Parameters:
        """Parameters, without shrinkage, that a loss leads to; to judge rows by."""

    @abstractmethod
    def _fit_like(self, loss: Loss, parameters: Parameters) -> Parameters:
        """The minimum of a loss over the parameters that are not zero in those given."""

    def _check_arguments(self, n_columns: int) -> None:
        """Raise on arguments that make no sense for so many columns, before any work is done."""

    def _read(self, X: AnyData) -> tuple[Rows, BoolArray]:
        """Rows like those of the fit, and which of them are complete."""
        rows = self._open(X, reset=False)
        return held(rows, self._preparation.family, self._memory), self._preparation.complete(rows, self.missing)

    @property
    def _used(self) -> IntArray:
        """Positions of the rows of the fit that are complete."""
        return np.flatnonzero(self._complete)

    @property
    def _memory(self) -> float:
        """Bytes that elements of rows and sums over blocks may take."""
        return read_bytes("max_memory", self.max_memory)

    def _open(self, X: AnyData, *, reset: bool) -> Rows:
        """The rows of X, which are checked to have the columns of the fit unless this is one."""
        read_bytes("max_memory", self.max_memory)
        rows = open_rows(X)
        library: str | None = None
        if rows is None:
            rows, library = self._open_matrix(X, reset=reset)
        else:
            self._check_columns(rows, reset=reset)
        if reset:
            self._column_names = rows.names or default_names(rows.n_columns)
            self._frame = library
        return rows

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
        rows, used = self._read(X)
        losses = np.full(used.size, np.nan)
        if not used.any():
            return losses
        elements = elements_of(self._preparation.scaled_family, self._preparation.scaled(rows, used), self._memory)
        losses[used] = elements.row_losses(*self._scaled_parameters)
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
            other rows it may be more where the fit has few rows a column). From 4000 rows simulated from the fit, 1000
            for families that are sampled by chains, so levels below about 0.001 cannot be had; one standard error
            of that simulation is left as a margin. Where the fit cannot be sampled, rows are flagged that stand out,
            and ``p_value`` is NaN.

        Returns
        -------
        table with columns
            row (its position in X, from 0), score, p_value (share of rows of the model that are at least as
            surprising), rank, flagged, variables (what makes the row stand out, for flagged rows and the first 20).
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
            raise ValueError(f"level={level!r} must lie between 0 and 1: it is the share of good rows flagged.")
        preparation = self._preparation
        family = preparation.scaled_family
        usual = usual_rows(family, self._rows, self._judged_by, self.row_weights_[self._used, 0])
        if X is None:
            numbers, rows = self._used, self._rows
        else:
            given, used = self._read(X)
            if not used.any():
                raise ValueError("X has no complete row to look at.")
            numbers, rows = np.flatnonzero(used), preparation.scaled(given, used)
        report = report_rows(family, rows, usual, level=level)
        variables = np.full(rows.n_rows, "", dtype=object)
        if family.is_pairwise:
            which = rows_to_explain(report)
            variables[which] = telling_variables(family, rows.take(which), usual, self._column_names)
        order = report.order
        columns: dict[str, tuple[Kind, Any]] = {
            "row": (int, numbers[order]),
            "score": (float, report.score[order]),
            "p_value": (float, report.p_value[order]),
            "rank": (int, np.arange(1, order.size + 1)),
            "flagged": (bool, report.flagged[order]),
            "variables": (str, variables[order]),
        }
        return as_table(columns, self._frame)

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
        partition = Partition.even(losses.size, min(self.n_blocks_, losses.size))
        return -float(np.median(partition.means(losses)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "drop"
        tags.input_tags.positive_only = get_family(self.family).domain.is_non_negative
        return tags
