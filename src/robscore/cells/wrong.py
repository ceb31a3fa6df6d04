"""Which cells are wrong: a mixture, for every cell, of what the model says of it and of what wrong cells look like.

Given the completed rest of its row a cell is wrong with the odds

    eps_j q(x_ij)  :  (1 - eps_j) p(x_ij | the rest)

where eps_j, the share of wrong cells of a column, and q, their density, are estimated along the way: q by a smoothed
histogram of the cells that seem wrong, pooled over columns, on a robust scale w = arcsinh z, where z has median 0 and
median deviation 1. No cell is called wrong unless wrong cells make the whole table clearly likelier. Rows with more
such cells than scattered ones explain are not repaired: they are wrong as rows, and left to the weights of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.special import bdtrc, expit, ndtr

from robscore._tools.deviations import MAD
from robscore._tools.typing import Array, BoolArray
from robscore.cells.conditionals import Conditionals
from robscore.weighting.standard import Standard

_FAR = 2.0  # deviations, beyond which a cell may be wrong to begin with
_BINS, _WIDTH, _SMOOTH = 97, 0.25, 0.7  # of the histogram of w: how many, how wide, and how many are smoothed over
_BROAD = 0.02  # share of q that is spread over all bins: with more of it too few cells are found
_POOLED = 50.0  # cells that the share of the whole table counts for in that of a column
_LEAST, _LARGEST = 1e-4, 0.3  # share of wrong cells
_EVIDENCE = 40.0  # gain in log likelihood that wrong cells must bring; clean tables gain up to 35 by chance
_UNLIKELY = 1e-4  # that a row has so many wrong cells by chance
_MOST_REPAIRED = 0.25  # share of the cells of a row
_FARTHEST, _STRIP = 8.0, 0.5  # of residuals that are counted: from end to end, in strips so wide
_RARE = 20.0  # cells in a strip
_SHIFTED = 4.0  # deviations of the mean of the other cells, beyond which a row is bad as a whole
_STEP = 1e-5  # relative, for the slope of w
_STEPS, _SETTLED = 10, 1e-3  # at most, per round, to learn what wrong cells look like; what probabilities still move
_FLATTEST = -700.0  # log of that slope


@dataclass(frozen=True)
class CellScale:
    """Cells on a scale on which those of all columns are alike.

    Attributes
    ----------
    w : array of shape (n, m)
    log_slope : array of shape (n, m)
        log dw/dx, which makes a density of w one of x.
    """

    w: Array
    log_slope: Array

    @classmethod
    def of(cls, standard: Standard, X: Array) -> CellScale:
        """Of rows X, shape (n, m), without holes."""
        w = np.arcsinh(standard(X))
        step = _STEP * (np.abs(X) + _STEP)
        with np.errstate(all="ignore"):
            slope = (np.arcsinh(standard(X + step)) - w) / step[:, : w.shape[1]]
            log_slope = np.log(slope)
        return cls(w, np.maximum(np.nan_to_num(log_slope, nan=_FLATTEST, neginf=_FLATTEST), _FLATTEST))


@dataclass(frozen=True)
class WrongCells:
    """What is known of wrong cells.

    Attributes
    ----------
    probability : array of shape (n, m)
        That a cell is wrong.
    share : array of shape (m,)
        eps_j.
    log_heights : array of shape (bins,)
        log q on the bins of w.
    flagged : boolean array of shape (n, m)
    repaired : boolean array of shape (n,)
        Rows with no more wrong cells than scattered ones explain.
    """

    probability: Array
    share: Array
    log_heights: Array
    flagged: BoolArray
    repaired: BoolArray

    @property
    def pooled_share(self) -> float:
        """The share of wrong cells of all columns together; 0 where there is none."""
        return float(self.share.mean()) if (self.share > _LEAST).any() else 0.0

    @classmethod
    def first(cls, scale: CellScale, there: BoolArray) -> WrongCells:
        """By each column alone: cells more than two deviations from the middle."""
        far = there & (np.abs(scale.w) > np.arcsinh(_FAR))
        return cls._learnt(np.where(there, np.where(far, 1.0, 0.01), 0.0), far, scale, there)

    def updated(self, scale: CellScale, found: Conditionals, there: BoolArray, counted: BoolArray) -> WrongCells:
        """By what the model says of every cell, given the rest of its row.

        Parameters
        ----------
        scale : of the cells as they were observed
        found : their conditional densities
        there : boolean array of shape (n, m)
            Cells that are not missing.
        counted : boolean array of shape (n,)
            Rows that count: others say nothing of wrong cells.
        """
        bins = _bins(scale.w)
        relative = scale.log_slope - found.log_density
        usable = there & (self.repaired & counted)[:, None]
        most = _largest_probability(found.residual, usable)
        now = self
        for _ in range(_STEPS):
            with np.errstate(over="ignore", invalid="ignore"):
                log_odds = np.log(now.share) - np.log1p(-now.share) + now.log_heights[bins] + relative
            probability = np.where(there, np.minimum(expit(np.nan_to_num(log_odds, nan=0.0)), most), 0.0)
            moved = np.abs(probability - now.probability).max(initial=0.0)
            now = self._learnt(probability, probability > 0.5, scale, there, counted)
            if moved <= _SETTLED:
                break
        if now._gain(now.log_heights[bins] + relative, usable) < _EVIDENCE:
            return self._learnt(np.zeros(there.shape), np.zeros(there.shape, dtype=bool), scale, there, counted)
        return now

    def _gain(self, log_ratio: Array, usable: BoolArray) -> float:
        """How much likelier (in logarithms) cells are if some are wrong, from log q / p of each, shape (n, m)."""
        with np.errstate(over="ignore", invalid="ignore"):
            gain = np.logaddexp(np.log1p(-self.share), np.log(self.share) + np.nan_to_num(log_ratio, nan=0.0))
        return float(gain[usable].sum())

    @classmethod
    def _learnt(
        cls,
        probability: Array,
        wrong: BoolArray,
        scale: CellScale,
        there: BoolArray,
        counted: BoolArray | None = None,
    ) -> WrongCells:
        """With shares and q of the rows that can be repaired and count."""
        repaired = _can_be_repaired(wrong, scale.w, there)
        rows = repaired if counted is None else repaired & counted
        weight = probability[rows]
        pooled = np.clip(weight.sum() / max(np.count_nonzero(there[rows]), 1), _LEAST, _LARGEST)
        share = (weight.sum(axis=0) + _POOLED * pooled) / (np.count_nonzero(there[rows], axis=0) + _POOLED)
        heights = np.bincount(_bins(scale.w[rows]).ravel(), weights=weight.ravel(), minlength=_BINS)
        heights = gaussian_filter1d(heights, _SMOOTH, mode="constant")
        total = heights.sum()
        heights = heights / total if total > 0 else np.full(_BINS, 1.0 / _BINS)
        log_heights = np.log(((1 - _BROAD) * heights + _BROAD / _BINS) / _WIDTH)
        return cls(probability, np.clip(share, _LEAST, _LARGEST), log_heights, wrong & repaired[:, None], repaired)


def _bins(w: Array) -> Array:
    middle = _BINS // 2
    return np.clip(np.rint(np.nan_to_num(w) / _WIDTH) + middle, 0, _BINS - 1).astype(np.intp)


def _largest_probability(residual: Array, usable: BoolArray) -> Array:
    """How likely cells can be wrong at most, shape (n, m): by how many have such residuals, and how many should.

    Residuals of the model's own cells are standard normal. Where few are to be expected, q, which is free, would take
    the place of the model's tails without this bound.
    """
    edges = np.append(np.arange(-_FARTHEST, _FARTHEST, _STRIP), np.inf)
    which = np.searchsorted(edges, np.nan_to_num(residual), side="left")
    observed = np.bincount(which[usable], minlength=edges.size + 1)
    expected = np.diff(ndtr(np.concatenate([[-np.inf], edges, [np.inf]]))) * np.count_nonzero(usable)
    at_most = np.clip(1 - (expected + np.sqrt(expected)) / np.maximum(observed, 1), 0.0, 1.0)
    return np.asarray(np.where(expected < _RARE, at_most, 1.0)[which])


def _can_be_repaired(wrong: BoolArray, w: Array, there: BoolArray) -> BoolArray:
    """Rows, shape (n,), with no more wrong cells than scattered ones explain, the others of which are as usual.

    In a row that is bad as a whole all cells tend to be too high, or too low, and some of them far too much.
    """
    m = wrong.shape[1]
    counts = np.count_nonzero(wrong, axis=1)
    scattered = counts[counts <= max(m // 3, 1)]
    share = np.clip(scattered.mean() / m if scattered.size else _LARGEST, _LEAST, _LARGEST)
    likely = int(np.argmax(bdtrc(np.arange(m + 1), m, share) <= _UNLIKELY))  # more are hardly ever wrong by chance
    few = counts <= max(min(likely, _MOST_REPAIRED * m), 1)
    others = there & ~wrong
    mean = np.where(others, w, 0.0).sum(axis=1) / np.maximum(np.count_nonzero(others, axis=1), 1)
    usual = mean[counts == 0] if 2 * np.count_nonzero(counts == 0) > mean.size / 5 else mean
    away = np.abs(mean - np.median(usual))
    return np.asarray(few & (away <= _SHIFTED * MAD * np.median(np.abs(usual - np.median(usual)))))
