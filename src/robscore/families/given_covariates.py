"""A pairwise family given covariates: its location follows them, and its interactions may follow moderators.

    eta_j(c) = eta_j0 + eta_j1 c_1 + ... + eta_jq c_q                          GivenCovariates
    K(c)     = K_0 + w_1 K_1 + ... + w_Q K_Q,      w = mix (1, c)              Moderated, which has this location too

Rows have m + q columns, of which the last q are the covariates: they travel with the rows, wherever these are stored.
The parameters are eta, shape (m, 1 + q), and K, shape (m, m), or K_0 to K_Q stacked, shape ((1 + Q) m, m).

Moderators w are linear in the covariates: a number is centred and divided by its deviation; the level of a category is
1 over the root of its share in its own rows and 0 elsewhere. So the penalty is as hard on every part of K as the noise
in it is large. Since log p is linear in all parameters, so is every conditional log density: only those of the family
without covariates, the ``base``, are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.random import Generator

from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.domains import Domain, Simplex
from robscore.elements import NodeElements, PowerElements, SimplexElements
from robscore.elements.gradient_elements import ModeratedElements
from robscore.families.family import Family, Parameters, Scaling, WeightedFamily
from robscore.families.power import PowerFamily
from robscore.families.samplers.gibbs import PowerSampler
from robscore.families.samplers.sampler import Chains, Draws, Sampler
from robscore.families.samplers.slices import sweep_slices
from robscore.families.samplers.truncated_normal import draw_truncated_normal
from robscore.losses.interaction_parts import Parts, matrices
from robscore.rows.row_source import Rows, as_rows

_FEW_VALUES = 30  # of moderators, up to which rows are drawn value by value; this only saves time
_LOWEST_LOCATION = -0.95  # where a row is drawn whose location, below -1, leaves no density at zero


class GivenCovariates(Family):
    """A family whose location follows q covariates.

    Parameters
    ----------
    base : pairwise family of the first m columns
    n_given : int
        How many of the last columns are covariates.
    """

    def __init__(self, base: Family, n_given: int) -> None:
        self.base, self.n_given = base, n_given

    def _own(self, X: Array) -> Array:
        """The first m columns of the rows X."""
        return X[:, : self.own_columns(X.shape[1])]

    def _own_rows(self, X: Array | Rows) -> Rows:
        """The first m columns of rows that may not be held in memory."""
        rows = as_rows(X)
        return first_columns(rows, self.own_columns(rows.n_columns))

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        """Where the first m columns live."""
        return self.base.domain

    @property
    def has_margins(self) -> bool:  # type: ignore[override]
        """Whether the first m columns have."""
        return self.base.has_margins

    def __repr__(self) -> str:
        return repr(self.base)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenCovariates) and (self.base, self.n_given) == (other.base, other.n_given)

    def __hash__(self) -> int:
        return hash((self.base, self.n_given))

    def own_columns(self, n_columns: int) -> int:
        """All columns but the covariates."""
        return n_columns - self.n_given

    def at(self, X: Array, *parameters: Array) -> tuple[Family, Array, Parameters]:
        """The family of the first m columns, these columns, and K with eta of every row, shape (n, m)."""
        K, eta = parameters
        m = self.own_columns(X.shape[1])
        return self.base, X[:, :m], (K, eta[:, 0] + X[:, m:] @ eta[:, 1:].T)

    def elements(self, X: Array) -> PowerElements | NodeElements:
        """The elements of the first m columns, with covariates of the location."""
        m = self.own_columns(X.shape[1])
        elements = self.base.elements(X[:, :m])
        assert isinstance(elements, PowerElements | NodeElements)
        given = elements.given(X[:, m:])
        given.overflow |= elements.overflow
        return given

    def numbers_a_row(self, n_columns: int) -> int:
        """Each number is repeated for every covariate."""
        return self.base.numbers_a_row(self.own_columns(n_columns)) * (1 + self.n_given)

    def numbers_of_gamma(self, n_columns: int) -> int:
        """The side of every block grows by the covariates."""
        m = self.own_columns(n_columns)
        return -(-self.base.numbers_of_gamma(m) * (m + 1 + self.n_given) ** 2 // (m + 1) ** 2)

    def problem(self, X: Array) -> tuple[BoolArray, str]:
        """Entries of the first m columns; covariates may be any numbers."""
        bad, reason = self.base.problem(self._own(X))
        return np.concatenate([bad, np.zeros((len(X), self.n_given), dtype=bool)], axis=1), reason

    def redundancy(self, *, fit_location: bool) -> str | None:
        """The statistics are those without covariates."""
        return self.base.redundancy(fit_location=fit_location)

    def check_columns(self, n_columns: int) -> None:
        """Raise unless the base has distributions of the first m columns."""
        self.base.check_columns(self.own_columns(n_columns))

    def statistics_a_column(self, n_columns: int, *, fit_location: bool) -> int:
        """Every covariate adds one to each location."""
        return self.base.statistics_a_column(n_columns, fit_location=fit_location) + self.n_given

    def resolved(self, X: Array | Rows) -> Self:
        """The same family with whatever the base takes from its columns fixed."""
        return self._changed(base=self.base.resolved(self._own_rows(X)))

    def levelled(self, X: Array | Rows, quantile: float) -> Self:
        """The same family with the boundary weight of the base levelled off by its columns."""
        return self._changed(base=self.base.levelled(self._own_rows(X), quantile))

    def oriented(self, X: Array | Rows) -> Self:
        """The same family with the arbitrary choices of the base made by its columns."""
        return self._changed(base=self.base.oriented(self._own_rows(X)))

    def scaling(self, X: Array | Rows, *, fit_location: bool) -> Scaling:
        """Scale the first m columns as the base does, if it does; covariates stay as they are."""
        rows = self._own_rows(X)
        unscaled = Scaling(np.zeros(rows.n_columns), np.ones(rows.n_columns))
        own = self.base.scaling(rows, fit_location=fit_location) or unscaled
        none = np.zeros(self.n_given)
        return replace(own, centre=np.append(own.centre, none), scale=np.append(own.scale, none + 1))

    def _own_scaling(self, scaling: Scaling) -> Scaling | None:
        """The part of a scaling that concerns the first m columns; None where it changes nothing."""
        m = scaling.scale.size - self.n_given
        own = replace(scaling, centre=scaling.centre[:m], scale=scaling.scale[:m])
        return own if self.has_margins or own.centre.any() or (own.scale != 1).any() else None

    def scaled(self, scaling: Scaling) -> Self:
        """The same family for scaled columns."""
        own = self._own_scaling(scaling)
        return self._changed(base=self.base if own is None else self.base.scaled(own))

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """Map every location as the base does, then to the units of the covariates."""
        K, eta = parameters
        own = self._own_scaling(scaling)
        if own is not None:
            K, eta = self._unscale_own(K, eta, own)
        return K, self._unscale_given(eta, scaling)

    def _unscale_own(self, K: Array, eta: Array, own: Scaling) -> tuple[Array, Array]:
        """K and all locations in the units of the columns; covariates are still scaled."""
        none = np.zeros_like(K)
        effects = [self.base.unscale((none, column), own)[1] for column in eta.T[1:]]
        K, constant = self.base.unscale((K, eta[:, 0]), own)
        return K, np.column_stack([constant, *effects])

    def _unscale_given(self, eta: Array, scaling: Scaling) -> Array:
        """The location with its effects per unit of the given covariates."""
        effects = eta[:, 1:] / scaling.scale[-self.n_given :]
        return np.column_stack([eta[:, 0] - effects @ scaling.centre[-self.n_given :], effects])

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """The log density at the location of every row, up to a constant that depends on its covariates."""
        base, own, parameters = self.at(X, *parameters)
        return base.log_density(own, *parameters)

    def symmetric(self, X: Array) -> Array:
        """The first m columns, after the map of the base."""
        return self.base.symmetric(self._own(X))

    @property
    def is_natural(self) -> bool:
        """The location is linear in its parameters, so this depends on the base alone."""
        return self.base.is_natural

    def conditional(self, X: Array, j: int, *parameters: Array) -> Callable[[Array], Array]:
        """The conditional of the base, at the location of every row."""
        base, own, parameters = self.at(X, *parameters)
        return base.conditional(own, j, *parameters)

    def sampler(self) -> Sampler:
        """One row is drawn for every row of covariates."""
        return CovariateSampler(self)

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Raise unless there is a distribution where all covariates are zero."""
        self.base.check_parameters(interaction, location[:, 0])


