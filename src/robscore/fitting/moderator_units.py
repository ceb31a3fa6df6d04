"""Moderators of interactions: their units, the values that were seen, and refusals of constant ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Phrase, Remark, Setting, UsageError, first_few, quoted
from robscore._tools.typing import AnyArray, Array
from robscore.families.family import Family, Parameters
from robscore.families.given_covariates import GivenCovariates, Moderated, Moderation
from robscore.losses.interaction_parts import Parts
from robscore.rows.covariate_columns import Covariate, Moderator
from robscore.rows.inspection import Inspection
from robscore.rows.row_source import Rows

_FEWEST_ROWS = 10  # of a group
_MOST_SEEN = 200  # values of moderators that interactions are looked at
_MOST_ROWS = 20_000  # that they are taken from
_MOST_CODES = 10  # different whole numbers that may stand for groups


@dataclass(frozen=True)
class Placed:
    """A moderator with its units and its parts of K.

    Attributes
    ----------
    moderator : Moderator
    first : int
        The first of its parts; 0 is K_0.
    centre, spread : arrays of shape (parts,)
        A part's w is (value - centre) / spread; the value of a level is 1 in its own rows and 0 elsewhere.
    low, high : float
        Between which numbers were seen.
    codes : tuple of int
        All numbers that were seen, where these are a few whole ones that may stand for groups.
    """

    moderator: Moderator
    first: int
    centre: Array
    spread: Array
    low: float
    high: float
    codes: tuple[int, ...] = ()

    @property
    def parts(self) -> range:
        """Its parts."""
        return range(self.first, self.first + self.spread.size)

    def w(self, value: Any) -> Array:
        """Of a level or a number, shape (parts,); raise on what was not seen."""
        own = self.moderator.covariate
        if own.levels:
            if value not in own.levels:
                known = first_few([repr(level) for level in own.levels])
                raise ArgumentError(own.name, value, f"is not a group of the fit; it knows {known}.")
            values = np.array([level == value for level in own.levels], dtype=float)
        else:
            values = own.columns(_as_values(own, value))[0]
            if not self.low <= values[0] <= self.high:
                raise ArgumentError(
                    own.name, value, f"lies outside {self.low:.6g} to {self.high:.6g}, the range seen by the fit: "
                    "nothing is claimed beyond it."
                )  # fmt: skip
        return np.asarray((values - self.centre) / self.spread)


def _as_values(own: Covariate, value: Any) -> AnyArray:
    """One number or date as an array."""
    if own.kind == "number" and isinstance(value, str):
        raise ArgumentError(
            own.name, value, "must be one number, as in the fit. If numbers are codes of groups, fit with texts in "
            "their place."
        )  # fmt: skip
    if isinstance(value, str) or np.ndim(value):
        try:
            return np.array([np.datetime64(value)])
        except ValueError:
            raise ArgumentError(own.name, value, "must be one number, or date, as in the fit.") from None
    values = np.array([value])
    return values.astype("datetime64[us]") if values.dtype.kind in "MO" else values


def check_present(moderators: Sequence[Moderator], found: Inspection, n_columns: int) -> None:
    """Raise where the moderators of rows are missing, of which the first n columns are not covariates."""
    for own in moderators:
        column = n_columns + own.columns[0]
        if count := int(found.absent.counts[column]):
            where, rows = found.at(int(found.absent.first[column])), "row" if count == 1 else "rows"
            raise UsageError(
                f"The moderator {own.name!r} is missing in {count} {rows} (first in ", where, "): the graph of such "
                "rows is not known. Leave out incomplete rows with ", Setting("missing", "drop"),
                ", or give these a group of their own, such as 'unknown'." if own.levels else ".",
            )  # fmt: skip


def place_moderators(
    family: GivenCovariates, rows: Rows, moderators: Sequence[Moderator]
) -> tuple[Moderated, list[Placed]]:
    """The family with moderators, in units that follow from the rows that count, as given; and these units."""
    q = family.n_given
    c = _some(rows, q)
    total, sums, squares = rows.total(partial(_sums, q), *(() if rows.frequency is None else (rows.frequency,)))
    ends = np.array([found for _, found in rows.each(partial(_ends, q))])
    low, high, mean = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0), sums / total
    placed: list[Placed] = []
    mixes, levels, first = [], [], 1
    for own in moderators:
        at = list(own.columns)
        mix = np.zeros((len(own.terms), 1 + q))
        if own.levels:
            mix[np.arange(1, len(own.levels)), 1 + np.array(at)] = 1.0
            mix[0] = -mix.sum(axis=0)
            mix[0, 0] += 1.0
            share = np.append(1 - mean[at].sum(), mean[at])
            _check_groups(own, share * total)
            centre, spread = np.zeros(share.size), np.sqrt(share)
            levels.append(tuple(range(first, first + share.size)))
        else:
            mix[0, 1 + at[0]] = 1.0
            centre = mean[at]
            spread = np.sqrt(np.maximum(squares[at] / total - mean[at] ** 2, 0.0))
            if not spread[0] > 1e-7 * max(abs(centre[0]), np.finfo(float).tiny):
                raise UsageError(f"The moderator {own.name!r} is constant, so nothing changes with it; drop it.")
        mix[:, 0] -= centre
        mixes.append(mix / spread[:, None])
        codes = _codes(c[:, at[0]]) if own.covariate.kind == "number" else ()
        placed.append(Placed(own, first, centre, spread, float(low[at[0]]), float(high[at[0]]), codes))
        first += spread.size
    moderation = Moderation(np.concatenate(mixes), Parts(first, tuple(levels)), np.zeros(0), np.zeros((0, 0)))
    w = moderation.of(c)
    moderation = Moderation(moderation.mix, moderation.parts, moderation.of(mean[None])[0], _seen(w))
    return Moderated(family.base, q, moderation), placed


def _codes(values: Array) -> tuple[int, ...]:
    """The different values, where they are a few whole numbers; of two a line says as much as two groups."""
    different = np.unique(values)
    are_few = 2 < different.size <= _MOST_CODES
    return tuple(int(value) for value in different) if are_few and (different == different.round()).all() else ()


def remarks_on_codes(placed: Sequence[Placed]) -> list[Remark]:
    """Cautions about numbers that may be codes of groups."""
    return [
        Remark(
            f"The moderator {own.moderator.name!r} has the values {first_few([str(code) for code in own.codes])} and "
            "was taken for a number, so interactions change with it in a straight line. If these are codes of groups, "
            "turn them into texts.",
            UserWarning,
        )
        for own in placed
        if own.codes
    ]


def _check_groups(own: Moderator, counts: Array) -> None:
    few = [f"{level!r} ({count:.0f})" for level, count in zip(own.levels, counts, strict=True) if count < _FEWEST_ROWS]
    if few:
        raise UsageError(
            f"Groups of {own.name!r} with too few rows: {first_few(few)}; each needs at least {_FEWEST_ROWS}. Join "
            "groups, or drop their rows."
        )


def _seen(w: Array) -> Array:
    """Values that surround all: every one where there are few, else the ends of every moderator and some between."""
    values = np.unique(w.round(10), axis=0)
    if len(values) <= _MOST_SEEN:
        return values
    ends = np.concatenate([w.argmin(axis=0), w.argmax(axis=0)])
    between = np.linspace(0, len(w) - 1, _MOST_SEEN - 2 * w.shape[1]).astype(np.intp) if w.shape[1] > 1 else ends[:0]
    return np.unique(w[np.append(ends, between)], axis=0)


def _some(rows: Rows, q: int) -> Array:
    """Covariates of rows, all or some that are spread over the data."""
    chosen = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _MOST_ROWS)).astype(np.intp)
    return rows.take(np.unique(chosen))[:, -q:]


def _sums(q: int, rows: Array, frequency: Array | None = None) -> list[Array]:
    counts = np.ones(len(rows)) if frequency is None else frequency
    return [np.array(counts.sum()), counts @ rows[:, -q:], counts @ rows[:, -q:] ** 2]


def _ends(q: int, rows: Array) -> tuple[Array, Array]:
    return rows[:, -q:].min(axis=0), rows[:, -q:].max(axis=0)


def moderators_at(placed: Sequence[Placed], value: Any) -> Array:
    """All moderators, shape (Q,), from a value, or of several moderators from a dictionary by name."""
    if not placed:
        raise UsageError("The fit had no moderators, so there is one graph for all rows; pass moderators= to fit.")
    names = [own.moderator.name for own in placed]
    given = value if isinstance(value, Mapping) else {names[0]: value}
    if sorted(given) != sorted(names):
        raise UsageError(f"The fit has the moderators {quoted(names)}: give a value of each, as a dictionary.")
    return np.concatenate([own.w(given[own.moderator.name]) for own in placed])


def remarks_on_density(family: Family, rows: Rows, parameters: Parameters) -> list[Remark]:
    """The caution that the interactions or the location of some rows belong to no density."""
    if not isinstance(family, Moderated):
        return []
    chosen = np.unique(np.linspace(0, rows.n_rows - 1, min(rows.n_rows, _MOST_ROWS // 4)).astype(np.intp))
    X = rows.take(chosen)
    K, eta = parameters
    c = X[:, family.own_columns(X.shape[1]) :]
    w = family.moderation.of(c)
    values, which = np.unique(w.round(10), axis=0, return_inverse=True)
    at_rows = eta[:, 0] + c @ eta[:, 1:].T
    without = 0
    for k, value in enumerate(values):
        interaction, locations = family.interaction_at(K, value), at_rows[which.ravel() == k]
        if not _has_density(family.base, interaction, locations.max(axis=0)):
            without += len(locations)
        elif not _has_density(family.base, interaction, locations.min(axis=0)):
            without += sum(not _has_density(family.base, interaction, row) for row in locations)
    if not without:
        return []
    count = round(without * rows.n_rows / len(X))
    words = Message(
        f"For {count} of {rows.n_rows} rows, the model of their group, or at their numbers, is not a distribution: "
        "there are too few rows for so many changes. Trust ",
        Phrase("graph_for() and differences()", "the changes"),
        " less there; use more rows, or fewer columns.",
    )
    return [Remark(words, UserWarning)]


def _has_density(base: Family, interaction: Array, location: Array) -> bool:
    try:
        base.check_parameters(interaction, location)
    except ValueError:
        return False
    return True
