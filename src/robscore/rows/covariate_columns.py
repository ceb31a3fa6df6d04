"""Covariates as columns of numbers: numbers as they are, categories as dummies, dates as years.

A category with k levels becomes k - 1 columns of zeros and ones, one for each level but the first in order. A date
becomes the years since the start of 2000 (of 365.25 days), for a trend; seasons need columns of their own.

Some covariates may also moderate interactions: :func:`with_moderators` finds them in what is given as ``moderators=``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np

from robscore._tools.messages import ArgumentError, UsageError, first_few, quoted
from robscore._tools.numbers import as_numbers
from robscore._tools.typing import AnyArray, AnyData, Array
from robscore.rows.row_source import Rows
from robscore.rows.tables import check_names, numbers_in

Kind: TypeAlias = Literal["number", "category", "date"]

_START, _YEAR = np.datetime64("2000-01-01", "us"), 365.25 * 86400e6  # microseconds
_MOST_LEVELS = 100  # of a category; a column with more different texts is taken for labels of rows


def lagged_name(name: str, lag: int) -> str:
    """The name of the covariate that holds a column as it was so many rows before."""
    return f"{name}[-{lag}]"


def column_before(name: str) -> str | None:
    """The column that a covariate holds as it was some rows before, by its name; None where it does not."""
    found = re.fullmatch(r"(.*)\[-[1-9][0-9]*\]", name, flags=re.DOTALL)
    return None if found is None else found[1]


@dataclass(frozen=True)
class Covariate:
    """One covariate as it was given.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "date"}
    levels : tuple
        The levels of a category, the first of which has no column.
    """

    name: str
    kind: Kind
    levels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, name: str, values: AnyArray) -> Covariate:
        """Recognise the kind of a covariate by its values."""
        if values.dtype.kind in "fiu":
            return cls(name, "number")
        if values.dtype.kind == "M":
            return cls(name, "date")
        if values.dtype.kind == "m":
            raise ArgumentError("covariates", name, "holds time spans; turn them into numbers first.")
        levels = sorted({value for value in values.tolist() if not _is_missing(value)}, key=lambda x: (str(type(x)), x))
        if len(levels) < 2:
            raise ArgumentError("covariates", name, "is constant: it says nothing. Drop it.")
        if len(levels) > _MOST_LEVELS:
            few = f"holds {len(levels)} different texts, which looks like labels of rows; drop it, or join levels."
            raise ArgumentError("covariates", name, few)
        return cls(name, "category", tuple(levels))

    @property
    def terms(self) -> list[str]:
        """Names of its columns."""
        return [f"{self.name}={level}" for level in self.levels[1:]] if self.kind == "category" else [self.name]

    def columns(self, values: AnyArray) -> Array:
        """Return values as numbers, shape (n, columns); NaN where they are missing."""
        if self.kind == "date":
            if values.dtype.kind != "M":
                raise ArgumentError(
                    "covariates", self.name, f"must hold dates, as in the fit; it holds {values.dtype}."
                )
            years = (values.astype("datetime64[us]") - _START).astype(float) / _YEAR
            return np.where(np.isnat(values), np.nan, years)[:, None]
        if self.kind == "number":
            if values.dtype.kind in "mM":
                raise ArgumentError("covariates", self.name, "must hold numbers, as in the fit; it holds dates.")
            return as_numbers(f"covariate {self.name!r}", values)[:, None]
        given = values.tolist()
        known = {level: k for k, level in enumerate(self.levels)}
        unknown = sorted({str(value) for value in given if not _is_missing(value) and value not in known})
        if unknown:
            raise ArgumentError(
                "covariates", self.name, f"holds {quoted(unknown)}, which the fit has not seen; it knows "
                f"{first_few([str(level) for level in self.levels])}."
            )  # fmt: skip
        codes = np.array([np.nan if _is_missing(value) else known[value] for value in given])
        dummies = (codes[:, None] == np.arange(1, len(self.levels))).astype(float)
        return np.where(np.isnan(codes)[:, None], np.nan, dummies)


@dataclass(frozen=True)
class CovariateDesign:
    """The design by which covariates become q columns of numbers, in the fit and in every data set after it.

    Attributes
    ----------
    covariates : tuple of Covariate
    from_data : bool
        Whether they are columns of the data themselves, by name.
    """

    covariates: tuple[Covariate, ...]
    from_data: bool = False

    @classmethod
    def of(cls, columns: dict[str, AnyArray], *, from_data: bool = False) -> CovariateDesign:
        """Recognise the kinds of all covariates by their values."""
        design = cls(tuple(Covariate.of(name, values) for name, values in columns.items()), from_data)
        check_names(design.terms)
        return design

    @property
    def names(self) -> list[str]:
        """Names of the covariates as they are given."""
        return [covariate.name for covariate in self.covariates]

    @property
    def terms(self) -> list[str]:
        """Names of the q columns that they become."""
        return [term for covariate in self.covariates for term in covariate.terms]

    def matrix(self, columns: dict[str, AnyArray]) -> Array:
        """Return shape (n, q), NaN where a value is missing; raise unless these are the covariates of the fit."""
        if sorted(columns) != sorted(self.names):
            raise UsageError(f"covariates must be {quoted(self.names)}, as in the fit; got {quoted(list(columns))}.")
        return np.concatenate([own.columns(columns[own.name]) for own in self.covariates], axis=1)


def read_covariates(covariates: AnyData, n_rows: int) -> dict[str, AnyArray]:
    """Return columns by name, of a data frame, a series, a dictionary or an array of shape (n,) or (n, q)."""
    columns = columns_by_name(covariates)
    for name, values in columns.items():
        if values.ndim != 1 or len(values) != n_rows:
            raise UsageError(f"covariate {name!r} has shape {values.shape} and X has {n_rows} rows; give one per row.")
    return {name: _numbers_if_all(values) for name, values in columns.items()}


def columns_by_name(covariates: AnyData, unnamed: str = "c") -> dict[str, AnyArray]:
    """Return columns by name, of any length; those without a name are called ``unnamed`` and a number."""
    if isinstance(covariates, dict):
        columns = {str(name): np.asarray(values) for name, values in covariates.items()}
    else:
        columns = _of_frame(covariates, unnamed) or _of_array(covariates, unnamed)
    if not columns:
        raise UsageError("covariates has no column.")
    return columns


def names_of_columns(covariates: AnyData) -> list[str] | None:
    """Return names, where covariates are given as columns of the data; None where they are data themselves."""
    if isinstance(covariates, str):
        return [covariates]
    if isinstance(covariates, list | tuple) and covariates and all(isinstance(name, str) for name in covariates):
        return list(covariates)
    return None


def check_named(X: AnyData, names: Sequence[str], argument: str) -> None:
    """Raise unless X is a data frame in memory with columns of these names."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise UsageError(
            f"{argument}={list(names)!r} are names of columns, so X must be a data frame, a Parquet file or a Dask "
            f"data frame; got {type(X).__name__}. Pass the {argument} themselves instead."
        )
    if absent := [name for name in names if name not in frame.columns]:
        raise UsageError(f"{argument}: X has no column {quoted(absent)}; it has {first_few(list(frame.columns))}.")