@dataclass(frozen=True)
class CovariateSampler(Sampler):
    """Draws one row at the covariates of each row that it starts from."""

    family: GivenCovariates
    from_start = True

    def draw(self, K: Array, eta: Array, n_rows: int, chains: Chains, rng: Generator) -> Draws:
        """Draw at the covariates of the rows of ``start``, by chains of ``burn_in`` sweeps where there are chains."""
        assert chains.start is not None
        X = self._drawn(K, eta, chains.start, chains.burn_in, rng)
        return Draws(X, np.full(len(K), float(n_rows)))

    def simulate(self, K: Array, eta: Array, *, seed: int, start: Array, sweeps: int) -> Array:
        """Draw at the covariates of the rows that chains start from."""
        return self._drawn(K, eta, start, sweeps, np.random.default_rng(seed))

    def _drawn(self, K: Array, eta: Array, start: Array, sweeps: int, rng: Generator) -> Array:
        base, own, (_, at_rows) = self.family.at(start, K, eta)
        drawn = _drawn_at(base, K, at_rows, own, sweeps, rng)
        return np.concatenate([drawn, start[:, own.shape[1] :]], axis=1)


def _drawn_at(base: Family, K: Array, at_rows: Array, start: Array, sweeps: int, rng: Generator) -> Array:
    """Draw one row of the base for every row of its locations, which are raised where there is no density."""
    try:
        base.check_parameters(K, at_rows.min(axis=0))
    except ValueError:
        at_rows = np.maximum(at_rows, _LOWEST_LOCATION)
    return base.sampler().draw_each(np.ascontiguousarray(K), at_rows, start=start, sweeps=sweeps, rng=rng)


