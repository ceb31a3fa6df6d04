"""Second and third stage: what every row counts, and the weighted loss that follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from robscore._tools.messages import About, Message, Remark, Setting, UsageError, quoted
from robscore._tools.progress import announce, stage
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements
from robscore.families.family import NoDensityError, Parameters
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import Settings
from robscore.losses.quadratic import Loss
from robscore.rows.row_source import some_of
from robscore.selection.n_blocks import block_grid, choose_n_blocks, least_blocks
from robscore.solvers.unpenalised import SingularLossError
from robscore.solvers.unsolvable_columns import ColumnsError
from robscore.weighting.block_weights import Products, shared_products, weigh_rows
from robscore.weighting.reweighting import PilotFit, Reweighted, reweigh
from robscore.weighting.row_weights import RowWeights

_FEWEST_REWEIGHTED = 20  # rows; fewer say too little about each other
_LOOKED_AT = 1000  # rows that overflow, to find the column that does it
_MUCH = 0.25  # share of rows left out that is worth a remark
_CANNOT_BE_JUDGED = (About.COLUMNS, About.DEPENDENT_COLUMNS)  # why rows are not: then every row counts
_BLOCKS_OF_ONE = 5000  # rows up to which each is a block of its own where rows cannot be judged: no order matters


class Pilot(NamedTuple):
    """Fits that rows are judged by.

    Attributes
    ----------
    first : from a loss and the number of rows behind it to parameters, as a continuous function
    like : from a loss and parameters to its minimum over those parameters that are not zero
    """

    first: PilotFit
    like: Callable[[Loss, Parameters], Parameters]


@dataclass(frozen=True)
class Weighed:
    """Row weights, and why they are what they are.

    Attributes
    ----------
    weights : RowWeights
    n_blocks : K of the answer; after reweighting, of the median of means that scores are taken by
    n_blocks_criterion : what ``n_blocks="auto"`` looked at, by K; else None
    reweighted : bool
        Whether rows were to be reweighted.
    remarks : what to warn about
    found : what reweighting found; None if it was not requested, or could not judge the rows
    """

    weights: RowWeights
    n_blocks: int
    n_blocks_criterion: dict[int, float] | None
    reweighted: bool
    remarks: list[Remark]
    found: Reweighted | None = None

    @property
    def reweighting(self) -> str | None:
        """A sentence about the result of reweighting; None if it was not requested."""
        if self.weights.is_tapered:
            return self.weights.describe()
        if any(remark.kind == About.MISFIT for remark in self.remarks):
            return "no, the family does not describe enough of the rows"
        return "no, the rows could not be judged by each other" if self.reweighted else None

    def describe(self, n_rows: int) -> list[str]:
        """How so many rows were weighed, in lines."""
        lines = [f"{n_rows} rows" + ("" if self.weights.is_tapered else f" in {self.n_blocks} blocks")]
        return [*lines, f"reweighting: {self.reweighting}"] if self.reweighted else lines


Weigh: TypeAlias = Callable[[Prepared, Elements, Settings, Pilot], tuple[Weighed, Loss]]


def weigh(prepared: Prepared, elements: Elements, settings: Settings, pilot: Pilot) -> tuple[Weighed, Loss]:
    """Row weights and the loss weighted by them.

    Rows are compared with each other, unless blocks or a share of bad rows are given: then the weights are those of the
    geometric median of block means.
    """
    elements.check_statistics()
    frequency = prepared.rows.frequency
    total = max(round(_total(frequency, np.ones(elements.n_rows, dtype=bool))), 1)
    n_blocks = min(settings.first_n_blocks(total), elements.n_rows)
    _check_overflow(prepared, elements)
    free = settings.reweights and settings.blocks_unspecified and total <= _BLOCKS_OF_ONE
    fallback = elements.n_rows if free else n_blocks
    found: Reweighted | Remark | None = None
    if (settings.reweights or settings.n_blocks == "auto") and total >= _FEWEST_REWEIGHTED:
        with stage("looking for bad rows"):
            found = _reweigh(prepared, elements, settings, fallback, pilot)
    if isinstance(found, Reweighted) and settings.reweights:
        remarks = remarks_on_left_out(found.weights, prepared)
        return Weighed(found.weights, n_blocks, None, settings.reweights, remarks, found), found.loss
    n_blocks = 1 if free and isinstance(found, Remark) and found.kind in _CANNOT_BE_JUDGED else fallback
    announce(f"weighing {n_blocks} blocks of rows")
    if isinstance(found, Reweighted):
        weights, n_blocks, criterion, remarks = _choose_n_blocks(elements, settings, found, pilot, frequency)
        return Weighed(weights, n_blocks, criterion, settings.reweights, remarks), weights.loss(elements)
    weights, remarks = _weights_of_blocks(elements, settings, n_blocks, frequency)
    remarks = remarks if found is None else [*remarks, found]
    return Weighed(weights, n_blocks, None, settings.reweights, remarks), weights.loss(elements)


def _total(frequency: Array | None, rows: BoolArray) -> float:
    """How many rows these are: a row of weight 2 is two."""
    return float(np.count_nonzero(rows) if frequency is None else frequency[rows].sum())


def _check_overflow(prepared: Prepared, elements: Elements) -> None:
    """Raise, naming a column, where half of the rows or more have elements that overflow: no weights can help."""
    overflow = elements.overflow
    frequency = prepared.rows.frequency
    if 2 * _total(frequency, overflow) < _total(frequency, np.ones_like(overflow)):
        return
    with np.errstate(divide="ignore"):
        away = np.abs(np.log10(np.abs(prepared.rows.take(np.flatnonzero(overflow)[:_LOOKED_AT]))))
    names = prepared.preparation.names
    worst = names[int(np.argmax(np.median(away[:, : len(names)], axis=0)))]
    raise UsageError(
        f"{np.count_nonzero(overflow)} of {elements.n_rows} rows have score-matching elements that overflow: they are "
        f"too large, or too near a boundary, in column {worst!r} most of all. Measure it in other units, keep ",
        Setting("scale", "median"),
        ", or choose another ",
        Setting("family"),
        ".",
    )


def remarks_on_left_out(weights: RowWeights, prepared: Prepared) -> list[Remark]:
    """The caution that a large share of the rows was left out."""
    dropped = weights.share_dropped or 0.0
    if dropped <= _MUCH:
        return []
    words = Message(
        f"{dropped:.0%} of the rows were left out, because {prepared.preparation.family!r} does not describe them. "
        "If so many are not bad, try another family, or ",
        Setting("reweight", value=False),
        ".",
    )
    return [Remark(words, UserWarning, About.LEFT_OUT)]


def _weights_of_blocks(
    elements: Elements,
    settings: Settings,
    n_blocks: int,
    frequency: Array | None,
    products: Products | None = None,
) -> tuple[RowWeights, list[Remark]]:
    """Row weights of blocks; where the number of blocks is not the user's, of the rows that do not overflow."""
    n_rows = elements.n_rows
    kept: IntArray | None = None
    if settings.blocks_unspecified and elements.overflow.any():
        kept = np.flatnonzero(~elements.overflow)
        share = _total(frequency, ~elements.overflow) / _total(frequency, np.ones(n_rows, dtype=bool))
        if 2 * share <= 1:
            elements.check_no_overflow(np.arange(n_rows))
        elements, n_blocks = elements.subset(kept), min(max(1, round(n_blocks * share)), kept.size)
    weights, remarks = weigh_rows(
        elements,
        n_blocks,
        n_partitions=settings.n_partitions,
        shuffle=settings.shuffle,
        random_state=settings.random_state,
        products=products,
        frequency=frequency if kept is None else some_of(frequency, kept),
    )
    if kept is None:
        return weights, remarks
    whole = np.zeros((2, n_rows))
    whole[0, kept], whole[1, kept] = weights
    return RowWeights(whole[0], whole[1], frequency=frequency), remarks


