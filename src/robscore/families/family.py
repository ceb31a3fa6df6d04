"""What a family must provide, and how to add one.

To add a family, write a subclass of :class:`Family` in a file of its own with

* ``elements(X)``: the score-matching elements of rows that lie in the domain, one of the kinds in
  :mod:`robscore.elements` filled from a few formulas;

and, where the defaults here do not serve,

* ``problem(X)``: a boolean array of the entries the family excludes, with the reason as a text;
* ``scaling(X, fit_location)``, ``scaled`` and ``unscale``: a robust scale for the columns and the map of
  fitted parameters back to the given units (X may be rows that are not held in memory: take medians of columns with
  :func:`robscore.rows.quantiles.column_quantiles`);
* ``numbers_a_row`` and ``numbers_of_gamma``: how much memory these take, where that is far from the default;
* ``log_density`` (and ``conditional``, if it is faster): to judge rows by how likely they are, and to simulate;
* ``sampler`` or ``draw_conditional``: to draw rows faster than by slices; ``symmetric``: a map by which its columns
  are nearly symmetric, to find rows far from the middle.

Give it a name with ``@register("name")`` if you like. Nothing else in the package needs to change.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.random import Generator

from robscore._tools.deviations import MAD
from robscore._tools.messages import ArgumentError, Message, Phrase
from robscore._tools.typing import AnyArray, AnyData, Array, BoolArray, IntArray
from robscore.boundary import Boundary, LogPower, Power
from robscore.domains import Domain, Simplex
from robscore.families.samplers.sampler import Sampler
from robscore.families.samplers.slices import SliceSampler
from robscore.rows import ArrayRows
from robscore.rows.input_data import read_matrix
from robscore.rows.inspection import inspect
from robscore.rows.quantiles import column_quantiles
from robscore.rows.row_source import Rows, as_rows

if TYPE_CHECKING:
    from robscore.elements import Elements


Parameters: TypeAlias = tuple[Array, ...]


@dataclass(frozen=True)
class Scaling:
    """How columns are scaled: y = (x - centre) / scale, where both arrays have shape (m,)."""

    centre: Array
    scale: Array

    def apply(self, X: Array) -> Array:
        """Scaled rows; a value beyond the largest float stays at the largest float."""
        largest = np.finfo(float).max
        with np.errstate(over="ignore"):
            scaled = X - self.centre if self.centre.any() else X
            scaled = np.asarray(scaled / self.scale)
            return np.clip(scaled, -largest, largest, out=scaled)

    def undo(self, Y: Array) -> Array:
        """The rows as given, up to rounding."""
        with np.errstate(over="ignore"):
            return np.asarray(Y * self.scale + self.centre)


class NoDensityError(ValueError):
    """Raised where a family does not define its density, or has none with the given parameters."""


class Family(ABC):
    """A family of distributions on rows x of m columns.

    Attributes
    ----------
    domain : where the rows live.
    is_pairwise : bool
        Whether the parameters are an interaction matrix K, shape (m, m), and a location eta, shape (m,); otherwise
        they are one vector theta. In ``log_density``, ``conditional`` and ``draw_conditional`` eta may have one row
        for every row of X, shape (n, m).
    has_margins : bool
        Whether parameters belong to latent numbers of variance 1, and columns have margins of any shape
        (``robscore.families.copula.Margins``).
    n_given : int
        How many of the last columns are covariates, which the rows are given and which have no density of their own.
    """

    domain: Domain
    is_pairwise: bool = True
    has_margins: bool = False
    n_given: int = 0

    def _changed(self, **attributes: object) -> Self:
        """The same family with other attributes."""
        other = copy(self)
        vars(other).update(attributes)
        return other

    def knowing(self, X: Array, names: Sequence[str], levels: Mapping[str, tuple[str, ...]] | None = None) -> Self:
        """The same family, which knows the kinds of columns of all rows X, shape (n, m), where it makes use of them.

        ``levels`` are the words or categories that the numbers of some columns stand for.
        """
        return self

    def own_columns(self, n_columns: int) -> int:
        """How many of ``n_columns`` columns are the family's own: all but covariates."""
        return n_columns

    def at(self, X: Array, *parameters: Array) -> tuple[Family, Array, Parameters]:
        """The family without covariates, its columns of the rows X, and its parameters at these rows."""
        return self, X, parameters

    def laws(self, X: Array, *parameters: Array) -> Iterator[tuple[IntArray, Parameters]]:
        """The rows X, shape (n, m), by their K: positions of some rows with K and eta, one for all or one for each."""
        yield np.arange(len(X)), self.at(X, *parameters)[2]

    def common(self, interaction: Array) -> Array:
        """The interactions that rows have in common, shape (m, m): K itself, unless moderators change it."""
        return interaction

    def with_shared(self, interaction: Array) -> Array:
        """The same interactions; an edge that all groups have is moved into the part that they have in common."""
        return interaction

    @abstractmethod
    def elements(self, X: Array) -> Elements:
        """Score-matching elements of the rows X, shape (n, m), all inside the domain."""

    def overflow(self, X: Array) -> BoolArray:
        """Which of the rows X, shape (n, m), have elements whose products overflow, shape (n,)."""
        return self.elements(X).overflow

    def numbers_a_row(self, n_columns: int) -> int:
        """About how many numbers the elements of a row hold; this only decides what fits into memory."""
        return 2 * n_columns * (n_columns + 2)

    def numbers_of_gamma(self, n_columns: int) -> int:
        """About how many numbers Gamma has; this only decides what fits into memory."""
        return n_columns * (n_columns + 1) ** 2

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Entries of X, shape (n, m), that the family excludes, and why."""
        return ~self.domain.contains(X), f"lie outside the domain {self.domain!r}"

    def redundancy(self, *, fit_location: bool) -> str | None:
        """Say why the statistics determine each other whatever the data; None where they do not."""
        return None

    def dependence(self, n_columns: int, *, fit_location: bool) -> str | None:
        """Say the same as :meth:`redundancy` does, where finding out takes some work."""
        return None

    def check_columns(self, n_columns: int) -> None:
        """Raise unless the family has distributions of this many columns."""
        self.domain.check_columns(n_columns)

    def statistics_a_column(self, n_columns: int, *, fit_location: bool) -> int:
        """The largest number of statistics that involve one column: the estimate needs as many rows (appendix A)."""
        return n_columns + bool(fit_location)

    def resolved(self, X: Array | Rows) -> Family:
        """The family with whatever it takes from the rows X, shape (n, m), fixed."""
        return self

    def levelled(self, X: Array | Rows, quantile: float) -> Family:
        """The family with a boundary weight that levels off, so that large values have no more say than usual ones."""
        return self

    def oriented(self, X: Array | Rows) -> Family:
        """The family with its arbitrary choices made by the rows X, so that the order of columns does not matter."""
        return self

    def reordered(self, columns: IntArray) -> Family:
        """The family of columns in another order, where they can change places."""
        return self

    def scaling(self, X: Array | Rows, *, fit_location: bool) -> Scaling | None:
        """Robust centre and scale of the columns, or None where the family does not scale."""
        return None

    def scaled(self, scaling: Scaling) -> Family:
        """The same family for scaled columns: the domain's bounds move with the data."""
        raise TypeError(f"{self!r} does not scale.")

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """Parameters of the given columns from those of the scaled ones."""
        raise TypeError(f"{self!r} does not scale.")

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """Logarithm of the density at rows X, shape (n,), up to a constant that only the parameters change."""
        raise NoDensityError(
            f"{self!r} has no log_density, so rows can be neither simulated nor judged by how likely they are."
        )

    def least_log_density(self, X: Array, *parameters: Array) -> Array:
        """A close lower bound of the logarithm of the density, shape (n,), in single precision where that is faster.

        It is NaN where no bound is known.
        """
        return self.log_density(X, *parameters)

    def symmetric(self, X: Array) -> Array:
        """The columns of X, shape (n, m), after a monotone map that makes those of the family nearly symmetric."""
        return X

    def roughly_symmetric(self, X: Array) -> AnyArray:
        """The same as :meth:`symmetric` in single precision: v is off by at most 4 eps (1 + abs(v)), or not finite."""
        return self.symmetric(X).astype(np.float32)

    @property
    def columns_alike(self) -> bool:
        """Whether columns can change places, because the family treats them all in the same way."""
        return False

    @property
    def is_natural(self) -> bool:
        """Whether the log density is theta' t(x), without a part that no parameter multiplies."""
        return True

    def conditional(self, X: Array, j: int, *parameters: Array) -> Callable[[Array], Array]:
        """The log density of column j given the rest of each row, as a function of its n values."""
        return lambda values: self.log_density(self.domain.replaced(X, j, values), *parameters)

    def draw_conditional(
        self, X: Array, j: int, interaction: Array, location: Array, lower: Array, upper: Array, rng: Generator
    ) -> Array | None:
        """Exact draws of column j given the rest of each row, shape (n,), within intervals; None where none is known.

        ``lower`` and ``upper``, shape (n, q), are the ends of the intervals that the domain leaves each entry.
        """
        return None

    def conditional_law(self, X: Array, j: int, x: Array, *parameters: Array) -> tuple[Array, Array] | None:
        """The law of column j given the rest of each row of X, shape (n, m), at x: the log density and the residual.

        The residual is the standard normal quantile of the probability below x. Both have shape (n,), like x; None
        where they are not known in closed form.
        """
        return None

    def sampler(self) -> Sampler:
        """How rows of a pairwise family are drawn.

        By default they are drawn by slices, for which :meth:`conditional` is all that is needed.
        """
        return SliceSampler(self)

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Raise unless there is a distribution with this K, shape (m, m), and eta, shape (m,)."""
        if self.domain.is_bounded:
            return
        try:
            np.linalg.cholesky(interaction)
        except np.linalg.LinAlgError:
            raise ValueError("interaction is not positive definite, so the model may have no density.") from None


class WeightedFamily(Family):
    """A family with a boundary weight of every column's distance to the boundary, which the data may tune."""

    boundary: Boundary
    default_domain: Domain

    def __init__(self, *, domain: Domain | None = None, boundary: Boundary | None = None) -> None:
        self.domain = self.default_domain if domain is None else check_domain(domain)
        self.boundary = self._default_boundary() if boundary is None else check_boundary(boundary)

    def _default_boundary(self) -> Boundary:
        """The boundary weight of a family on its domain, unless another is given."""
        return Power(2.0)

    def _arguments(self) -> list[str]:
        """The arguments of the family, as ``repr`` shows them, other than its domain and boundary weight."""
        return []

    def __repr__(self) -> str:
        arguments = self._arguments()
        if self.domain != self.default_domain:
            arguments.append(f"domain={self.domain!r}")
        if self.boundary != self._default_boundary():
            arguments.append(f"boundary={self.boundary!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def resolved(self, X: Array | Rows) -> Self:
        """The same family with a boundary weight that no longer depends on data."""
        return self._changed(boundary=self.boundary.resolved(as_rows(X).mapped(self.distances)))

    def levelled(self, X: Array | Rows, quantile: float) -> Self:
        """The same family with h(d) = (s log(1 + d / s))^p in place of a power d^p; other weights stay.

        s is the same for all columns: the median over columns of this quantile of their distances.
        """
        if not isinstance(self.boundary, Power) or self.boundary.p == 0 or self.domain.is_real_line:
            return self
        scale = float(np.median(column_quantiles(as_rows(X).mapped(self.distances), quantile)))
        if not 0 < scale < np.inf:
            return self
        return self._changed(boundary=LogPower(self.boundary.p, scale))

    def stretched(self, scales: Array) -> Self:
        """The same family with r^p h(d / r) in place of h, for scales r of every cell, shape (n, m)."""
        return self._changed(boundary=self.boundary.stretched(scales))

    @property
    def columns_alike(self) -> bool:
        """They are alike where all have the same bounds and the same boundary weight."""
        same_weight = not any(np.ndim(value) for value in vars(self.boundary).values())
        return same_weight and (self.domain.is_real_line or self.domain.only_boundary_is_zero)

    def distances(self, X: Array) -> Array:
        """The distance of every entry of X, shape (n, m), to the nearest boundary."""
        return self.domain.nearest(X).distance


def robust_scaling(X: Array | Rows, domain: Domain, *, centred: bool) -> Scaling:
    """Scale columns by the median of their positive entries; where negative values live, by the median deviation.

    That deviation is multiplied by 1.4826. On the whole real line columns are centred at the median, unless
    ``centred=False``, where deviations from zero are taken.
    """
    rows = as_rows(X)
    zero = np.zeros(rows.n_columns)
    if domain.is_non_negative:
        return Scaling(zero, np.nan_to_num(column_quantiles(rows.mapped(_positive), 0.5), nan=0.0))
    about = zero if domain.is_real_line and not centred else column_quantiles(rows, 0.5)
    away = rows.mapped(partial(_deviations, about))
    spread = MAD * column_quantiles(away, 0.5)
    if not spread.all():  # half of the values are equal: by how far the others are
        others = MAD * np.nan_to_num(column_quantiles(away.mapped(_positive), 0.5), nan=0.0)
        spread = np.where(spread > 0, spread, others)
    return Scaling(about if domain.is_real_line else zero, spread)


def linear_part(statistics: Array, location: Array) -> Array:
    """Eta' t(x) of every row, shape (n,), for eta of shape (m,), or (n, m) with one for each row."""
    return np.asarray(statistics @ location if location.ndim == 1 else np.einsum("ij,ij->i", statistics, location))


def _positive(X: Array) -> Array:
    """X with NaN in place of values that are not positive."""
    return np.where(X > 0, X, np.nan)


def _deviations(about: Array, X: Array) -> Array:
    return np.abs(X - about)


def check_boundary(boundary: object) -> Boundary:
    """Return the boundary weight, or raise with what it must be."""
    if not isinstance(boundary, Boundary):
        raise TypeError(f"boundary={boundary!r} must be an object of rs.boundary, for example Power(1.5).")
    return boundary


def check_domain(domain: object) -> Domain:
    """Return the domain, or raise with what it must be."""
    if not isinstance(domain, Domain):
        raise TypeError(f"domain={domain!r} must be an object of rs.domains, for example NonNegative().")
    if isinstance(domain, Simplex):
        raise ArgumentError(
            "domain",
            domain,
            "is for rs.families.Simplex; for other families drop the last column and use "
            "domain=NonNegative() & Inequality(1.0, '<=', 1.0).",
        )
    return domain


_REGISTRY: dict[str, Callable[[], Family]] = {}
_F = TypeVar("_F", bound=type[Family])


def register(name: str) -> Callable[[_F], _F]:
    """Make a family known by a name, which stands for it with its default arguments."""

    def add(family: _F) -> _F:
        _REGISTRY[name] = family
        return family

    return add


def get_family(family: str | Family) -> Family:
    """The family itself, or the one with that name.

    Examples
    --------
    >>> import robscore as rs
    >>> rs.families.get_family("sqrt")
    SquareRoot()
    """
    if isinstance(family, Family):
        return family
    if isinstance(family, str) and family in _REGISTRY:
        return _REGISTRY[family]()
    names = ", ".join(repr(name) for name in sorted(_REGISTRY))
    others = Phrase(", or an object of rs.families", "")
    raise ArgumentError("family", family, Message(f"is not known; use one of {names}", others, "."))


def has_margins(family: str | Family) -> bool:
    """Whether this is a family of columns of any kind; "auto" and names that are not known are none."""
    return get_family(family).has_margins if not isinstance(family, str) or family in _REGISTRY else False


def is_auto(family: object) -> bool:
    """Whether the family is to be chosen from the data."""
    return isinstance(family, str) and family == "auto"


def takes_words(family: str | Family) -> bool:
    """Whether columns of ordered words are read: also where "auto" may choose a family for them."""
    return is_auto(family) or has_margins(family)


def score_elements(family: str | Family, X: AnyData) -> Any:
    """Turn the rows X, as given and without scaling, into score-matching elements.

    Parameters
    ----------
    family : str or Family
        For example "sqrt" or ``rs.families.Gamma()``.
    X : array-like or data frame of shape (n, m)

    Returns
    -------
    Elements

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> elements = rs.score_elements("sqrt", np.random.default_rng(0).exponential(size=(50, 3)))
    >>> elements.average().gamma.shape
    (3, 4, 4)
    """
    chosen = get_family(family)
    matrix, names = read_matrix(X, "X")
    inspect(ArrayRows(matrix), chosen).check_domain(chosen, names, "score_elements")
    elements = chosen.resolved(matrix).elements(matrix)
    elements.check_statistics()
    return elements
