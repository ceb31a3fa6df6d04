"""Which cells are wrong: for every cell a mixture of what the model expects there and of what wrong cells look like.

Given the completed rest of its row a cell is wrong with the odds

    eps q(x_ij)  :  (1 - eps) p(x_ij | the rest)

The share eps of wrong cells and their density q are estimated along the way: q by a smoothed histogram of the cells
that seem wrong, pooled over columns, on a robust scale w = arcsinh z, where z has median 0 and median deviation 1.

p allows for cells that are unusual but not wrong, since models do not fit real tables as well as their own rows. The
residuals r_ij of the model's own cells are standard normal; those of good ones are taken for

    (1 - t) N(0, 1)  +  t N(0, wider^2)

with a share t of unusual cells, which is estimated together with eps. No cell is called wrong unless wrong cells make
the whole table clearly likelier than unusual ones alone do; without that, only those that lie farther out than unusual
ones ever do. Rows with many such cells are not repaired: they are wrong as rows, and left to the row
weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.special import ndtr, pdtrc

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
_LEAST_SHARE, _START = (
    1e-4,
    0.01,
)  # of wrong cells, from which their share can still rise; of unusual ones to begin with
_STEPS = 10  # of a round, to learn shares and what wrong cells look like: guards time
_STEP = 1e-5  # relative, for the numerical slope of w: guards rounding
_FLATTEST = -700.0  # log of that slope: its exponential is still above zero
_EXPONENT = 600.0  # its exponential is finite, and so are its products with others


@dataclass(frozen=True, eq=False)
class SuspectCells:
    """Cells of a table, and how likely each is to be wrong, as one round of a fit after another finds it.

    Attributes
    ----------
    rule : CellRule
    family : of the rows
    observed : array of shape (n, m), with covariates
        The rows; their values in missing cells do not matter.
    missing, stuck : boolean arrays of shape (n, m), without covariates
        Cells of stuck sensors are taken for wrong whatever the model expects, since some agree with it by chance.
    counts : array of shape (n, m)
        How many times a cell counts, by the frequency of its row; 0 where it is missing or stuck.
    w, log_slope : arrays of shape (n, m)
        The cells on a scale on which those of all columns are alike, and log dw/dx, which turns a density of w into one
        of x.
    probability : array of shape (n, m)
        The probability that a cell is wrong, by the last round.
    share, unusual : float
        eps and t.
    log_heights : array of shape (bins,)
        log q on the bins of w.
    repaired : boolean array of shape (n,)
        Rows with so few wrong cells that these are redrawn.
    """

    rule: CellRule
    family: Family
    observed: Array
    missing: BoolArray
    stuck: BoolArray
    counts: Array
    w: Array
    log_slope: Array
    probability: Array
    share: float
    unusual: float
    log_heights: Array
    repaired: BoolArray

    @classmethod
    def of(
        cls, rule: CellRule, family: Family, observed: Array, missing: BoolArray, frequency: Array | None = None
    ) -> SuspectCells:
        """Begin with each column by itself: cells more than ``far`` deviations from its middle may be wrong."""
        if not has_conditionals(without_covariates(family)):
            raise UsageError(
                f"Wrong cells cannot be looked for in {family!r}: that needs a pairwise family on [0, inf) or the real "
                "line. Fit without cells."
            )
        stuck = stuck_cells(np.where(missing, np.nan, observed[:, : missing.shape[1]]), rule.chance)
        every = np.ones(len(observed)) if frequency is None else frequency
        counts = np.where(missing | stuck, 0.0, every[:, None])
        w, log_slope = _on_common_scale(family, observed)
        far = (np.abs(w) > np.arcsinh(rule.far)).astype(float)
        begun = cls(
            rule, family, observed, missing, stuck, counts, w, log_slope, far, 0.0, _START, np.zeros(_BINS),
            np.ones(len(observed), dtype=bool),
        )  # fmt: skip
        return begun._learnt(far, _START, begun.repaired)

    def observing(self, observed: Array) -> SuspectCells:
        """The same with other numbers for what was observed, shape (n, m)."""
        w, log_slope = _on_common_scale(self.family, observed)
        return replace(self, observed=observed, w=w, log_slope=log_slope)

    @property
    def likely_wrong(self) -> BoolArray:
        """Cells that are more likely wrong than not, shape (n, m), in rows that are not wrong as a whole."""
        return np.asarray(self.repairable > 0.5)

    @property
    def repairable(self) -> Array:
        """The probability of being wrong, shape (n, m); zero in rows that are wrong as a whole."""
        return np.where(self.repaired[:, None] | self.stuck, self.probability, 0.0)

    def drawn(self, rng: np.random.Generator, order: DrawingOrder) -> BoolArray:
        """Draw which cells to take for wrong in this round, shape (n, m), each with its probability."""
        uniform = np.empty(self.missing.shape)
        uniform[np.ix_(order.rows, order.columns)] = rng.random(self.missing.shape)
        return np.asarray(uniform < self.repairable)

    def updated(self, X: Array, parameters: Parameters, kept: BoolArray) -> SuspectCells:
        """Update by the law of every cell given the rest of the completed rows X, shape (n, m), under a fit.

        Probabilities and shares are updated in turn. Rows that are not ``kept``, shape (n,), have no row weight; they
        do not show what wrong cells look like.
        """
        base, own, at = self.family.at(X, *parameters)
        m = own.shape[1]
        cells = GoodCells.of(self.rule, conditionals(base, own, at, self.observed[:, :m], np.arange(m), kept, _POINTS))
        slope = np.exp(np.clip(np.nan_to_num(self.log_slope - cells.log_unit), -_EXPONENT, _EXPONENT))
        counts = self.counts * (self.repaired & kept)[:, None]

        def gain(density: Array, other: Array) -> float:
            return float((counts * np.log(density / other)).sum())

        now, without = replace(self, unusual=max(self.unusual, _START)), replace(self, unusual=0.0)
        for _ in range(_STEPS):
            wrong, good = now._odds(cells, slope)
            now = replace(now, unusual=cells.share_of_unusual(now.unusual, counts * good / (wrong + good)))
        if gain(now._density(cells, slope), without._density(cells, slope)) < self.rule.evidence:
            now = without
        for _ in range(_STEPS):
            wrong, good = now._odds(cells, slope)
            probability = wrong / (wrong + good)
            now = now._learnt(probability, cells.share_of_unusual(now.unusual, counts * (1 - probability)), kept)
        none_wrong = max(1 - (1 - now.unusual) * (1 - now.share), _START)
        for _ in range(_STEPS):
            none_wrong = cells.share_of_unusual(none_wrong, counts)
        if gain(now._density(cells, slope), cells.density(none_wrong)) < self.rule.evidence:
            return self._learnt(cells.too_far_out(none_wrong, counts), none_wrong, kept)
        return now

    def _density(self, cells: GoodCells, slope: Array) -> Array:
        """The density of all cells, wrong or good, in the unit of ``cells``, shape (n, m)."""
        return np.add(*self._odds(cells, slope))

    def _odds(self, cells: GoodCells, slope: Array) -> tuple[Array, Array]:
        """Eps q(x_ij) and (1 - eps) p(x_ij), both in the unit of ``cells``, shape (n, m)."""
        share = max(self.share, _LEAST_SHARE)
        return share * np.exp(self.log_heights)[_bins(self.w)] * slope, (1 - share) * cells.density(self.unusual)

    def _learnt(self, probability: Array, unusual: float, kept: BoolArray) -> SuspectCells:
        """With these probabilities, and eps and q by them, from the rows that are kept and can be repaired."""
        rule, m = self.rule, self.missing.shape[1]
        probability = np.where(self.missing, 0.0, np.where(self.stuck, 1.0, probability))
        wrong = np.count_nonzero((probability > 0.5) & ~self.stuck, axis=1)
        # Beside a wrong cell another may seem so to begin with: of few columns two, but never more than half.
        repaired = wrong <= max(rule.most_repaired * m, min(m // 2, 2))
        counts = self.counts * (repaired & kept)[:, None]
        weight = probability * counts
        share = float(weight.sum() / max(counts.sum(), 1.0))
        heights = np.bincount(_bins(self.w).ravel(), weights=weight.ravel(), minlength=_BINS)
        heights = gaussian_filter1d(heights, rule.smooth, mode="constant")
        heights = heights / heights.sum() if heights.sum() > 0 else np.full(_BINS, 1.0 / _BINS)
        log_heights = np.log(((1 - rule.broad) * heights + rule.broad / _BINS) / _WIDTH)
        return replace(
            self, probability=probability, share=share, unusual=unusual, log_heights=log_heights, repaired=repaired
        )


def _on_common_scale(family: Family, X: Array) -> tuple[Array, Array]:
    """W of the rows X, shape (n, m), which have no missing cells; and the log of its slope."""
    standard = ColumnScaling.of(family, X)
    w = np.arcsinh(standard(X))
    step = _STEP * (np.abs(X) + _STEP)
    with np.errstate(all="ignore"):
        log_slope = np.log((np.arcsinh(standard(X + step)) - w) / step[:, : w.shape[1]])
    return w, np.maximum(np.nan_to_num(log_slope, nan=_FLATTEST, neginf=_FLATTEST), _FLATTEST)


def _bins(w: Array) -> IntArray:
    """The bin of the histogram that each w lies in."""
    return np.clip(np.rint(np.nan_to_num(w) / _WIDTH) + _BINS // 2, 0, _BINS - 1).astype(np.intp)


@dataclass(frozen=True)
class GoodCells:
    """The density of cells that are not wrong, be they usual or unusual.

    Attributes
    ----------
    rule : CellRule
    residual : array of shape (n, m)
    log_unit : array of shape (n, m)
        The log of the unit that densities are in: that of a usual cell or of an unusual one, whichever is larger, so
        that neither overflows nor vanishes.
    usual, unusual : arrays of shape (n, m)
        Both densities in that unit.
    """

    rule: CellRule
    residual: Array
    log_unit: Array
    usual: Array
    unusual: Array

    @classmethod
    def of(cls, rule: CellRule, found: Conditionals) -> GoodCells:
        """Take the conditional densities of cells apart."""
        residual = np.nan_to_num(found.residual)
        log_usual = -0.5 * residual**2
        log_unusual = -0.5 * (residual / rule.wider) ** 2 - np.log(rule.wider)
        larger = np.maximum(log_usual, log_unusual)
        log_unit = found.log_density + 0.5 * residual**2 + larger
        return cls(rule, residual, log_unit, np.exp(log_usual - larger), np.exp(log_unusual - larger))

    def density(self, share: float) -> Array:
        """The density of good cells, shape (n, m), with a share of unusual ones."""
        return np.asarray((1 - share) * self.usual + share * self.unusual)

    def share_of_unusual(self, share: float, good: Array) -> float:
        """The share t after a step from ``share``; ``good``, shape (n, m), is how much every cell counts."""
        return float((good * share * self.unusual / self.density(share)).sum() / max(good.sum(), 1.0))

    def expected(self, far: Array, share: float, counts: Array) -> Array:
        """How many cells should have a residual of at least each size, with this share of unusual ones."""
        return np.asarray(2 * counts.sum() * ((1 - share) * ndtr(-far) + share * ndtr(-far / self.rule.wider)))

    def too_far_out(self, share: float, counts: Array) -> Array:
        """The probability that cells are wrong, shape (n, m), because more lie so far out than this share explains.

        It is zero unless so many, where less than one is expected, are nearly impossible.
        """
        away = np.abs(self.residual)
        far, times = away[counts > 0], counts[counts > 0]
        order = np.argsort(-far)
        far, found = far[order], np.cumsum(times[order])
        expected = self.expected(far, share, counts)
        impossible = np.flatnonzero((pdtrc(found - 1, expected) < self.rule.chance) & (expected < 1))
        if not impossible.size:
            return np.zeros(away.shape)
        last = impossible[-1]
        return np.where(away >= far[last], 1 - expected[last] / found[last], 0.0)
