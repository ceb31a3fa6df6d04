"""Margins of each group, where groups have interactions of their own.

Latent numbers have mean 0 and variance 1 in every group. With margins in common, latent numbers of groups whose columns
have other shapes would not be normal, and associations would seem to differ that do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.copula import GaussianCopula, Limits, Margins


@dataclass(frozen=True, eq=False)
class MarginsOfGroups(Margins):
    """Margins that are those of a row's group; ``values``, ``upper`` and ``drawn`` are those of all rows together.

    Attributes
    ----------
    of_groups : tuple of Margins
    moderators : function
        From covariates of rows as given, shape (n, q), to their moderators, shape (n, Q).
    at : array of shape (groups, Q)
        The moderators of each group.
    """

    of_groups: tuple[Margins, ...] = ()
    moderators: Callable[[Array], Array] = np.asarray
    at: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def among(
        cls,
        family: GaussianCopula,
        X: Array,
        names: Sequence[str],
        moderators: Callable[[Array], Array],
        weights: Array | None = None,
        limits: Limits | None = None,
        drawn: Sequence[Array] = (),
    ) -> Self:
        """Of the rows X with their covariates, shape (n, m + q), as :meth:`Margins.of` has the margins of all rows.

        In a group without any value of a column, the margin of that column is the one of all rows.

        Examples
        --------
        >>> import numpy as np, robscore as rs
        >>> from robscore.families.group_margins import MarginsOfGroups
        >>> X = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 1.0], [5.0, 1.0], [6.0, 1.0]])
        >>> margins = MarginsOfGroups.among(rs.families.GaussianCopula(), X, ["x"], np.asarray)
        >>> margins.apply(X)[:, 0].round(2).tolist()
        [-0.97, 0.0, 0.97, -0.97, 0.0, 0.97]
        """
        m = len(names)
        own, whole = X[:, :m], family.margins(X[:, :m], names, weights, limits, drawn)
        at, which = np.unique(moderators(X[:, m:]).round(10), axis=0, return_inverse=True)
        found = []
        for k in range(len(at)):
            rows = np.flatnonzero(which.ravel() == k)
            counted = ~np.isnan(own[rows]) & (True if weights is None else (weights[rows] > 0)[:, None])
            without = np.flatnonzero(~counted.any(axis=0))
            of_group = family.margins(
                np.where(np.isin(np.arange(m), without), 0.0, own[rows]),
                names,
                None if weights is None or not counted.any() else weights[rows],
                None if limits is None else (limits[0][rows], limits[1][rows]),
                [table[rows] for table in drawn],
            )
            found.append(_with_columns(of_group, whole, without.tolist()))
        q = X.shape[1] - m
        units = np.append(whole.centre, np.zeros(q)), np.append(whole.scale, np.ones(q))
        fields = *units, whole.values, whole.upper, whole.drawn, whole.kinds
        return cls(*fields, tail=whole.tail, of_groups=tuple(found), moderators=moderators, at=at)

    def bounds(self, X: Array, limits: Limits | None = None) -> tuple[Array, Array]:
        """Between which numbers latent numbers of rows X with their covariates lie, by the margins of their groups."""
        lower, upper = (np.empty((len(X), len(self.values))) for _ in range(2))
        for rows, own in self._by_group(X[:, len(self.values) :]):
            some = None if limits is None else (limits[0][rows], limits[1][rows])
            lower[rows], upper[rows] = own.bounds(X[rows], some)
        return lower, upper

    def apply(self, X: Array) -> Array:
        """Latent numbers of rows X with their covariates, by the margins of their groups."""
        latent = np.empty(X.shape)
        for rows, own in self._by_group(X[:, len(self.values) :]):
            latent[rows] = own.apply(X[rows])
        return latent

    def judged(self, X: Array, drawn: BoolArray, latent: Array) -> Array:
        """Latent numbers to judge rows by, those of all rows of their groups (:meth:`Margins.judged`)."""
        judged, m = latent.copy(), len(self.values)
        for k, (rows, own) in enumerate(self._by_group(latent[:, m:] * self.scale[m:] + self.centre[m:])):
            every = self.every.of_groups[k] if isinstance(self.every, MarginsOfGroups) else None
            judged[rows] = replace(own, every=every).judged(X[rows], drawn[rows], latent[rows])
        return judged

    def undo(self, Y: Array) -> Array:
        """Values in the units of the columns, and covariates, of latent numbers Y, by the margins of their groups."""
        values, m = np.empty(Y.shape), len(self.values)
        for rows, own in self._by_group(Y[:, m:] * self.scale[m:] + self.centre[m:]):
            values[rows] = own.undo(Y[rows])
        return values

    def _by_group(self, given: Array) -> list[tuple[IntArray, Margins]]:
        """The rows of each group by their covariates as given, with its margins."""
        away = self.moderators(given)[:, None] - self.at
        group = np.einsum("ngq,ngq->ng", away, away).argmin(axis=1)
        return [
            (np.flatnonzero(group == k), replace(own, centre=self.centre, scale=self.scale, past=self.past))
            for k, own in enumerate(self.of_groups)
        ]


def _with_columns(margins: Margins, other: Margins, columns: Sequence[int]) -> Margins:
    """Margins of which some columns are those of other ones."""
    values, upper, drawn = (
        tuple(b if j in columns else a for j, (a, b) in enumerate(zip(*pair, strict=True)))
        for pair in ((margins.values, other.values), (margins.upper, other.upper), (margins.drawn, other.drawn))
    )
    return replace(margins, values=values, upper=upper, drawn=drawn)
