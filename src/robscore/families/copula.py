"""The Gaussian copula: columns of any kind, each a non-decreasing function of a latent standard normal number.

    x_j = f_j(z_j),    z ~ N(0, Sigma),    diag(Sigma) = 1,    K = Sigma^-1

Nothing is assumed of f_j. With F_j the distribution function of column j over the rows that count, a cell says that its
latent number lies in an interval:

    a number that no other row of the column has     the point  Phi^-1((F_j(v-) + F_j(v)) / 2)
    a value that several rows share                  (Phi^-1 F_j(v-), Phi^-1 F_j(v)]
    missing                                          (-inf, inf)

Points are used as they are (normal scores); latent numbers of other cells are drawn within their interval, given the
rest of their row (:mod:`robscore.cells.interval_draws`). Scores at the middle of intervals would bias associations
towards zero: of two binary columns by a third. Values that a few rows share because numbers were rounded have intervals
so narrow that their middle will do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias, get_args

import numpy as np
from scipy.special import ndtri

from robscore._tools.messages import ArgumentError, UsageError, quoted
from robscore._tools.numbers import last_digit
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements.power_elements import PowerElements
from robscore.families.censored_margin import self_consistent, values_beyond
from robscore.families.column_kinds import ColumnKind, Kind
from robscore.families.family import Parameters, Scaling, register
from robscore.families.power import Gaussian
from robscore.rows.covariate_columns import column_before
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import default_names

Limits: TypeAlias = tuple[Array, Array]


@dataclass(frozen=True)
class MarginRule:
    """How a column becomes latent numbers: which equal values are drawn within their interval.

    Attributes
    ----------
    widest_point : float, default 0.1
        Intervals up to so wide, in deviations of the latent number, count as points at their middle. Drawing within one
        of width w adds w^2 / 12 to a variance of 1, here .0008, which no fit can tell.
    rarest : int, default 5
        Answers that fewer rows have count as the answer next to them, of two the one that fewer rows have, until none
        is so rare or two are left. With four such rows of 300 that hardly changes the error (.075 in either case), and
        where these rows are odd in all columns it falls from .108 to .089.
    tail : float, default 0.9
        The quantile of a column beyond which the size of a value counts where it is judged, not only its rank.
    independent_rows : float, default 1.0
        So many rows, of n, are taken for independent latent numbers: correlations are n / (n + 1) times as large. Two
        columns of two values of which a combination is never seen have no finite estimate otherwise: with counts of
        60, 60, 80 and 0 their correlation is -1, and -.87 with one such row; half a row in the empty corner of the
        table, as is common for polychoric correlations, makes it -.91. Where no cell is drawn there are none.
    """

    widest_point: float = 0.1
    rarest: int = 5
    tail: float = 0.9
    independent_rows: float = 1.0


@dataclass(frozen=True, eq=False)
class Margins(Scaling):
    """The distribution function of every column, and its inverse: between values as given and latent numbers.

    Attributes
    ----------
    values : tuple of m arrays, ascending
        The different values of the column.
    upper : tuple of m arrays
        F at these values: the share of the rows with at most that value.
    drawn : tuple of m boolean arrays
        Which values stand for an interval.
    kinds : tuple of m ColumnKind
        Which of the values these are, and which rare answers count as another.
    past : tuple of int
        For every covariate the column whose earlier values it holds, which become latent numbers too; -1 for others.
    tail : float
        The quantile from which on the size of values counts where they are judged (:class:`MarginRule`).
    every : Margins, or None
        Those of all rows, where these are of the rows that count.
    """

    values: tuple[Array, ...] = ()
    upper: tuple[Array, ...] = ()
    drawn: tuple[BoolArray, ...] = ()
    kinds: tuple[ColumnKind, ...] = ()
    past: tuple[int, ...] = ()
    tail: float = 0.9
    every: Margins | None = None

    @classmethod
    def of(
        cls,
        X: Array,
        weights: Array | None = None,
        kinds: Sequence[ColumnKind] | None = None,
        rule: MarginRule | None = None,
        limits: Limits | None = None,
        drawn: Sequence[Array] = (),
    ) -> Self:
        """Of the rows X, shape (n, m), with NaN in cells without a value, and of their weights, shape (n,).

        Cells without a value count as ``drawn``, completed tables of that shape, have them. Without any, those with
        ``limits``, two arrays of that shape, count by the self-consistent estimate of Turnbull (1976).

        Kinds are those of these rows unless they are given.

        Examples
        --------
        >>> import numpy as np
        >>> from robscore.families.copula import Margins
        >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 4.0], [1.0, 3.0]])
        >>> margins = Margins.of(X)
        >>> margins.bounds(X)[0][:, 0].tolist(), margins.bounds(X)[1][:, 0].tolist()
        ([-inf, -inf, 0.0, 0.0], [0.0, 0.0, inf, inf])
        >>> margins.apply(X)[:, 1].round(2).tolist()
        [-1.15, -0.32, 1.15, 0.32]
        """
        m, rule = X.shape[1], rule or MarginRule()
        if kinds is None:
            kinds = [ColumnKind.of(column, widest_point=rule.widest_point, rarest=rule.rarest) for column in X.T]
        weights = np.ones(len(X)) if weights is None else weights
        values, upper, are_drawn = [], [], []
        for j, (kind, column) in enumerate(zip(kinds, X.T, strict=True)):
            column = kind.as_merged(column)
            known, absent = (here & (weights > 0) for here in (~np.isnan(column), np.isnan(column)))
            beyond = () if limits is None else values_beyond(limits[0][absent, j], limits[1][absent, j])
            own, which = np.unique(np.append(column[known], beyond), return_inverse=True)
            counts = np.bincount(which[: np.count_nonzero(known)], minlength=own.size)
            share = np.bincount(which[: np.count_nonzero(known)], weights[known], minlength=own.size).astype(float)
            for table in drawn:
                at = np.clip(np.searchsorted(own, table[absent, j]), 0, own.size - 1)
                share += np.bincount(at, weights[absent], minlength=own.size) / len(drawn)
            if limits is not None and not drawn:
                share = self_consistent(share, own, (limits[0][absent, j], limits[1][absent, j]), weights[absent])
            own, counts, share = own[share > 0], counts[share > 0], share[share > 0]
            F = np.cumsum(share) / share.sum()
            F[-1] = 1.0
            values.append(own)
            upper.append(F)
            are_drawn.append(np.isin(own, kind.intervals) | (counts == 0))  # values of no row: of censored cells
        found = tuple(values), tuple(upper), tuple(are_drawn), tuple(kinds)
        return cls(np.zeros(m), np.ones(m), *found, tail=rule.tail)

    def with_past(self, names: Sequence[str], given: Sequence[str]) -> Self:
        """The same margins, which also hold for covariates that are columns as they were before, by their names."""
        place = {name: j for j, name in enumerate(names)}
        return replace(self, past=tuple(place.get(column_before(name) or "", -1) for name in given))

    @classmethod
    def of_shares(cls, shares: Sequence[Sequence[float] | None]) -> Self:
        """Of columns whose categories 0, 1, ... have these shares of the rows; None: the latent number itself.

        Examples
        --------
        >>> import numpy as np
        >>> from robscore.families.copula import Margins
        >>> Margins.of_shares([[0.5, 0.3, 0.2], None]).undo(np.array([[-1.0, -1.0], [0.1, 0.1], [2.0, 2.0]])).tolist()
        [[0.0, -1.0], [1.0, 0.1], [2.0, 2.0]]
        """
        values, upper, drawn = [], [], []
        for own in shares:
            share = np.zeros(0) if own is None else np.asarray(own, dtype=float)
            F = np.cumsum(share) / max(share.sum(), np.finfo(float).tiny)
            F[-1:] = 1.0
            values.append(np.arange(share.size, dtype=float))
            upper.append(F)
            drawn.append(np.ones(share.size, dtype=bool))
        return cls(np.zeros(len(shares)), np.ones(len(shares)), tuple(values), tuple(upper), tuple(drawn))

    def of_columns(self, columns: IntArray) -> Self:
        """The margins of some columns."""
        values, upper, drawn, kinds = (
            tuple(part[j] for j in columns.tolist()) for part in (self.values, self.upper, self.drawn, self.kinds)
        )
        centre, scale = self.centre[columns], self.scale[columns]
        return replace(self, centre=centre, scale=scale, values=values, upper=upper, drawn=drawn, kinds=kinds, past=())

    def _middle(self, j: int) -> Array:
        """The latent number in the middle of what each value of column j stands for."""
        F = np.append(0.0, self.upper[j])
        return np.asarray(ndtri((F[:-1] + F[1:]) / 2))

    def bounds(self, X: Array, limits: Limits | None = None) -> tuple[Array, Array]:
        """Between which numbers the latent numbers of rows X lie, two arrays of shape (n, m); equal where it is known.

        Cells without a value lie within ``limits``, two arrays of shape (n, m), or anywhere. Values that the margins
        have not seen are points between those next to them, or at the ends. Covariates, the columns after the first m,
        have no bounds.
        """
        X = X[:, : len(self.values)]
        lower, upper = np.empty(X.shape), np.empty(X.shape)
        for j in range(X.shape[1]):
            column = self.kinds[j].as_merged(X[:, j])
            F, middle = np.append(0.0, self.upper[j]), self._middle(j)
            at = np.clip(np.searchsorted(self.values[j], column), 0, len(middle) - 1)
            is_seen, ends, points = self.values[j][at] == column, ndtri(F), middle[at]
            points[~is_seen] = np.interp(column[~is_seen], self.values[j], middle)
            is_drawn = self.drawn[j][at] & is_seen
            lower[:, j] = np.where(is_drawn, ends[at], points)
            upper[:, j] = np.where(is_drawn, ends[at + 1], points)
        missing = np.isnan(X)
        lower[missing], upper[missing] = -np.inf, np.inf
        if limits is not None:
            self._limit(lower, upper, missing, limits)
        return lower, upper

    def _limit(self, lower: Array, upper: Array, missing: BoolArray, limits: Limits) -> None:
        """Put bounds of missing cells at the latent numbers of their limits, in place; all have shape (n, m)."""
        for j in np.flatnonzero(missing.any(axis=0)).tolist():
            at, ends = np.flatnonzero(missing[:, j]), ndtri(np.append(0.0, self.upper[j]))
            low, high = limits[0][at, j], limits[1][at, j]
            lower[at, j] = ends[np.searchsorted(self.values[j], low, side="right")]
            upper[at, j] = ends[np.searchsorted(self.values[j], high)]
            none = lower[at, j] >= upper[at, j]  # of rows that do not count: no value lies between
            end = np.where(np.isfinite(high), high, low)[none]
            lower[at[none], j] = upper[at[none], j] = np.interp(end, self.values[j], self._middle(j))

    def apply(self, X: Array) -> Array:
        """Latent numbers of rows X, shape (n, m): points, and the middle of what intervals hold; covariates scaled."""
        latent, m = np.array(X, dtype=float), len(self.values)
        for k, j in self._latent_columns():
            latent[:, k] = np.interp(self.kinds[j].as_merged(X[:, k]), self.values[j], self._middle(j))
        latent[:, m:] = (latent[:, m:] - self.centre[m:]) / self.scale[m:]
        return latent

    def _latent_columns(self) -> list[tuple[int, int]]:
        """Columns of rows that become latent numbers, each with the column whose margin it has."""
        m = len(self.values)
        return [(j, j) for j in range(m)] + [(m + k, j) for k, j in enumerate(self.past) if j >= 0]

    def judged(self, X: Array, drawn: BoolArray, latent: Array) -> Array:
        """Latent numbers to judge rows by, of rows X, shape (n, m), with NaN in cells without a value.

        They follow the margins of all rows: by those of the rows that count, rows once left out would lie ever farther
        out. Cells that are ``drawn``, boolean of shape (n, m), keep their place in ``latent``, shape (n, m + q).

        In the tails they are as far out as values are, since ranks hide that: a value ten times too large is merely the
        largest. With q = Phi^-1(p), p the rule's ``tail``, and x_p that quantile of the column, a value x beyond it is
        at least

            c arcsinh(q (x - median) / (x_p - median)),    c = q / arcsinh(q)

        from zero, which is q at x_p and grows like a logarithm. So is the lower tail, with 1 - p.
        """
        every, judged = self.every or self, latent.copy()
        for j, x in enumerate(X.T):
            if not drawn[:, j].all():
                judged[:, j] = every._far_out(j, x)
            if drawn[:, j].any():
                judged[:, j] = np.where(drawn[:, j], self._moved(j, every, latent[:, j]), judged[:, j])
        return judged

    def _far_out(self, j: int, x: Array) -> Array:
        """Normal scores of values x of column j, shape (n,), those of the tails by their size."""
        z, q, F = np.interp(x, self.values[j], self._middle(j)), float(ndtri(self.tail)), self.upper[j]
        middles = (np.append(0.0, F[:-1]) + F) / 2
        low, middle, high = np.interp([1 - self.tail, 0.5, self.tail], middles, self.values[j])
        for end, sign in ((high, 1.0), (low, -1.0)):
            if reach := abs(end - middle):
                away = sign * (x - middle) / reach
                far = q / np.arcsinh(q) * np.arcsinh(q * away)
                z = np.where(away > 1, sign * np.maximum(sign * z, far), z)
        return z

    def _moved(self, j: int, other: Margins, z: Array) -> Array:
        """Latent numbers z of column j, shape (n,), at the same place among its values by other margins."""
        if other is self:
            return z
        own = ndtri(self.upper[j])
        at = np.searchsorted(other.values[j], self.values[j], side="right")
        theirs = ndtri(np.append(0.0, other.upper[j]))[at]
        known = np.isfinite(own) & np.isfinite(theirs)
        if not known.any():
            return z
        own, theirs = own[known], theirs[known]
        beyond = np.where(z < own[0], theirs[0] - own[0], theirs[-1] - own[-1])
        return np.where((z < own[0]) | (z > own[-1]), z + beyond, np.interp(z, own, theirs))

    def undo(self, Y: Array) -> Array:
        """Values in the columns' own units of latent numbers Y, shape (n, m).

        Values that stand for intervals are those seen. Between two others lie all values with as many decimals as the
        column has.
        """
        values = Y * self.scale + self.centre
        for k, j in self._latent_columns():
            column, middle, own = values[:, k], self._middle(j), self.values[j]
            if not own.size:
                continue
            last = own.size - 1
            at = np.clip(np.searchsorted(ndtri(self.upper[j]), column), 0, last)
            beside = np.clip(at + np.where(column < middle[at], -1, 1), 0, last)
            is_seen = self.drawn[j][at] | self.drawn[j][beside]
            between = np.interp(column, middle, own)
            if unit := last_digit(own):
                between = np.round(between, -round(np.log10(unit)))
            values[:, k] = np.where(is_seen, own[at], between)
        return values


def check_kinds(kinds: Mapping[str, Kind]) -> None:
    """Raise unless these are kinds by the names of columns."""
    if not isinstance(kinds, Mapping):
        raise ArgumentError("kinds", kinds, "must be a dict such as {'income': 'continuous', 'grade': 'ordered'}.")
    for name, kind in kinds.items():
        if kind not in get_args(Kind):
            raise ArgumentError("kinds", kind, f"of column {name!r} is not known; use 'continuous' or 'ordered'.")


@register("copula")
class GaussianCopula(Gaussian):
    """Columns of any kind: non-decreasing functions of latent normal numbers, of which K is the precision matrix.

    An association is that of the latent numbers: the polychoric partial correlation of answers, the tetrachoric one of
    two values. Continuous columns of any shape, answers, counts, many zeros, and two values may be mixed.

    Parameters
    ----------
    kinds : dict, optional
        By name of a column: "continuous" takes all its values as points, "ordered" all that several rows share as
        intervals. By default answers and two values are intervals, and others that so many rows share that it matters.
    rule : MarginRule, optional
        The numbers that decide how columns become latent numbers.

    Attributes
    ----------
    found : dict of ColumnKind by name of a column
        The kinds of the columns of a fit, for fits of subsamples to keep; empty before any fit.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> z = np.random.default_rng(0).multivariate_normal(np.zeros(3), np.eye(3) * 0.4 + 0.6, size=800)
    >>> X = np.column_stack([z[:, 0] > 0, np.round(2 * z[:, 1]), np.exp(3 * z[:, 2])]).astype(float)
    >>> graph = rs.RobustGraph("copula", n_edges=3).fit(X)
    >>> bool((graph.association_ > 0).all())
    True
    """

    has_margins = True

    def __init__(self, *, kinds: Mapping[str, Kind] | None = None, rule: MarginRule | None = None) -> None:
        super().__init__()
        check_kinds(kinds or {})
        self.kinds, self.rule = dict(kinds or {}), rule or MarginRule()
        self.found: dict[str, ColumnKind] = {}

    def __repr__(self) -> str:
        given = [f"kinds={self.kinds!r}"] if self.kinds else []
        given += [] if self.rule == MarginRule() else [f"rule={self.rule!r}"]
        return f"{type(self).__name__}({', '.join(given)})"

    def of_columns(self, names: Sequence[str]) -> Self:
        """The copula of some columns, by name."""
        return self._changed(kinds={name: kind for name, kind in self.kinds.items() if name in names})

    def knowing(self, X: Array, names: Sequence[str], levels: Mapping[str, tuple[str, ...]] | None = None) -> Self:
        """The same family, which knows the kinds of columns from all rows X; those that it knew stay, by their names.

        In these rows answers that few have are merged.
        """
        if unknown := set(self.kinds) - set(names):
            raise ArgumentError(
                "kinds", sorted(unknown)[0], f"is not the name of a column; the data have {quoted(list(names))}."
            )
        levels, rule = levels or {}, self.rule
        found = {
            name: self.found[name].within(column, rule.rarest)
            if name in self.found
            else ColumnKind.of(
                *(column, self.kinds.get(name), levels.get(name, ())),
                widest_point=rule.widest_point,
                rarest=rule.rarest,
            )
            for name, column in zip(names, X.T, strict=False)
        }
        return self._changed(found=found)

    def margins(
        self,
        X: Array,
        names: Sequence[str],
        weights: Array | None = None,
        limits: Limits | None = None,
        drawn: Sequence[Array] = (),
    ) -> Margins:
        """The margins of rows X, shape (n, m), with NaN in cells without a value (see ``Margins.of``)."""
        known = self if set(names) <= set(self.found) else self.knowing(X, names)
        return Margins.of(X, weights, [known.found[name] for name in names], self.rule, limits, drawn)

    def scaling(self, X: Array | Rows, *, fit_location: bool) -> Margins:
        """The margins of the columns."""
        rows = X if isinstance(X, Rows) else ArrayRows(X)
        return self.margins(rows.gather(np.asarray), rows.names or default_names(rows.n_columns), rows.frequency)

    def elements(self, X: Array) -> PowerElements:
        """Raise: only latent numbers have score-matching elements."""
        raise UsageError(
            "Columns of any kind have no score-matching elements of their own; their latent numbers have. Fit "
            "RobustGraph('copula'), or use 'gaussian' with columns that are normal."
        )

    def scaled(self, scaling: Scaling) -> Gaussian:
        """The family of the latent numbers."""
        return Gaussian()

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """Parameters belong to the latent numbers, whatever the margins."""
        return parameters
