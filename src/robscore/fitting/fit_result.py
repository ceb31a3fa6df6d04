"""What a fit gives: the result of every stage in one frozen value, which everything after it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from robscore._tools.messages import Remark
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.elements import Elements
from robscore.families.family import Parameters
from robscore.fitting.choose import Chosen
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import GraphSettings, Settings
from robscore.fitting.weigh import Weighed
from robscore.graph import FitFacts, Graph, association
from robscore.losses.quadratic import Loss, QuadraticLoss
from robscore.solvers.path import joined_interaction, joined_support
from robscore.weighting.row_weights import RowWeights

if TYPE_CHECKING:
    from robscore.fitting.by_sample import Sampled


@dataclass(frozen=True, eq=False)
class Fit:
    """The result of a fit, and everything behind it.

    Attributes
    ----------
    settings : Settings
        The arguments, checked.
    prepared : Prepared
        The rows that were used, scaled; which these are; and how others are prepared.
    weighed : Weighed
        Row weights, and why they are what they are.
    loss : the weighted loss of the scaled rows
    scaled : parameters on the scaled columns: (K, eta), or (theta,)
    given : the same on the given columns
    unshrunk : parameters on the scaled columns without shrinkage, which rows are judged by
    remarks : list of Remark
    """

    settings: Settings
    prepared: Prepared
    weighed: Weighed
    loss: Loss
    scaled: Parameters
    given: Parameters
    unshrunk: Parameters
    remarks: list[Remark]

    @property
    def frame(self) -> str | None:
        """Name of the data-frame library that tables are given in, if any."""
        return self.prepared.preparation.frame

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.prepared.preparation.names

    @property
    def n_given(self) -> int:
        """How many columns the covariates are."""
        return len(self.prepared.preparation.given)

    @property
    def used(self) -> IntArray:
        """Positions of the rows that were used."""
        return self.prepared.used

    @property
    def weights(self) -> RowWeights:
        """Weights of the rows that were used."""
        return self.weighed.weights

    @cached_property
    def interaction(self) -> Array:
        """K of the given columns, shape (m, m); what all rows have in common, where moderators change it."""
        return self.prepared.preparation.family.common(self.given[0])

    @cached_property
    def row_weights(self) -> Array:
        """Weights of all rows in Gamma-hat and g-hat, shape (n, 2); zero for those not used."""
        gamma, g = self.weights
        if gamma is g and self.prepared.complete.all():  # there may be very many rows: seen twice, held once
            return np.broadcast_to(gamma[:, None], (gamma.size, 2))
        weights = np.zeros((self.prepared.complete.size, 2))
        for column, part in enumerate(self.weights):
            weights[self.prepared.complete, column] = part
        return weights

    def elements(self, some: IntArray | None = None) -> Elements:
        """The elements of the rows that were used, all or some (ascending positions among these)."""
        return self.prepared.elements(self.settings, some)


@dataclass(frozen=True, eq=False)
class GraphFit(Fit):
    """A penalised fit.

    Attributes
    ----------
    settings : GraphSettings
    loss : QuadraticLoss
    chosen : Chosen
        The path of solutions, the position of the chosen one, and how it was chosen.
    rounding : what single precision costs
    sampled : how a sample of rows chose the graph; None where all rows did
    """

    settings: GraphSettings
    loss: QuadraticLoss
    chosen: Chosen
    rounding: float
    sampled: Sampled | None = None

    def interaction_at(self, position: int) -> Array:
        """K of the scaled columns at a position of the path, shape (m, m); common to all rows."""
        return self.prepared.preparation.scaled_family.common(self._whole_interaction_at(position))

    def _whole_interaction_at(self, position: int) -> Array:
        K = self.loss.completed(joined_interaction(self.chosen.path.interactions[position], self.settings.rule))
        return self.prepared.preparation.scaled_family.with_shared(K)

    @property
    def drawn_by(self) -> tuple[BoolArray, BoolArray]:
        """Which interactions and locations are free where cells are drawn, shapes (m, m) and (m,) or (m, 1+q).

        A pair without an edge in the graph that missing cells are drawn by would look less linked than it is, the more
        so the fewer of its cells are there, and would stay out for that. So all pairs are free that may have an edge;
        if there are too many for the rows, those of the chosen graph and as many again, as they enter the path.
        """
        path, position = self.chosen.path, self.chosen.position
        if self.settings.draws_from_all_pairs(len(self.names), self.weights.n_rows / self.loss.parts.n_groups):
            allowed = self.loss.parts.tiled(self.settings.allowed_pairs(len(self.names)))
            return allowed, np.full(path.locations[position].shape, self.settings.fit_location)
        if not self.settings.cells:
            enough = 2 * path.n_edges[position] + len(self.names) // 2
            beyond = np.flatnonzero((path.n_edges >= enough) & (np.arange(path.alphas.size) >= position))
            position = int(beyond[0]) if beyond.size else path.alphas.size - 1
        return joined_support(np.asarray(path.interactions[position]), "symmetric"), path.locations[position] != 0

    @cached_property
    def facts(self) -> FitFacts:
        """What a reader of a summary wants to know."""
        path, position = self.chosen.path, self.chosen.position
        return FitFacts(
            n_rows=self.prepared.rows.n_repeated,
            reweighting=self.weighed.reweighting,
            family=repr(self.prepared.preparation.family),
            n_blocks=self.weighed.n_blocks,
            effective_rows=self.weights.effective_rows,
            alpha=float(path.alphas[position]),
            selection=self.chosen.words,
            converged=self.converged,
            kkt=float(path.kkt[position]),
            filled=self.prepared.describe_missing or ("" if self.sampled is None else self.sampled.filled),
            sample="" if self.sampled is None else self.sampled.describe(self.prepared.rows.n_rows),
        )

    @property
    def converged(self) -> bool:
        """Whether the chosen solution is one, and the filling of cells has settled."""
        filling = self.prepared.filling
        return bool(self.chosen.path.converged[self.chosen.position]) and (filling is None or filling.converged)

    @cached_property
    def graph(self) -> Graph:
        """The chosen graph."""
        K = self.interaction
        return Graph(tuple(self.names), K, association(K)[0], self.facts, self.frame)

    def graph_at(self, position: int) -> Graph:
        """The graph at another position of the path."""
        path = self.chosen.path
        scaled = self._whole_interaction_at(position), path.locations[position]
        preparation = self.prepared.preparation
        K = preparation.family.common(preparation.unscale(scaled)[0])
        facts = replace(
            self.facts,
            alpha=float(path.alphas[position]),
            selection=f"number {position + 1} of {path.alphas.size}",
            converged=bool(path.converged[position]),
            kkt=float(path.kkt[position]),
        )
        return Graph(tuple(self.names), K, association(K)[0], facts, self.frame)