def split_frame(X: AnyData, names: Sequence[str]) -> tuple[AnyData, dict[str, AnyArray]]:
    """Split a data frame into the columns that are not named, and those that are."""
    check_named(X, names, "covariates")
    frame = nw.from_native(X, eager_only=True)
    return frame.drop(list(names)).to_native(), _of_frame(frame.select(list(names)).to_native()) or {}


def _of_frame(data: AnyData, unnamed: str = "c") -> dict[str, AnyArray] | None:
    """Return the columns of a data frame or a series; None for anything else."""
    found = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(found, nw.Series):
        return {str(found.name or f"{unnamed}0"): _values(found)}
    if isinstance(found, nw.DataFrame):
        check_names(list(found.columns))
        return {str(name): _values(found[name]) for name in found.columns}
    return None


def _values(series: Any) -> AnyArray:
    """Return a column as an array of dates, of numbers, or of objects."""
    if series.dtype in (nw.Date, nw.Datetime):
        return np.asarray(series.to_numpy(), dtype="datetime64[us]")
    if series.dtype.is_numeric() and (numbers := numbers_in(series)) is not None:
        return numbers
    if series.dtype in (nw.Categorical, nw.Enum):  # categories stay categories, also if they are written as numbers
        return np.array([None if value is None or value != value else str(value) for value in series.to_list()], object)
    return np.asarray(series.to_list(), dtype=object)


