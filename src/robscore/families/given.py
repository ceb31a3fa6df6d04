"""A pairwise family whose location follows covariates.

    eta_j(c) = eta_j0 + eta_j1 c_1 + ... + eta_jq c_q

Rows have m + q columns, of which the last q are the covariates: they travel with the rows, wherever these are. The
parameters are K, shape (m, m), and eta, shape (m, 1 + q).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from robscore._tools.typing import Array, BoolArray
from robscore.domains import Domain
from robscore.elements import NodeElements, PowerElements
from robscore.families.base import Family, Parameters, Scaling
from robscore.families.samplers.base import Draws, Sampler
from robscore.rows.arrays import as_rows
from robscore.rows.base import Rows

LEAST_LOCATION = -0.95  # of rows that would have no density, when rows are drawn


class Given(Family):
    """A family given q covariates.

    Parameters
    ----------
    base : pairwise family of the first m columns
    n_given : int
        How many of the last columns are covariates.
    """

    def __init__(self, base: Family, n_given: int) -> None:
        self.base, self.n_given = base, n_given

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Of the first m columns."""
        return self.base.domain

    def __repr__(self) -> str:
        return repr(self.base)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Given) and (self.base, self.n_given) == (other.base, other.n_given)

    def __hash__(self) -> int:
        return hash((self.base, self.n_given))

    def own_columns(self, n_columns: int) -> int:
        """All but the covariates."""
        return n_columns - self.n_given

    def at(self, X: Array, *parameters: Array) -> tuple[Family, Array, Parameters]:
        """The family of the first m columns, these columns, and K with eta of every row, shape (n, m)."""
        K, eta = parameters
        m = self.own_columns(X.shape[1])
        return self.base, X[:, :m], (K, eta[:, 0] + X[:, m:] @ eta[:, 1:].T)

    def elements(self, X: Array) -> PowerElements | NodeElements:
        """Those of the first m columns, with covariates of the location."""
        m = self.own_columns(X.shape[1])
        elements = self.base.elements(X[:, :m])
        assert isinstance(elements, PowerElements | NodeElements)
        given = elements.given(X[:, m:])
        given.overflow |= elements.overflow
        return given

    def numbers_a_row(self, n_columns: int) -> int:
        """With the covariates."""
        return self.base.numbers_a_row(self.own_columns(n_columns)) * (1 + self.n_given)

    def numbers_of_gamma(self, n_columns: int) -> int:
        """With the covariates."""
        m = self.own_columns(n_columns)
        return -(-self.base.numbers_of_gamma(m) * (m + 1 + self.n_given) ** 2 // (m + 1) ** 2)

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Of the first m columns; covariates may be any numbers."""
        m = self.own_columns(X.shape[1])
        bad, reason = self.base.problem(X[:, :m])
        return np.concatenate([bad, np.zeros((len(X), self.n_given), dtype=bool)], axis=1), reason

    def redundancy(self, *, fit_location: bool) -> str | None:
        """As without covariates."""
        return self.base.redundancy(fit_location=fit_location)

    def check_columns(self, n_columns: int) -> None:
        """Of the first m columns."""
        self.base.check_columns(self.own_columns(n_columns))

    def statistics_a_column(self, n_columns: int, *, fit_location: bool) -> int:
        """One more for every covariate."""
        return self.base.statistics_a_column(n_columns, fit_location=fit_location) + self.n_given

    def resolved(self, X: Array | Rows) -> Given:
        """With whatever the family takes from its columns fixed."""
        rows = as_rows(X)
        return Given(self.base.resolved(first_columns(rows, self.own_columns(rows.n_columns))), self.n_given)

    def levelled(self, X: Array | Rows, quantile: float) -> Given:
        """With the family's weight levelled by its columns."""
        rows = as_rows(X)
        return Given(self.base.levelled(first_columns(rows, self.own_columns(rows.n_columns)), quantile), self.n_given)

    def oriented(self, X: Array | Rows) -> Given:
        """With what is arbitrary in the family chosen by its columns."""
        rows = as_rows(X)
        return Given(self.base.oriented(first_columns(rows, self.own_columns(rows.n_columns))), self.n_given)

    def scaling(self, X: Array | Rows, *, fit_location: bool) -> Scaling:
        """As the family scales its columns, if it does; covariates stay as they are."""
        rows = as_rows(X)
        m = self.own_columns(rows.n_columns)
        own = self.base.scaling(first_columns(rows, m), fit_location=fit_location) or Scaling(np.zeros(m), np.ones(m))
        none = np.zeros(self.n_given)
        return Scaling(np.append(own.centre, none), np.append(own.scale, none + 1))

    def _own(self, scaling: Scaling) -> Scaling | None:
        """The part of a scaling that is of the first columns; None where it does nothing."""
        m = scaling.scale.size - self.n_given
        own = Scaling(scaling.centre[:m], scaling.scale[:m])
        return own if own.centre.any() or (own.scale != 1).any() else None

    def scaled(self, scaling: Scaling) -> Given:
        """The same for scaled columns."""
        own = self._own(scaling)
        return Given(self.base if own is None else self.base.scaled(own), self.n_given)

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """Those of the given columns: every location as the family maps it, then by the units of the covariates."""
        K, eta = parameters
        own = self._own(scaling)
        if own is not None:
            K, eta = self._unscale_own(K, eta, own)
        return K, self._unscale_given(eta, scaling)

    def _unscale_own(self, K: Array, eta: Array, own: Scaling) -> tuple[Array, Array]:
        """K and all locations in the units of the columns, still by those of scaled covariates."""
        none = np.zeros_like(K)
        effects = [self.base.unscale((none, column), own)[1] for column in eta.T[1:]]
        K, constant = self.base.unscale((K, eta[:, 0]), own)
        return K, np.column_stack([constant, *effects])

    def _unscale_given(self, eta: Array, scaling: Scaling) -> Array:
        """Locations by covariates in their own units."""
        effects = eta[:, 1:] / scaling.scale[-self.n_given :]
        return np.column_stack([eta[:, 0] - effects @ scaling.centre[-self.n_given :], effects])

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """At the location of every row; up to a constant that depends on its covariates."""
        base, own, parameters = self.at(X, *parameters)
        return base.log_density(own, *parameters)

    def symmetric(self, X: Array) -> Array:
        """Of the first m columns."""
        return self.base.symmetric(X[:, : self.own_columns(X.shape[1])])

    @property
    def is_natural(self) -> bool:
        """As without covariates."""
        return self.base.is_natural

    def conditional(self, X: Array, j: int, *parameters: Array) -> Callable[[Array], Array]:
        """At the location of every row."""
        base, own, parameters = self.at(X, *parameters)
        return base.conditional(own, j, *parameters)

    def sampler(self) -> Sampler:
        """A row for every row of covariates."""
        return GivenSampler(self)

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Raise unless there is a distribution where all covariates are zero."""
        self.base.check_parameters(interaction, location[:, 0])


@dataclass(frozen=True)
class GivenSampler(Sampler):
    """Draws a row at the covariates of each of those that it starts from."""

    family: Given
    from_start = True

    def draw(
        self,
        K: Array,
        eta: Array,
        n_rows: int,
        *,
        burn_in: int,
        thin: int,
        start: Array | None,
        rng: np.random.Generator,
    ) -> Draws:
        """Rows at the covariates of the rows of ``start``, chains of ``burn_in`` sweeps where there are chains."""
        assert start is not None
        X = self._drawn(K, eta, start, burn_in, rng)
        return Draws(X, np.full(len(K), float(n_rows)))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """At the covariates of the rows that chains start from."""
        return self._drawn(K, eta, start, sweeps, np.random.default_rng(seed))

    def _drawn(self, K: Array, eta: Array, start: Array, sweeps: int, rng: np.random.Generator) -> Array:
        base, own, (_, at_rows) = self.family.at(start, K, eta)
        try:
            base.check_parameters(K, at_rows.min(axis=0))
        except ValueError:
            at_rows = np.maximum(at_rows, LEAST_LOCATION)
        drawn = base.sampler().draw_each(np.ascontiguousarray(K), at_rows, start=own, sweeps=sweeps, rng=rng)
        return np.concatenate([drawn, start[:, own.shape[1] :]], axis=1)


def first_columns(rows: Rows, n_columns: int) -> Rows:
    """The first columns of rows."""
    return rows.mapped(partial(_cut, n_columns), n_columns)


def _cut(n_columns: int, X: Array) -> Array:
    return X[:, :n_columns]