def _reweigh(
    prepared: Prepared, elements: Elements, settings: Settings, n_blocks: int, pilot: Pilot
) -> Reweighted | Remark:
    """Weights from how well rows agree with each other; or the remark that says why there are none."""
    preparation = prepared.preparation
    blocks = Message(
        "the weights are those of ", Setting("n_blocks", n_blocks), "; give ", Setting("n_blocks"), " or ",
        Setting("contamination"), " to silence this.",
    )  # fmt: skip
    try:
        if not preparation.scaled_family.is_natural:
            raise NoDensityError(f"Rows of {preparation.family!r}, with its base density, are not reweighted.")
        found = reweigh(
            elements, prepared.rows, preparation.scaled_family, pilot.first, settings.row_rule, settings.seed
        )
    except NoDensityError as error:
        return Remark(Message(f"{error} So ", blocks), UserWarning)
    except ColumnsError as error:
        names = quoted([preparation.names[k] for k in error.columns])
        why = f"in the middle of the rows there is next to no variation in {names}. Without such columns they would be."
        return Remark(f"Bad rows were not looked for: {why}", UserWarning, About.COLUMNS)
    except SingularLossError:
        why = "too few rows are alike, or columns determine each other."
        return Remark(f"Bad rows were not looked for: {why}", UserWarning, About.DEPENDENT_COLUMNS)
    if found is not None:
        return found
    words = Message(
        f"Nearly half of the rows do not look like {preparation.family!r}, so it cannot tell which rows are "
        "bad; try another family. For now ",
        blocks,
    )
    return Remark(words, UserWarning, About.MISFIT)


def _choose_n_blocks(
    elements: Elements, settings: Settings, found: Reweighted, pilot: Pilot, frequency: Array | None
) -> tuple[RowWeights, int, dict[int, float], list[Remark]]:
    """Row weights of the K that the reweighted loss likes best, that K, and the losses by K."""
    products = shared_products(elements)
    weights: dict[int, tuple[RowWeights, list[Remark]]] = {}

    def loss_of(n_blocks: int) -> Loss:
        weights[n_blocks] = _weights_of_blocks(elements, settings, n_blocks, frequency, products)
        return weights[n_blocks][0].loss(elements)

    total = max(round(_total(frequency, np.ones(elements.n_rows, dtype=bool))), 1)
    grid = sorted({min(n_blocks, elements.n_rows) for n_blocks in block_grid(total)})  # blocks hold whole rows
    criterion = choose_n_blocks(grid, loss_of, lambda loss: pilot.like(loss, found.parameters), found.loss)
    n_blocks = least_blocks(criterion)
    chosen, remarks = weights[n_blocks]
    return chosen, n_blocks, criterion, remarks
