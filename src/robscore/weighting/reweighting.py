"""Which rows count after a first robust fit, and how much: decided by the data.

A row's surprise is -log p(x) under the fit, up to a constant. Rows are simulated from the fit, and the
distribution of their surprise is compared with that of the data: where good rows lie below c with probability F0(c),
and a share Fn(c) of the data does, at least 1 - Fn(c) / F0(c) of the data are bad. The largest such share that chance
cannot explain estimates the share of bad rows. So many rows, those of largest surprise, lose their weight, by a smooth
taper unless there is a gap between them and the others; the model is fitted again, until this settles. No
model is quite true, so the simulated surprise is first moved and stretched to agree with the less surprising half of
the data: what is compared is how the tail goes on.

Before that, the classic fit of all rows but those that are far out by the robust fit is put to the same test. If
nothing speaks against it, it is the answer: on clean data hardly ever a row is dropped, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robscore._tools.typing import Array
from robscore.elements import Elements
from robscore.families.base import Family, Parameters
from robscore.losses.quadratic import Loss
from robscore.rows.base import Rows
from robscore.weighting.row_weights import RowWeights
from robscore.weighting.surprise import Comparison, compare

START_CONTAMINATION = 0.1  # what the first fit guards against where nothing is said: K = 0.4 n
_ITERATIONS = 20
_INERTIA = 0.7  # of the share from one iteration to the next
_LARGEST_SHARE = 0.45
_ESCAPED = 1.2  # bad rows that resemble good ones escape the comparison: so many times the excess are left out

_WIDTH, _LARGEST_WIDTH = 3.0, 0.5  # rows in the taper: so many times the bad ones, at most this share of the others
_NEAR = 2.0  # a gap may leave out so many times more or fewer rows
_APART = 0.15  # and must be so wide, relative to the distance of its start from the median, or wider


@dataclass(frozen=True)
class Reweighted:
    """What reweighting found.

    Attributes
    ----------
    weights : what every row counts, by a taper
    loss : the tapered loss
    parameters : its fit
    failed : bool
        Whether so many rows would go that the family cannot be right.
    """

    weights: RowWeights
    loss: Loss
    parameters: Parameters
    failed: bool = False


def reweigh(
    elements: Elements, rows: Rows, family: Family, start: Parameters, fit: Callable[[Loss], Parameters]
) -> Reweighted:
    """Weights for the rows by their surprise, fitted again until they settle.

    Parameters
    ----------
    elements : of all rows
    rows : Rows
        The same, as the family sees them.
    family : Family
    start : parameters of a robust fit
    fit : callable
        The parameters that a loss leads to.
    """
    n = elements.n_rows
    parameters, phi = start, np.where(elements.overflow, 0.0, 1.0)
    found = compare(family, elements.overflow, rows, parameters, phi, 0.0)
    answer = _classic_if_nothing_speaks_against_it(elements, rows, family, found, phi, fit)
    if answer is not None:
        return answer
    weights: RowWeights | None = None
    share, settled, n_iter = found.share, False, 0
    while not settled and n_iter < _ITERATIONS:
        n_iter += 1
        weights = None  # one at a time: there may be very many rows
        weights = taper_for(found, share)
        assert weights.phi is not None
        loss = weights.loss(elements)
        try:
            parameters = fit(loss)
        except ValueError:  # what is left does not determine the model
            return Reweighted(weights, loss, parameters, failed=True)
        settled = np.array_equal(phi, weights.phi)
        phi = weights.phi
        found = compare(family, elements.overflow, rows, parameters, phi, share)
        last, share = share, _INERTIA * share + (1 - _INERTIA) * found.share
        settled = settled or bool(abs(share - last) * n <= 1)
    assert weights is not None
    return Reweighted(weights, loss, parameters, failed=_ESCAPED * share >= _LARGEST_SHARE)


def _classic_if_nothing_speaks_against_it(
    elements: Elements,
    rows: Rows,
    family: Family,
    found: Comparison,
    weights: Array,
    fit: Callable[[Loss], Parameters],
) -> Reweighted | None:
    """The fit of all rows but those far out by a robust one, if no more of them are too surprising under it."""
    near = np.where(found.is_far, 0.0, weights)
    plain = RowWeights.hard(near, found.parameters)
    loss = plain.loss(elements)
    try:
        classic = fit(loss)
    except ValueError:  # what is near does not determine the model
        return Reweighted(plain, loss, found.parameters, failed=True)
    judged = compare(family, elements.overflow, rows, classic, near, 0.0)
    if judged.simulated is not None and judged.share * elements.n_rows < np.count_nonzero(near == 0) + 0.5:
        return Reweighted(plain, loss, classic)
    return None


def taper_for(found: Comparison, share: float) -> RowWeights:
    """A taper that leaves out about that share of the rows, those of largest surprise."""
    n = found.surprise.size
    share = min(_ESCAPED * share, _LARGEST_SHARE)
    if share * n < 1:
        return RowWeights.hard(np.where(np.isinf(found.surprise), 0.0, 1.0), found.parameters)
    ordered = np.sort(found.surprise)
    gap = _gap(ordered, share)
    if gap is not None:
        return RowWeights.between(found.surprise, *gap, found.parameters)
    width = min(_WIDTH * share, _LARGEST_WIDTH * (1 - share))
    end = ordered[min(int(np.ceil((1 - share) * n)), n - 1)]
    start = min(ordered[int((1 - share - width) * n)], ordered[max(np.searchsorted(ordered, end) - 1, 0)])
    return RowWeights.between(found.surprise, start, end, found.parameters)


def _gap(ordered: Array, share: float) -> tuple[float, float] | None:
    """The ends of a gap above which about that share of the rows lie; None where they are not so clearly apart."""
    n = ordered.size
    first, last = int(max(1 - _NEAR * share, 0.55) * n), min(int((1 - share / _NEAR) * n), n - 2)
    middle = ordered[n // 2]
    at_least = ordered[3 * n // 4] - middle
    with np.errstate(invalid="ignore", divide="ignore"):
        below = ordered[first : last + 1]
        width = (ordered[first + 1 : last + 2] - below) / np.maximum(below - middle, at_least)
    left_out = 1 - np.arange(first + 1, last + 2) / n
    away = np.maximum(np.abs(np.log2(left_out / share)) - 0.4, 0.0)
    needed = _APART * (1 + 3 * away)  # the further from the share, the wider
    k = int(np.argmax(np.nan_to_num(width / needed, nan=0.0, posinf=np.inf)))
    return (ordered[first + k], ordered[first + k + 1]) if width[k] > needed[k] else None