def first_columns(rows: Rows, n_columns: int) -> Rows:
    """The first columns of rows."""
    return rows.mapped(partial(_cut, n_columns), n_columns)


def _cut(n_columns: int, X: Array) -> Array:
    return X[:, :n_columns]


@dataclass(frozen=True, eq=False)
class Moderation:
    """How covariates become moderators.

    Attributes
    ----------
    mix : array of shape (Q, 1 + q)
        w = mix (1, c).
    parts : Parts
        Which parts K has, and how each is penalised.
    means : array of shape (Q,)
        Means of the moderators over the rows of the fit.
    seen : array of shape (S, Q)
        Values of w whose convex hull holds all that were seen, so that a density there is one everywhere.
    scales : array of shape (Q, m), optional
        Where the moderator is one category: the scales of every group's columns, by which each group has the loss
        that it would have alone (:meth:`Moderated.on_own_scales`).
    """

    mix: Array
    parts: Parts
    means: Array
    seen: Array
    scales: Array | None = None

    def of(self, c: Array) -> Array:
        """The moderators of covariates c, shape (n, q), as an array of shape (n, Q)."""
        return np.asarray(self.mix[:, 0] + c @ self.mix[:, 1:].T)

    def scaled(self, centre: Array, scale: Array) -> Moderation:
        """The same moderators as functions of scaled covariates, (c - centre) / scale."""
        mix = np.column_stack([self.mix[:, 0] + self.mix[:, 1:] @ centre, self.mix[:, 1:] * scale])
        return replace(self, mix=mix)