def _of_array(data: AnyData, unnamed: str) -> dict[str, AnyArray]:
    array = np.asarray(data)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2:
        raise UsageError(f"covariates must have shape (rows,) or (rows, covariates); got {array.ndim} dimensions.")
    return {f"{unnamed}{k}": column for k, column in enumerate(array.T)}


def _numbers_if_all(values: AnyArray) -> AnyArray:
    """Return objects as numbers if all of them are numbers or missing."""
    if values.dtype.kind == "O" and all(
        value is None or (isinstance(value, int | float | np.number) and not isinstance(value, bool))
        for value in values
    ):
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return values


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value)) or str(value) in ("<NA>", "NaT")


@dataclass(frozen=True)
class Moderator:
    """A covariate that moderates interactions.

    Attributes
    ----------
    covariate : Covariate
    columns : tuple of int
        Its columns among those of all covariates.
    """

    covariate: Covariate
    columns: tuple[int, ...]

    @property
    def name(self) -> str:
        """The name of the covariate."""
        return self.covariate.name

    @property
    def levels(self) -> tuple[Any, ...]:
        """All levels of a category; none of numbers and dates."""
        return self.covariate.levels

    @property
    def terms(self) -> list[str]:
        """Names of its parts: one for every level, or one."""
        return [f"{self.name}={level}" for level in self.levels] or [self.name]

    @classmethod
    def of(cls, design: CovariateDesign, names: Sequence[str]) -> tuple[Moderator, ...]:
        """Find the moderators named among all covariates."""
        found, at = {}, 0
        for own in design.covariates:
            found[own.name] = cls(own, tuple(range(at, at + len(own.terms))))
            at += len(own.terms)
        return tuple(found[name] for name in dict.fromkeys(names))


def with_moderators(X: AnyData, covariates: AnyData | None, moderators: AnyData) -> tuple[AnyData, list[str]]:
    """Return all covariates, moderators among them, and the names of the moderators.

    Moderators are names, of columns of X or of the covariates, or data of their own, as covariates are.
    """
    names = _names(X, covariates, moderators)
    if names is None:
        more = columns_by_name(moderators, "moderator")
        if names_of_columns(covariates) is not None:
            raise UsageError(
                f"covariates={covariates!r} are names of columns of X and moderators are data: give both as names, or "
                "both as data."
            )
        return {**({} if covariates is None else columns_by_name(covariates)), **more}, list(more)
    by_name = [] if covariates is None else names_of_columns(covariates)
    if by_name is not None:
        if isinstance(X, np.ndarray | list | tuple) or _columns_of(X):
            check_named(X, names, "moderators")
        return list(dict.fromkeys([*by_name, *names])), names
    columns = columns_by_name(covariates)
    absent = [name for name in names if name not in columns]
    if absent:
        raise UsageError(
            f"moderators={names!r} are names, and no covariate is called {quoted(absent)}; put them into covariates, "
            "or give the moderators themselves."
        )
    return columns, names


def _names(X: AnyData, covariates: AnyData | None, moderators: AnyData) -> list[str] | None:
    """Return names, where moderators are given by name; None where they are data, such as a list of groups."""
    names = names_of_columns(moderators)
    if names is None or isinstance(moderators, str):
        return names
    known = _columns_of(X)
    if covariates is not None:
        known += names_of_columns(covariates) or list(columns_by_name(covariates))
    n_rows: int | None = None
    if isinstance(X, Rows):
        n_rows = X.n_rows
    elif isinstance(X, np.ndarray | list | tuple) or known:
        n_rows = len(X)
    return names if len(names) != n_rows or set(names) <= set(known) else None


def _columns_of(X: AnyData) -> list[str]:
    """Return the columns of a data frame in memory; none of anything else."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return list(frame.columns) if isinstance(frame, nw.DataFrame) else []
