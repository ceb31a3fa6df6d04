"""First stage: from the data a user has to scaled rows that a family accepts, and every refusal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from robscore._tools.messages import Setting, UsageError, quoted
from robscore._tools.typing import AnyData, Array, BoolArray, IntArray
from robscore.cells.filled_cells import FilledCells
from robscore.cells.filled_streams import rows_to_judge
from robscore.elements import Elements
from robscore.elements.streamed import check_memory, elements_of, held
from robscore.families.copula import Margins
from robscore.families.family import Family, Parameters, Scaling
from robscore.families.given_covariates import GivenCovariates
from robscore.fitting.moderator_units import Placed, check_present, place_moderators
from robscore.fitting.settings import Settings
from robscore.losses.quadratic import location_rows
from robscore.rows.covariate_columns import Moderator
from robscore.rows.input_data import check_total, with_frequency
from robscore.rows.inspection import Inspection, inspect
from robscore.rows.quantiles import column_quantiles
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import default_names

_LEAST_UNIT, _LARGEST_UNIT = 1e-290, 1e290  # between which K in the units of the data can be held
_LEAST_SIZE, _LARGEST_SIZE = 1e-30, 1e30  # of columns that are not scaled: powers of them are multiplied with others
_ORDINARY = 1e10  # columns within so much of 1 need no closer look


@dataclass(frozen=True, eq=False)
class Data:
    """What a user gives to ``fit``, opened.

    Attributes
    ----------
    rows : Rows
        Covariates are the last columns.
    caller : str
        Name of the estimator, for messages.
    frame : name of the data-frame library that the rows came in, or None
    sample_weight : frequencies of the rows, as given, or None
    given : names of the covariates' columns
    moderators : those covariates that change the interactions
    levels : by column, the words or categories that the numbers 0, 1, ... stand for
    limits : two arrays of shape (n, m) without covariates, or None
        Between which values cells lie that have none in the rows; infinite where nothing is known.
    """

    rows: Rows
    caller: str
    frame: str | None = None
    sample_weight: AnyData | None = None
    given: Sequence[str] = ()
    moderators: Sequence[Moderator] = ()
    levels: Mapping[str, tuple[str, ...]] | None = None
    limits: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class Preparation:
    """How rows are made ready: fixed by the data of a fit, applied to any other.

    Attributes
    ----------
    family : the family as the user chose it.
    scaled_family : the same for scaled columns.
    scaling : centre and scale of the columns, or None.
    names : column names, for messages.
    given : names of the covariates' columns.
    caller : name of the estimator, for messages.
    frame : name of the data-frame library that tables are given in, or None.
    moderators : which covariates change the interactions, and how.
    """

    family: Family
    scaled_family: Family
    scaling: Scaling | None
    names: list[str]
    given: tuple[str, ...]
    caller: str
    frame: str | None = None
    moderators: tuple[Placed, ...] = ()

    @property
    def location_shape(self) -> tuple[int, ...]:
        """Of eta: (m,), or with q covariates (m, 1 + q)."""
        m = len(self.names)
        return (m, 1 + len(self.given)) if self.given else (m,)

    @property
    def has_margins(self) -> bool:
        """Whether the scaled rows are latent numbers of variance 1."""
        return self.family.has_margins

    def complete(self, rows: Rows, missing: str) -> BoolArray:
        """Which rows are complete, shape (n,); raise on what may not be missing, or lies outside the domain."""
        found = inspect(rows, self.family)
        names = [*self.names, *self.given]
        found.check_complete(names, missing)
        found.check_domain(self.family, names, self.caller)
        return found.complete

    def scaled(self, rows: Rows, used: BoolArray) -> Rows:
        """The rows that are to be used, scaled."""
        return _scaled(rows.selected(np.flatnonzero(used)), self.scaling)

    def applied(self, rows: Rows, used: BoolArray) -> Prepared:
        """Other rows, made ready as those of a fit were; ``used`` says which of their data these are."""
        return Prepared(self, _scaled(rows, self.scaling), used)

    def in_given_units(self, scaled: Parameters) -> Parameters:
        """Parameters of the given columns; raise, naming columns, where these are not numbers."""
        given = self.unscale(scaled)
        if all(np.isfinite(part).all() for part in given):
            return given
        if not self.family.is_pairwise:
            raise UsageError(
                f"The fit has no finite answer: the statistics of columns {quoted(self.names)} are too large or too "
                "small for floating-point numbers. Measure them in other units."
            )
        wrong = ~np.isfinite(location_rows(given[1])).all(axis=0) | ~np.isfinite(given[0]).all(axis=0)
        listed = quoted([self.names[j] for j in np.flatnonzero(wrong)])
        raise UsageError(
            f"The fit has no finite answer in columns {listed}: they hardly vary, or are too large or too small for "
            "floating-point numbers. Drop them, or measure them in other units."
        )

    def unscale(self, parameters: Parameters) -> Parameters:
        """Parameters in the given units from those of the scaled columns."""
        if self.scaling is None:
            return parameters
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            return self.family.unscale(parameters, self.scaling)


@dataclass(frozen=True)
class CheckedRows:
    """Rows that were looked at once, and refused where they cannot be used.

    Attributes
    ----------
    every : all that count, as they are
    used : boolean array, one per row of the data: which are complete and count
    family : with its covariates
    names : of all columns
    found : what there is to know of every column
    placed : moderators, in units that follow from the rows
    """

    every: Rows
    used: BoolArray
    family: Family
    names: list[str]
    found: Inspection
    placed: tuple[Placed, ...] = ()

    def complete(self, rows: Rows) -> Rows:
        """The complete ones among all rows, wherever these are by now."""
        rows = rows.selected(np.flatnonzero(self.found.complete))
        check_total(rows.frequency)
        return rows


@dataclass(frozen=True)
class Prepared:
    """Rows that are ready.

    Attributes
    ----------
    preparation : how they were made so
    rows : the complete ones that count, scaled
    complete : boolean array, one per row of the data; false also where its sample weight is zero
    filling : how cells that were missing were filled in, or None
    """

    preparation: Preparation
    rows: Rows
    complete: BoolArray
    filling: FilledCells | None = None

    @property
    def used(self) -> IntArray:
        """Positions of the complete rows in the data."""
        return np.flatnonzero(self.complete)

    @cached_property
    def to_judge(self) -> Rows:
        """The rows as they are judged: those of columns with margins by their size, others as they are."""
        if not self.preparation.has_margins:
            return self.rows
        if self.filling is None:
            return rows_to_judge(self.rows)
        return ArrayRows(self.judged(self.rows.gather(np.asarray))).counted(self.rows.frequency)

    def judged(self, X: Array) -> Array:
        """A completion of the latent rows, shape (n, m + q), as rows are judged (:meth:`Margins.judged`)."""
        margins, filling = self.preparation.scaling, self.filling
        assert isinstance(margins, Margins)
        assert filling is not None
        return margins.judged(filling.given, filling.drawn, X)

    @property
    def describe_missing(self) -> str:
        """How many cells were missing or wrong, and what was done about it; empty where none were."""
        return "" if self.filling is None else self.filling.describe(self.preparation.names)

    def elements(self, settings: Settings, some: IntArray | None = None) -> Elements:
        """The score-matching elements of the rows, all or some (ascending positions among those used)."""
        family = self.preparation.scaled_family
        rows = self.rows if some is None else self.rows.selected(some)
        return elements_of(family, rows, settings.memory).stored_as(settings.loss_storage)


def check_rows(data: Data, settings: Settings) -> CheckedRows:
    """Look at all rows once, and refuse what cannot be used; a row of sample weight zero is as if it were absent."""
    rows, given, moderators = data.rows, data.given, data.moderators
    placed: Sequence[Placed] = ()
    family = GivenCovariates(settings.family, len(given)) if given else settings.family
    names = [*(rows.names or default_names(family.own_columns(rows.n_columns))), *given]
    used = np.ones(rows.n_rows, dtype=bool)
    if data.sample_weight is not None:
        rows, used = with_frequency(rows, data.sample_weight)
    found = inspect(rows, family)
    if settings.missing == "raise":
        check_present(moderators, found, family.own_columns(rows.n_columns))
    found.check_complete(names, settings.missing)
    used[used] = found.complete
    settings.check_size(int(np.count_nonzero(found.complete)), family.own_columns(rows.n_columns))
    if isinstance(family, GivenCovariates) and moderators:
        settings.check_moderators(moderators[0].name)
        family, placed = place_moderators(family, rows.selected(np.flatnonzero(found.complete)), moderators)
    found.check_domain(family, names, data.caller)
    _check_variation(found, names[: len(names) - len(given)])
    return CheckedRows(rows, used, family, names, found, tuple(placed))


def prepare(data: Data, settings: Settings) -> Prepared:
    """Look at all rows once, refuse what cannot be used, and scale the complete ones."""
    seen, given = check_rows(data, settings), data.given
    family, names, found, used = seen.family, seen.names, seen.found, seen.used
    rows = held(seen.every, family, settings.memory, settings.loss_storage)
    check_memory(family, rows, settings.loss_storage, settings.memory)
    rows = seen.complete(rows)
    scaling = family.scaling(rows, fit_location=settings.fit_location) if settings.scale == "median" else None
    if scaling is not None:
        _check_scale(scaling, names)
    else:
        _check_sizes(rows, found, names)
    if given:
        scaling = with_covariates(scaling, rows, names[: len(names) - len(given)], list(given))
    rows = rows.mapped(np.copy) if scaling is None else _scaled(rows, scaling)  # the user's array stays the user's
    scaled_family = family if scaling is None else _scaled_family(family, scaling, names)
    if settings.scale == "median":
        scaled_family = scaled_family.oriented(rows)
    own = names[: family.own_columns(len(names))]
    resolved = scaled_family.resolved(rows)
    preparation = Preparation(family, resolved, scaling, own, tuple(given), data.caller, data.frame, seen.placed)
    if family.is_pairwise:
        _check_units(preparation)
    return Prepared(preparation, rows, used)


def _scaled_family(family: Family, scaling: Scaling, names: list[str]) -> Family:
    """The family of the scaled columns; raise where the bounds of its domain are too far from the data for that."""
    try:
        return family.scaled(scaling)
    except ValueError:
        least = names[int(np.argmin(scaling.scale))]
        raise UsageError(
            f"The values of column {least!r} are too small beside the bounds of {family.domain!r}; measure column and "
            "bounds in other units, or pass ",
            Setting("scale", None),
            ".",
        ) from None


def _check_variation(found: Inspection, names: list[str]) -> None:
    constant = np.flatnonzero((found.low == found.high)[: len(names)])
    if constant.size:
        listed = quoted([names[j] for j in constant])
        raise UsageError(f"Constant columns tell nothing about dependence: {listed}. Drop them (of {len(names)}).")


def _check_scale(scaling: Scaling, names: list[str]) -> None:
    without = np.flatnonzero(~(scaling.scale > 0))
    if without.size:
        raise UsageError(
            Setting("scale", "median"),
            f" finds no spread in columns {quoted([names[j] for j in without])}: half of their values or more are "
            "equal. Drop these columns, or take ",
            Setting("family", "copula"),
            ", which is for columns of any shape.",
        )


def _check_sizes(rows: Rows, found: Inspection, names: list[str]) -> None:
    """Raise where the typical value of a column that is not scaled is so large or small that its powers are lost."""
    largest = np.maximum(np.abs(found.low), np.abs(found.high))
    if ((largest >= 1 / _ORDINARY) & (largest <= _ORDINARY)).all():
        return
    typical = column_quantiles(rows.mapped(np.abs), 0.5)
    beyond = np.flatnonzero((typical > _LARGEST_SIZE) | ((typical < _LEAST_SIZE) & (largest < _LEAST_SIZE)))
    if beyond.size:
        listed = quoted([names[j] for j in beyond])
        raise UsageError(
            f"The values of columns {listed} are so large, or so small (about {typical[beyond[0]]:.0e}), that their "
            "powers are beyond floating-point range; pass ",
            Setting("scale", "median"),
            " where the family can be scaled, or measure them in other units.",
        )


def _check_units(preparation: Preparation) -> None:
    """Raise where K or eta in the units of the data would be larger, or smaller, than numbers can be."""
    m, shape = len(preparation.names), preparation.location_shape
    K = preparation.unscale((np.eye(m), np.zeros(shape)))[0]
    ones = np.ones(shape)
    if preparation.given:
        ones[:, 1:] = 0.0
    eta = preparation.unscale((np.zeros((m, m)), ones))[1]
    own = np.stack([K.diagonal(), location_rows(eta)[0]])
    beyond = np.flatnonzero(~((own >= _LEAST_UNIT) & (own <= _LARGEST_UNIT)).all(axis=0))
    if beyond.size:
        raise UsageError(
            f"The values of columns {quoted([preparation.names[j] for j in beyond])} are so large, or so small, that "
            "the interactions in their units are beyond floating-point range; measure them in other units, for "
            "example by dividing them by their median."
        )


def _scaled(rows: Rows, scaling: Scaling | None) -> Rows:
    return rows if scaling is None else rows.mapped(scaling.apply)


_VARIES = 1e-10  # what a deviation must be, relative to the size of the values
_DEPENDENT = 1e-9  # least eigenvalue of the correlations


def with_covariates(scaling: Scaling | None, rows: Rows, columns: list[str], names: list[str]) -> Scaling:
    """The scaling of all columns, in which the last ones, covariates, get mean 0 and deviation 1.

    ``rows`` are those that count, as given; raise where a covariate is constant, or others determine it. Where columns
    have margins, so have covariates that are these columns as they were before.
    """
    q = len(names)
    if isinstance(scaling, Margins):
        scaling = scaling.with_past(columns, names)
        rows = rows.mapped(scaling.apply)
    along = () if rows.frequency is None else (rows.frequency,)
    total, sums = rows.total(partial(_sums, q), *along)
    mean = sums / total
    products = rows.total(partial(_products, mean), *along) / total
    deviation = np.sqrt(products.diagonal())
    constant = np.flatnonzero(~(deviation > _VARIES * np.abs(mean)) | (deviation == 0))
    if constant.size:
        raise UsageError(f"Constant covariates say nothing: {quoted([names[k] for k in constant])}. Drop them.")
    values, vectors = np.linalg.eigh(products / np.multiply.outer(deviation, deviation))
    if values[0] < _DEPENDENT:
        dependent = quoted([names[k] for k in np.flatnonzero(np.abs(vectors[:, 0]) > 0.1)])
        raise UsageError(f"The covariates {dependent} determine each other; drop one of them.")
    m = rows.n_columns - q
    own = Scaling(np.zeros(m), np.ones(m)) if scaling is None else scaling
    return replace(own, centre=np.append(own.centre[:m], mean), scale=np.append(own.scale[:m], deviation))


def _sums(q: int, rows: Array, frequency: Array | None = None) -> list[Array]:
    counts = np.ones(len(rows)) if frequency is None else frequency
    return [np.array(counts.sum()), counts @ rows[:, -q:]]


def _products(mean: Array, rows: Array, frequency: Array | None = None) -> Array:
    away = rows[:, -mean.size :] - mean
    return np.asarray(away.T @ (away if frequency is None else away * frequency[:, None]))