class Moderated(GivenCovariates):
    """A family whose location follows q covariates, some of which moderate its interactions too.

    Parameters
    ----------
    base : pairwise family of the first m columns
    n_given : int
        How many of the last columns are covariates.
    moderation : Moderation
    """

    def __init__(self, base: Family, n_given: int, moderation: Moderation) -> None:
        super().__init__(base, n_given)
        self.moderation = moderation

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and isinstance(other, Moderated) and other.moderation is self.moderation

    __hash__ = GivenCovariates.__hash__

    def moderators(self, X: Array) -> Array:
        """The moderators w of rows with their covariates, shape (n, Q)."""
        return self.moderation.of(X[:, self.own_columns(X.shape[1]) :])

    def interaction_at(self, interaction: Array, w: Array) -> Array:
        """K at one value of the moderators, shape (m, m), or at each of many, (n, m, m), from all parts."""
        first, *others = matrices(interaction)
        return np.asarray(first + np.tensordot(w, np.array(others), axes=1))

    def common(self, interaction: Array) -> Array:
        """K_0, with the diagonal that rows have on average."""
        K = matrices(interaction)[0].copy()
        np.fill_diagonal(K, self.interaction_at(interaction, self.moderation.means).diagonal())
        return K

    def with_shared(self, interaction: Array) -> Array:
        """The same K in every group; where all groups have an edge of one sign, K_0 gets the weakest of these edges."""
        if not self.moderation.parts.are_groups:
            return interaction
        K = matrices(interaction).copy()
        means = self.moderation.means[:, None, None]  # those of groups are 1 / w, and rows of a group have K_0 + w K_g
        totals = K[0] + K[1:] / means
        signs = np.sign(totals)
        shared = (K[0] == 0) & (K[1:] != 0).all(axis=0) & (signs == signs[0]).all(axis=0)
        np.fill_diagonal(shared, val=False)
        K[0][shared] = (signs[0] * np.abs(totals).min(axis=0))[shared]
        K[1:] = np.where(shared, (totals - K[0]) * means, K[1:])
        return K.reshape(interaction.shape)

    def elements(self, X: Array) -> ModeratedElements:
        """The elements of the first m columns, times the moderators."""
        m, base, w = self.own_columns(X.shape[1]), self.base, self.moderators(X)
        counts = None
        if self.moderation.scales is not None:
            assert isinstance(base, WeightedFamily)
            r = self.moderation.scales[w.argmax(axis=1)]
            base, counts = base.stretched(r), r ** (2 - base.boundary.leading[1])
        plain = base.elements(X[:, :m])
        assert isinstance(plain, PowerElements | NodeElements)
        assert not isinstance(plain, SimplexElements)
        return ModeratedElements(plain, w, X[:, m:], self.moderation.parts, counts)

    def on_own_scales(self, rows: Rows, *, fit_location: bool) -> Moderated:
        """The same groups, each with the loss and the penalty that it would have if its rows were scaled alone.

        With x / r in place of x the interactions are F K, and the loss of node j is r_j^(2 - p) times as large, for
        the boundary weight d^p (and for others that begin as d^p, with r^p h(d / r) in place of h). So the loss of node
        j in this group is multiplied by r_j^(2 - p), and the penalty by F.
        """
        m, moderation = self.own_columns(rows.n_columns), self.moderation
        assert isinstance(self.base, WeightedFamily)
        group = rows.gather(self.moderators).argmax(axis=1)
        scales, penalties = np.ones((moderation.parts.count - 1, m)), np.ones((moderation.parts.count, m, m))
        for k in range(len(scales)):
            of_group = first_columns(rows.selected(np.flatnonzero(group == k)), m)
            scaling = self.base.scaling(of_group, fit_location=fit_location)
            if scaling is None or not (scaling.scale > 0).all():
                continue
            own = Scaling(np.zeros(m), scaling.scale)
            scales[k] = scaling.scale
            penalties[1 + k] = 1 / self.base.unscale((np.ones((m, m)), np.zeros(m)), own)[0]
        parts = replace(moderation.parts, penalties=penalties)
        return Moderated(self.base, self.n_given, replace(moderation, parts=parts, scales=scales))

    def _width(self, m: int) -> int:
        return m * self.moderation.parts.count + 1 + self.n_given

    def numbers_a_row(self, n_columns: int) -> int:
        """V and g of every node; twice as many for groups, which are fitted on their own scales too."""
        m = self.own_columns(n_columns)
        return (4 if self.moderation.parts.are_groups else 2) * m * (self._width(m) + 1)

    def numbers_of_gamma(self, n_columns: int) -> int:
        """Gamma has one block per node."""
        m = self.own_columns(n_columns)
        return m * self._width(m) ** 2

    def statistics_a_column(self, n_columns: int, *, fit_location: bool) -> int:
        """Every part of K that has a diagonal adds as many interactions."""
        plain = super().statistics_a_column(n_columns, fit_location=fit_location)
        return plain + n_columns * (len(self.moderation.parts.with_diagonal) - 1)

    def scaled(self, scaling: Scaling) -> Self:
        """The same family for scaled columns and covariates."""
        moderation = self.moderation.scaled(scaling.centre[-self.n_given :], scaling.scale[-self.n_given :])
        return super().scaled(scaling)._changed(moderation=moderation)

    def unscale(self, parameters: Parameters, scaling: Scaling) -> Parameters:
        """Map part by part; where a part moves the location, its moderator adds that to the effects."""
        K, eta = parameters
        own, q = self._own_scaling(scaling), self.n_given
        if own is not None:
            first, *others = matrices(K)
            first, eta = self._unscale_own(first, eta, own)
            none, mix = np.zeros(len(eta)), self.moderation.scaled(scaling.centre[-q:], scaling.scale[-q:]).mix
            found = [self.base.unscale((part, none), own) for part in others]
            K = np.concatenate([first, *(part for part, _ in found)])
            for (_, shift), row in zip(found, mix, strict=False):
                eta = eta + np.multiply.outer(shift, row)
        return K, self._unscale_given(eta, scaling)

    def _split(self, X: Array, *parameters: Array) -> tuple[list[tuple[Array, Array]], Array]:
        """The parameters of every part, K_0 with the location of every row, the others with none; and w, (n, Q)."""
        K, eta = parameters
        at_rows = eta[:, 0] + X[:, self.own_columns(X.shape[1]) :] @ eta[:, 1:].T
        first, *others = matrices(K)
        none = np.zeros(len(eta))
        return [(first, at_rows), *((part, none) for part in others)], self.moderators(X)

    def log_density(self, X: Array, *parameters: Array) -> Array:
        """The log density at every row's own parameters, up to a constant that depends on its covariates."""
        own = self._own(X)
        (first, *others), w = self._split(X, *parameters)
        total = self.base.log_density(own, *first)
        for part, weight in zip(others, w.T, strict=True):
            total = total + weight * self.base.log_density(own, *part)
        return total

    def conditional(self, X: Array, j: int, *parameters: Array) -> Callable[[Array], Array]:
        """The conditional at every row's own parameters, as a sum over the parts of K."""
        parts, w = self._split(X, *parameters)
        first, *others = (self.base.conditional(self._own(X), j, *part) for part in parts)

        def log_density(values: Array) -> Array:
            total = first(values)
            for part, weight in zip(others, w.T, strict=True):
                total = total + weight * part(values)
            return total

        return log_density

    def at(self, X: Array, *parameters: Array) -> tuple[Family, Array, Parameters]:
        """The family of the first m columns as it is at these rows, these columns, and the parameters as they are."""
        m = self.own_columns(X.shape[1])
        return _AtRows(self, X[:, m:]), X[:, :m], parameters

    def laws(self, X: Array, *parameters: Array) -> Iterator[tuple[IntArray, Parameters]]:
        """The rows X by the values of the moderators, with the locations of every row."""
        K, eta = parameters
        at_rows = eta[:, 0] + X[:, self.own_columns(X.shape[1]) :] @ eta[:, 1:].T
        values, which = np.unique(self.moderators(X).round(10), axis=0, return_inverse=True)
        for k, value in enumerate(values):
            rows = np.flatnonzero(which.ravel() == k)
            yield rows, (self.interaction_at(K, value), at_rows[rows])

    def sampler(self) -> Sampler:
        """One row is drawn for every row of covariates."""
        return ModeratorSampler(self)

    def check_parameters(self, interaction: Array, location: Array) -> None:
        """Raise unless there is a distribution at all values of the moderators, with zero covariates elsewhere."""
        for K in self.interaction_at(interaction, self.moderation.seen):
            self.base.check_parameters(K, location[:, 0])


