"""What kind of rows a fit drops: scattered, off in one variable, in one place, or a group of their own.

On the standardised columns z (:mod:`robscore.weighting.column_scaling`), with the precision P of the central rows,

    spread = root mean square over rows left out of |z - c_out|_P  /  the same over rows kept, about c_kept

where c are medians. Rows of a group agree with each other about as well as the kept rows do: their spread is near 1.
Bad rows that have nothing in common have a larger one, with a long tail. A real group may vary more than the rest; it
is then recognised by its dependence, which is that of the rest: its distances by P are no larger, relative to those of
the kept rows, than the deviations of its columns are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from robscore._tools.messages import About, Message, Phrase, Remark, Setting, clipped, first_few
from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import Array, IntArray
from robscore.fitting.fit_result import Fit
from robscore.rows.row_source import some_of

_FEWEST = 8  # rows that can be called a group
_LEAST_SHARE = 0.01  # of all rows, that can be called one
_TIGHT, _AS_TIGHT = 0.35, 1.25  # spread between which rows agree as well as the kept ones do
_LOOSE, _COHERENT = 2.0, 1.25  # typical distance up to which they may, and its ratio to the deviations of columns
_APART = 0.5  # distance of the two middles, in typical distances of kept rows
_MOST_ROWS = 5000  # that are looked at, of either kind: it saves time
_MOST_NAMED = 3  # columns that set a group apart
_SHIFTED = 1.0  # deviations by which such a column differs
_TINY = np.finfo(float).tiny  # in place of a spread of zero, by which nothing can be divided
_ALONE = 3.0  # times the second largest shift: a larger one is called the only one


class What(StrEnum):
    """What dropped rows are, taken together."""

    NONE = "none"
    SCATTERED = "scattered"
    ONE_COLUMN = "one column"
    ONE_PLACE = "in one place"
    GROUP = "group"


@dataclass(frozen=True)
class LeftOut:
    """The rows that a fit leaves out.

    Attributes
    ----------
    what : What
    rows : integer array
        Their positions among the rows of the fit.
    n_rows : int
        How many rows they are: one of sample weight 2 is two.
    share : float
        Their share of the rows of the fit.
    spread : how far they are from each other, relative to the kept rows; NaN where they are too few to say
    columns : list of (column, shift)
        What sets them apart, most first: positions, and by how many deviations their middle differs.
    """

    what: What
    rows: IntArray
    n_rows: int
    share: float
    spread: float
    columns: list[tuple[int, float]]

    def set_apart(self, names: Sequence[str]) -> str:
        """Which columns set them apart, such as "rain low, wind high"."""
        return first_few(
            [f"{clipped(names[j])} {'high' if shift > 0 else 'low'}" for j, shift in self.columns[:_MOST_NAMED]]
        )


def rows_left_out(fit: Fit) -> LeftOut:
    """What kind of rows have weight zero."""
    rows, found, phi = fit.prepared.to_judge, fit.weighed.found, fit.weights.phi
    out = np.flatnonzero(phi == 0) if phi is not None else np.zeros(0, dtype=np.intp)
    if found is None or phi is None or not out.size:
        return LeftOut(What.NONE, out[:0], 0, 0.0, np.nan, [])
    n, n_out = fit.weights.count(phi >= 0), fit.weights.count(phi == 0)
    kept = np.flatnonzero(phi > 0)
    some = (rows.take(evenly_spread(which, _MOST_ROWS, some_of(rows.frequency, which))) for which in (out, kept))
    z_out, z_kept = map(found.limits.scaling, some)
    middle_out, middle = np.median(z_out, axis=0), np.median(z_kept, axis=0)
    precision = found.limits.scatter.precision
    within, usual = _lengths(z_out - middle_out, precision), _lengths(z_kept - middle, precision)
    with np.errstate(over="ignore"):  # rows that count may be equal, in some columns or in most rows
        spread = float(np.sqrt(np.mean(within**2) / max(np.mean(usual**2), _TINY)))
        typical = float(np.median(within) / max(np.median(usual), _TINY))
        deviation = float(np.median(_deviations(z_out - middle_out) / _deviations(z_kept - middle)))
    agree = spread <= _AS_TIGHT or (typical <= _LOOSE and typical <= _COHERENT * deviation)
    shift = middle_out - middle
    columns = [(int(j), float(shift[j])) for j in np.argsort(-np.abs(shift)) if abs(shift[j]) > _SHIFTED]
    is_apart = _lengths(shift[None], precision)[0] > _APART * np.median(usual)
    enough = n_out >= max(_FEWEST, _LEAST_SHARE * n)
    what = _what(spread, columns) if enough and agree and is_apart and columns else What.SCATTERED
    return LeftOut(what, out, n_out, n_out / n, spread, columns)


def _what(spread: float, columns: list[tuple[int, float]]) -> What:
    """What rows are that agree with each other and lie apart from the rest."""
    if spread < _TIGHT:
        return What.ONE_PLACE
    others = abs(columns[1][1]) if len(columns) > 1 else _SHIFTED
    return What.ONE_COLUMN if abs(columns[0][1]) > _ALONE * others else What.GROUP


def _deviations(centred: Array) -> Array:
    """Median deviations of columns, shape (m,)."""
    return np.maximum(np.median(np.abs(centred), axis=0), _TINY)


def _lengths(centred: Array, precision: Array) -> Array:
    """sqrt(c' P c) of every row, shape (n,)."""
    return np.sqrt(np.maximum(np.einsum("ij,ij->i", centred @ precision, centred), 0.0))


def remarks_on_left_out(left: LeftOut, names: Sequence[str]) -> list[Remark]:
    """The caution that dropped rows belong together: they may be real."""
    if left.what not in (What.GROUP, What.ONE_PLACE, What.ONE_COLUMN):
        return []
    start = f"The {left.n_rows} rows left out ({left.share:.0%})"
    apart = left.set_apart(names)
    if left.what == What.ONE_PLACE:
        words = Message(
            f"{start} lie in one place, far closer to each other than the rest ({apart}): copies, a stuck instrument, "
            "or a group. Look at them before you discard them."
        )
    elif left.what == What.ONE_COLUMN:
        words = Message(
            f"{start} differ in one variable ({apart}) and agree with each other otherwise: another unit or "
            "instrument, or a real group. Look at them before you discard them."
        )
    else:
        agree = "they agree with each other about as well as the rest do"
        if left.spread > _AS_TIGHT:
            agree = f"their columns are related as those of the rest are, with {left.spread:.1f} times the spread"
        words = Message(
            f"{start} look like a group of their own, not like errors: {agree}. They differ in: {apart}. The graph is "
            "that of the other rows: fit the group separately",
            Phrase(" (suspicious_rows() lists its rows)", " (rows.csv lists its rows)"),
            ", remove what sets it apart from the columns first, or keep it in with ",
            Setting("reweight", value=False),
            ".",
        )
    return [Remark(words, UserWarning, About.GROUP)]
