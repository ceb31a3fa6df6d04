"""Which cells are wrong: for every cell a mixture of what the model expects there and of what wrong cells look like.

Given the completed rest of its row a cell is wrong with the odds

    eps_j q(x_ij)  :  (1 - eps_j) p(x_ij | the rest)

The share eps_j of wrong cells of a column and their density q are estimated along the way: q by a smoothed histogram of
the cells that seem wrong, pooled over columns, on a robust scale w = arcsinh z, where z has median 0 and median
deviation 1. No cell is called wrong unless wrong cells make the whole table clearly likelier than unusual ones alone
do; without that, only the few that lie farther out than unusual ones ever do. Rows with more such cells than scattered
ones explain are not repaired: they are wrong as rows, and left to the row weights.

p allows for cells that are unusual but not wrong, since models do not fit real tables as well as their own rows.
Residuals of the model's own cells are standard normal. Those of real ones are often more spread out, or a few of them
are; by the model alone all these cells would be called wrong. So good cells of column j have residuals from

    (1 - t_j) N(0, s_j^2)  +  t_j N(0, (3 s_j)^2)

with a spread s_j that is 1 unless the middle half of the column is clearly wider, and a share t_j of unusual cells,
which is estimated together with that of wrong ones. A cell is called wrong if it looks like other wrong cells, or if
it is farther out than unusual ones ever are, and not merely because the model did not expect it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.special import bdtrc, ndtr, pdtrc

from robscore._tools.deviations import MAD
from robscore._tools.messages import UsageError
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.cells.cell_rule import CellRule
from robscore.cells.common_faults import stuck_cells
from robscore.cells.conditionals import Conditionals, conditionals, has_conditionals
from robscore.cells.draw_cells import DrawingOrder, without_covariates
from robscore.families.family import Family, Parameters
from robscore.weighting.column_scaling import ColumnScaling

_POINTS = 120  # of the grids that conditional densities are integrated on: guards time
_BINS, _WIDTH = 97, 0.25  # of the histogram of w, which reaches to 12: guards memory
_LEAST_SHARE = 1e-4  # of wrong cells: guards rounding
_FARTHEST, _STRIP = 8.0, 0.5  # of the histogram of residuals: where it ends, and how wide its strips are
_STEPS, _SETTLED = 10, 1e-3  # at most, per round, to learn what wrong cells look like; what probabilities still move
_STEP = 1e-5  # relative, for the numerical slope of w: guards rounding
_FLATTEST = -700.0  # log of that slope: its exponential is still above zero
_EXPONENT = 600.0  # its exponential is finite, and so are its products with others
_MIDDLE_HALF = 1.349  # length of the middle half of the standard normal distribution
_ERROR = 1.17  # the standard error of a spread by the middle half, times the root of the number of cells


@dataclass(frozen=True, eq=False)
class SuspectCells:
    """Cells of a table, and how likely each is to be wrong, as one round of a fit after another finds it.

    Attributes
    ----------
    rule : CellRule
    family : of the rows
    observed : array of shape (n, m), with covariates
        The rows; their values in missing cells do not matter.
    missing : boolean array of shape (n, m), without covariates
    scale : the cells on a common scale
    wrong : the mixture that the last round found
    probability : array of shape (n, m)
        The probability that a cell is wrong, averaged over the last rounds.
    stuck : boolean array of shape (n, m)
        Cells of stuck sensors. They are taken for wrong whatever the model expects, since some of them agree with it
        by chance.
    """

    rule: CellRule
    family: Family
    observed: Array
    missing: BoolArray
    scale: CellScale
    wrong: WrongCellMixture
    probability: Array
    stuck: BoolArray

    @classmethod
    def of(cls, rule: CellRule, family: Family, observed: Array, missing: BoolArray) -> SuspectCells:
        """Begin with what each column shows by itself, before any fit."""
        if not has_conditionals(without_covariates(family)):
            raise UsageError(
                f"Wrong cells cannot be looked for in {family!r}: that needs a pairwise family on [0, inf) or the real "
                "line. Fit without cells."
            )
        scale = CellScale.of(ColumnScaling.of(family, observed), observed)
        stuck = stuck_cells(np.where(missing, np.nan, observed[:, : missing.shape[1]]), rule)
        wrong = WrongCellMixture.first(rule, scale, ~missing & ~stuck)
        return cls(rule, family, observed, missing, scale, wrong, np.where(stuck, 1.0, wrong.probability), stuck)

    def observing(self, observed: Array) -> SuspectCells:
        """The same with other numbers for what was observed, shape (n, m)."""
        return replace(self, observed=observed, scale=CellScale.of(ColumnScaling.of(self.family, observed), observed))

    @property
    def flagged(self) -> BoolArray:
        """Cells that the last round takes for wrong, shape (n, m)."""
        return np.asarray(self.wrong.flagged | self.stuck)

    @property
    def share(self) -> float:
        """The share of wrong cells in the table, without rows that are wrong as a whole and without stuck cells."""
        return self.wrong.pooled_share

    @property
    def likely_wrong(self) -> BoolArray:
        """Cells that are more likely wrong than not, shape (n, m), in rows that are not wrong as a whole."""
        return np.asarray(self.repairable > 0.5)

    @property
    def repairable(self) -> Array:
        """The probability of being wrong, shape (n, m); zero in rows that are wrong as a whole."""
        return np.where(self.wrong.repaired[:, None] | self.stuck, self.probability, 0.0)

    def drawn(self, rng: np.random.Generator, order: DrawingOrder) -> BoolArray:
        """Draw which cells to take for wrong in this round, shape (n, m), each with its probability."""
        uniform = np.empty(self.missing.shape)
        uniform[np.ix_(order.rows, order.columns)] = rng.random(self.missing.shape)
        return np.asarray((uniform < self.wrong.probability) & self.wrong.repaired[:, None] | self.stuck)

    def updated(self, X: Array, parameters: Parameters, kept: BoolArray) -> SuspectCells:
        """Update by the law of every cell given the rest of the completed rows X, shape (n, m), under a fit.

        Rows that are not ``kept``, shape (n,), have no row weight; they do not show what wrong cells look like.
        """
        base, own, at = self.family.at(X, *parameters)
        m = own.shape[1]
        found = conditionals(base, own, at, self.observed[:, :m], np.arange(m), kept, _POINTS)
        wrong = self.wrong.updated(self.scale, found, ~self.missing & ~self.stuck, kept)
        probability = self.rule.forget * self.probability + (1 - self.rule.forget) * wrong.probability
        return replace(self, wrong=wrong, probability=np.where(self.stuck, 1.0, probability))


@dataclass(frozen=True)
class CellScale:
    """Cells on a scale on which those of all columns are alike.

    Attributes
    ----------
    w : array of shape (n, m)
    log_slope : array of shape (n, m)
        log dw/dx, which turns a density of w into one of x.
    """

    w: Array
    log_slope: Array

    @classmethod
    def of(cls, standard: ColumnScaling, X: Array) -> CellScale:
        """The scale of the rows X, shape (n, m), which have no missing cells."""
        w = np.arcsinh(standard(X))
        step = _STEP * (np.abs(X) + _STEP)
        with np.errstate(all="ignore"):
            slope = (np.arcsinh(standard(X + step)) - w) / step[:, : w.shape[1]]
            log_slope = np.log(slope)
        return cls(w, np.maximum(np.nan_to_num(log_slope, nan=_FLATTEST, neginf=_FLATTEST), _FLATTEST))


@dataclass(frozen=True)
class WrongCellMixture:
    """The mixture of wrong and good cells.

    Attributes
    ----------
    rule : CellRule
    probability : array of shape (n, m)
        The probability that a cell is wrong.
    share : array of shape (m,)
        eps_j.
    log_heights : array of shape (bins,)
        log q on the bins of w.
    unusual : array of shape (m,)
        t_j, the share of good cells that are unusual.
    flagged : boolean array of shape (n, m)
        Cells that are more likely wrong than not, in rows that can be repaired.
    repaired : boolean array of shape (n,)
        Rows with no more wrong cells than scattered ones explain.
    """

    rule: CellRule
    probability: Array
    share: Array
    log_heights: Array
    unusual: Array
    flagged: BoolArray
    repaired: BoolArray

    @property
    def pooled_share(self) -> float:
        """The share of wrong cells of all columns together; 0 where there is none."""
        return float(self.share.mean()) if (self.share > _LEAST_SHARE).any() else 0.0

    @classmethod
    def first(cls, rule: CellRule, scale: CellScale, observed: BoolArray) -> WrongCellMixture:
        """Begin with each column alone: cells more than ``far`` deviations from the middle may be wrong."""
        far = observed & (np.abs(scale.w) > np.arcsinh(rule.far))
        unusual = np.full(observed.shape[1], rule.unusual)
        return cls._learnt(rule, np.where(observed, np.where(far, 1.0, 0.01), 0.0), far, scale, observed, unusual)

    def updated(self, scale: CellScale, found: Conditionals, observed: BoolArray, kept: BoolArray) -> WrongCellMixture:
        """Update by the law of every cell given the rest of its row: probabilities and shares in turn.

        Parameters
        ----------
        scale : of the cells as they were observed
        found : their conditional densities
        observed : boolean array of shape (n, m)
            Cells that are neither missing nor stuck.
        kept : boolean array of shape (n,)
            Rows that have a row weight: others do not show what wrong cells look like.
        """
        bins = _bins(scale.w)
        usable = observed & (self.repaired & kept)[:, None]
        cells = GoodCells.of(self.rule, found, np.where(usable, 1 - self.probability, 0.0))
        slope = np.exp(np.clip(np.nan_to_num(scale.log_slope - cells.log_unit), -_EXPONENT, _EXPONENT))
        now = self._with_unusual(slope, bins, cells, usable)
        most = _largest_probability(cells, now.unusual, usable)
        for _ in range(_STEPS):
            wrong, good = now._odds(slope, bins, cells)
            probability = np.where(observed, np.minimum(wrong / (wrong + good), most), 0.0)
            moved = np.abs(probability - now.probability).max(initial=0.0)
            unusual = cells.share_of_unusual(now.unusual, 1 - probability, usable)
            now = self._learnt(self.rule, probability, probability > 0.5, scale, observed, unusual, kept)
            if moved <= _SETTLED:
                break
        none_wrong = cells.share_without_wrong_ones(now.unusual + now.share, usable)
        if _gain(np.add(*now._odds(slope, bins, cells)), cells.density(none_wrong), usable) < self.rule.evidence:
            probability = np.where(observed, cells.too_far_out(none_wrong, usable), 0.0)
            return self._learnt(self.rule, probability, probability > 0.5, scale, observed, none_wrong, kept)
        return now

    def _with_unusual(self, slope: Array, bins: IntArray, cells: GoodCells, usable: BoolArray) -> WrongCellMixture:
        """The mixture with unusual cells, if they make the whole table clearly likelier; else without them."""
        without = replace(self, unusual=np.zeros_like(self.unusual))
        now = replace(self, unusual=np.maximum(self.unusual, self.rule.unusual))
        for _ in range(_STEPS):
            wrong, good = now._odds(slope, bins, cells)
            now = replace(now, unusual=cells.share_of_unusual(now.unusual, good / (wrong + good), usable))
        likelier, other = (np.add(*which._odds(slope, bins, cells)) for which in (now, without))
        return now if _gain(likelier, other, usable) >= self.rule.evidence else without

    def _odds(self, slope: Array, bins: IntArray, cells: GoodCells) -> tuple[Array, Array]:
        """eps_j q(x_ij) and (1 - eps_j) p(x_ij), both in the unit of ``cells``, shape (n, m)."""
        wrong = self.share * np.exp(self.log_heights)[bins] * slope
        return wrong, (1 - self.share) * cells.density(self.unusual)

    @classmethod
    def _learnt(
        cls,
        rule: CellRule,
        probability: Array,
        wrong: BoolArray,
        scale: CellScale,
        observed: BoolArray,
        unusual: Array,
        kept: BoolArray | None = None,
    ) -> WrongCellMixture:
        """The mixture with shares and q from the rows that are kept and can be repaired."""
        repaired = _can_be_repaired(rule, wrong, scale.w, observed)
        rows = repaired if kept is None else repaired & kept
        weight = probability[rows]
        share = np.clip(pooled_shares(weight, observed[rows], rule.pooled), _LEAST_SHARE, rule.largest_share)
        heights = np.bincount(_bins(scale.w[rows]).ravel(), weights=weight.ravel(), minlength=_BINS)
        heights = gaussian_filter1d(heights, rule.smooth, mode="constant")
        total = heights.sum()
        heights = heights / total if total > 0 else np.full(_BINS, 1.0 / _BINS)
        log_heights = np.log(((1 - rule.broad) * heights + rule.broad / _BINS) / _WIDTH)
        return cls(rule, probability, share, log_heights, unusual, wrong & repaired[:, None], repaired)


def _gain(density: Array, other: Array, usable: BoolArray) -> float:
    """The gain in log likelihood of usable cells with one density over the other, both of shape (n, m)."""
    return float(np.log(density / other)[usable].sum())


def _bins(w: Array) -> IntArray:
    """The bin of the histogram that each w lies in."""
    middle = _BINS // 2
    return np.clip(np.rint(np.nan_to_num(w) / _WIDTH) + middle, 0, _BINS - 1).astype(np.intp)


def _largest_probability(cells: GoodCells, unusual: Array, usable: BoolArray) -> Array:
    """A bound on how likely each cell is wrong, shape (n, m): by how many have such residuals, and how many should.

    Without this bound q, which is free, would take the place of the model's tails, where few cells are expected.
    """
    edges = np.append(np.arange(-_FARTHEST, _FARTHEST, _STRIP), np.inf)
    which = np.searchsorted(edges, np.nan_to_num(cells.z), side="left")
    found = np.bincount(which[usable], minlength=edges.size + 1)
    expected = cells.expected(edges, unusual, usable)
    at_most = np.clip(1 - (expected + np.sqrt(expected)) / np.maximum(found, 1), 0.0, 1.0)
    return np.asarray(np.where(expected < cells.rule.rare, at_most, 1.0)[which])


def _can_be_repaired(rule: CellRule, wrong: BoolArray, w: Array, observed: BoolArray) -> BoolArray:
    """Which rows, shape (n,), have no more wrong cells than scattered ones explain, and other cells as usual.

    In a row that is bad as a whole all cells tend to be too high, or too low, and some of them far too much.
    """
    m = wrong.shape[1]
    counts = np.count_nonzero(wrong, axis=1)
    scattered = counts[counts <= max(m // 3, 1)]
    share = np.clip(scattered.mean() / m if scattered.size else rule.largest_share, _LEAST_SHARE, rule.largest_share)
    likely = int(np.argmax(bdtrc(np.arange(m + 1), m, share) <= rule.chance))  # more are hardly ever wrong by chance
    few = counts <= max(min(likely, rule.most_repaired * m), min(m // 2, 2))
    others = observed & ~wrong
    mean = np.where(others, w, 0.0).sum(axis=1) / np.maximum(np.count_nonzero(others, axis=1), 1)
    usual = mean[counts == 0] if 2 * np.count_nonzero(counts == 0) > mean.size / 5 else mean
    away = np.abs(mean - np.median(usual))
    return np.asarray(few & (away <= rule.shifted * MAD * np.median(np.abs(usual - np.median(usual)))))


@dataclass(frozen=True)
class GoodCells:
    """The density of cells that are not wrong, be they usual or unusual.

    Attributes
    ----------
    rule : CellRule
    z : array of shape (n, m)
        Residuals divided by the spread of their columns.
    log_unit : array of shape (n, m)
        The log of the unit that densities are in: that of a usual cell or of an unusual one, whichever is larger, so
        that neither overflows nor vanishes.
    usual, unusual : arrays of shape (n, m)
        Both densities in that unit.
    """

    rule: CellRule
    z: Array
    log_unit: Array
    usual: Array
    unusual: Array

    @classmethod
    def of(cls, rule: CellRule, found: Conditionals, weight: Array) -> GoodCells:
        """Learn the spreads by the conditional densities of cells and the probability that each is good, (n, m)."""
        residual = np.nan_to_num(found.residual)
        spread = spreads(residual, weight, rule)
        z = residual / spread
        log_usual = -0.5 * z**2
        log_unusual = -0.5 * (z / rule.wider) ** 2 - np.log(rule.wider)
        larger = np.maximum(log_usual, log_unusual)
        log_unit = found.log_density + 0.5 * residual**2 - np.log(spread) + larger
        return cls(rule, z, log_unit, np.exp(log_usual - larger), np.exp(log_unusual - larger))

    def density(self, share: Array) -> Array:
        """The density of good cells, shape (n, m), with these shares of unusual ones."""
        return np.asarray((1 - share) * self.usual + share * self.unusual)

    def share_of_unusual(self, share: Array, good: Array, usable: BoolArray) -> Array:
        """The shares t_j, shape (m,), after a step from ``share``; cells are good with probability ``good``, (n, m)."""
        unusual = np.where(usable, good * share * self.unusual / self.density(share), 0.0)
        return np.minimum(pooled_shares(unusual, usable, self.rule.pooled), self.rule.largest_share)

    def share_without_wrong_ones(self, share: Array, usable: BoolArray) -> Array:
        """The shares t_j, shape (m,), if no cell is wrong, after some steps from ``share``."""
        share = np.minimum(share, self.rule.largest_share)
        for _ in range(_STEPS):
            share = self.share_of_unusual(share, np.ones_like(self.z), usable)
        return share

    def expected(self, edges: Array, share: Array, usable: BoolArray) -> Array:
        """How many cells should have a z up to the first of some edges, between them, and beyond the last."""
        return np.diff(self._below(np.concatenate([[-np.inf], edges, [np.inf]]), share, usable))

    def too_far_out(self, share: Array, usable: BoolArray) -> Array:
        """The probability that cells are wrong, shape (n, m), because more lie so far out than these shares explain.

        It is zero unless so many among the farthest are nearly impossible.
        """
        far = np.abs(self.z)
        farthest = np.sort(far[usable])[: -self.rule.farthest - 1 : -1]
        expected = 2 * self._below(-farthest, share, usable)
        impossible = np.flatnonzero(pdtrc(np.arange(farthest.size), expected) < self.rule.chance)
        if not impossible.size:
            return np.zeros(far.shape)
        last = impossible[-1]
        return np.where(far >= farthest[last], 1 - expected[last] / (last + 1), 0.0)

    def _below(self, z: Array, share: Array, usable: BoolArray) -> Array:
        """How many usable cells should lie below each of some z, with these shares of unusual ones."""
        counts = np.count_nonzero(usable, axis=0)
        usual, unusual = (counts * (1 - share)).sum(), (counts * share).sum()
        return np.asarray(usual * ndtr(z) + unusual * ndtr(z / self.rule.wider))


def spreads(residual: Array, weight: Array, rule: CellRule) -> Array:
    """The spreads s_j of weighted residuals, shape (n, m): below what is found by a margin, but at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.cells import CellRule, spreads
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) * [1.0, 2.0]
    >>> X[:30] = 40.0  # wrong cells hardly matter
    >>> spreads(X, np.ones(X.shape), CellRule()).round(1).tolist()
    [1.0, 1.8]
    """
    order = np.argsort(residual, axis=0)
    counts = np.cumsum(np.take_along_axis(weight, order, axis=0), axis=0)
    found = np.ones(residual.shape[1])
    for j in np.flatnonzero(counts[-1] >= rule.fewest):
        first, last = np.searchsorted(counts[:, j], np.array([0.25, 0.75]) * counts[-1, j])
        wide = (residual[order[last, j], j] - residual[order[first, j], j]) / _MIDDLE_HALF
        found[j] = max(1.0, wide * (1 - rule.margin * _ERROR / np.sqrt(counts[-1, j])))
    return found


def pooled_shares(weight: Array, observed: BoolArray, cells: float) -> Array:
    """The share of a weight, shape (n, m), in observed cells, shape (m,), drawn to that of all, worth so many cells."""
    total, counts = weight.sum(axis=0), np.count_nonzero(observed, axis=0)
    pooled = total.sum() / max(counts.sum(), 1)
    return np.asarray((total + cells * pooled) / (counts + cells))