class _AtRows(Family):
    """The family of the first m columns at the covariates of certain rows."""

    def __init__(self, family: Moderated, given: Array) -> None:
        self.family, self.given, self.domain = family, given, family.domain

    def elements(self, X: Array) -> ModeratedElements:
        """The elements of the whole family, with the covariates of these rows."""
        return self.family.elements(np.concatenate([X, self.given], axis=1))

    def conditional(self, X: Array, j: int, *parameters: Array) -> Callable[[Array], Array]:
        """The conditional of the whole family, at the covariates of these rows."""
        return self.family.conditional(np.concatenate([X, self.given], axis=1), j, *parameters)

    def draw_conditional(
        self, X: Array, j: int, interaction: Array, location: Array, lower: Array, upper: Array, rng: Generator
    ) -> Array | None:
        """Draw as the base's sampler does on [0, inf); with a = b = 1 elsewhere from a normal within the intervals."""
        base, parts = self.family.base, matrices(interaction)
        w = np.column_stack([np.ones(len(X)), self.family.moderation.of(self.given)])
        precision = w @ parts[:, j, j]
        if not (isinstance(base, PowerFamily) and base.a > 0 and (precision > 0).all()):
            return None
        u = X**base.a
        rest = np.einsum("nq,nq->n", w, u @ parts[:, :, j].T) - u[:, j] * precision
        eta = location[j, 0] + self.given @ location[j, 1:]
        sampler = base.sampler()
        if isinstance(sampler, PowerSampler):
            return sampler.draw_given(precision, rest, eta, rng)
        if not base.a == base.b == 1:
            return None
        deviation = precision**-0.5
        low, high = (part / deviation[:, None] for part in (lower, upper))
        return draw_truncated_normal((eta - rest) * deviation, 1.0, low, high, rng) * deviation


@dataclass(frozen=True)
class ModeratorSampler(CovariateSampler):
    """Draws one row at the covariates of each row that it starts from.

    Where moderators have few values, the rows of each value are drawn by the base's own sampler; else by slices.
    """

    family: Moderated

    def _drawn(self, K: Array, eta: Array, start: Array, sweeps: int, rng: Generator) -> Array:
        base, m = self.family.base, self.family.own_columns(start.shape[1])
        laws, own = list(self.family.laws(start, K, eta)), start[:, :m]
        if len(laws) > _FEW_VALUES:
            drawn = sweep_slices(_AtRows(self.family, start[:, m:]), K, eta, own, sweeps, rng)
            return np.concatenate([drawn, start[:, m:]], axis=1)
        drawn = np.empty_like(own)
        for rows, (own_K, at_rows) in laws:
            drawn[rows] = _drawn_at(base, own_K, at_rows, own[rows], sweeps, rng)
        return np.concatenate([drawn, start[:, m:]], axis=1)


def can_be_moderated(family: Family) -> bool:
    """Whether the elements of a family have one block per node, which is all that moderators need."""
    return family.is_pairwise and not isinstance(family.domain, Simplex)
