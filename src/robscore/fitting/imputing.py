"""Fits of rows with missing cells: the cells are drawn from the fit, and the fit is repeated on the completed rows.

The estimate solves  sum_i E_theta[Gamma(x_i) theta - g(x_i) | observed cells of row i] = 0,  which has mean zero
at the truth wherever cells are missing at random. Round after round

    cells are drawn  ──>  loss averaged over the last completions  ──>  parameters without shrinkage  ──>  ...

until the parameters settle. In every round several completions are drawn: what chance puts into a single one moves the
graph about as much as what is missing does. Rows are weighed and a graph is chosen anew in a few rounds; in the others
only the new completions are added to the loss, and the parameters of that graph are fitted again. A graph is chosen by
the completions of the last half of all rounds. For the Gaussian family no draws are needed where no cells are called
wrong: its completions have the exact conditional moments (:mod:`robscore.cells.draw_cells`).

Where wrong cells are looked for, boundary weights are levelled off: h(d) = (s log(1 + d / s))^p in place of d^p. Many
wrong cells are too large, but not so much that they can be distinguished from right ones; with a weight that grows they
count more than all others, and the parameters take them for tails of the model. In the last fit s rises to the largest
cells as the share of wrong ones falls; if no cell seems wrong, it has the weight of the family.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from robscore._tools.messages import UsageError
from robscore._tools.progress import announce, stage
from robscore._tools.typing import Array, BoolArray
from robscore.cells.draw_cells import (
    Bounds,
    DrawingOrder,
    completions,
    completions_within,
    drawn_apart,
    initial_values,
    normal_points,
    without_covariates,
)
from robscore.cells.filled_cells import FilledCells
from robscore.cells.filled_streams import typical_values
from robscore.cells.wrong_cells import SuspectCells
from robscore.elements import Elements, PairwiseElements
from robscore.elements.observed_entries import ObservedElements, ObservedEntries
from robscore.elements.streamed import elements_of
from robscore.families.copula import GaussianCopula, Margins
from robscore.families.family import Family, Parameters
from robscore.families.given_covariates import Moderated
from robscore.families.group_margins import MarginsOfGroups
from robscore.families.samplers.normal import NormalSampler
from robscore.fitting.choose import Chosen, choose
from robscore.fitting.completed_alone import ApartRows
from robscore.fitting.filled_certainty import certainty_of_pairs
from robscore.fitting.known_cells import KnownCells, check_groups
from robscore.fitting.latent_scale import of_unit_variances, unit_variances
from robscore.fitting.prepare import Data, Prepared, prepare
from robscore.fitting.settings import GraphSettings, Settings
from robscore.fitting.weigh import Pilot, Weighed, weigh
from robscore.losses.interaction_parts import matrices
from robscore.losses.quadratic import FactoredLoss, Loss, QuadraticLoss
from robscore.rows.row_source import ArrayRows, Rows
from robscore.solvers.path import Path
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_weights import RowWeights

if TYPE_CHECKING:
    from robscore.fitting.fit_result import Fit

# These guard time, and what chance is left in draws.
_FEWEST, _MOST, _EXACT_MOST = 22, 60, 400  # rounds
_FEWEST_AT_ONCE = 12  # where all missing cells of a row are drawn at once, and no draw depends on the one before
_WHOLE = (0, 2, 6, 14)  # rounds in which rows are weighed, and a graph is chosen, anew
_EACH = 6  # completions of a round
_EACH_AT_FIRST = 3  # of the first rounds within bounds, whose draws are still far from where they end
_SWEEPS, _FIRST_SWEEPS = 2, 10  # of draws, for a completion; for the first one
_MOST_KEPT, _FEWEST_KEPT = 72, 6  # completions that are kept, as far as a quarter of the memory goes
_SETTLED = 0.02  # relative change of the parameters to end with, where cells are drawn

_F = TypeVar("_F", bound="Fit")
_S = TypeVar("_S", bound=Settings)


class Filler:
    """A table whose missing and wrong cells are filled by one fit after another.

    Parameters
    ----------
    family : of the scaled rows
    X : array of shape (n, m)
        With something in every missing cell.
    missing : boolean array of shape (n, m)
    order : of the draws
    seed : int
    memory : bytes that completions may take a quarter of
    exact : bool
        Whether the exact moments of missing cells may take the place of draws, where the family has them.
    has_margins : bool
        Whether cells are latent numbers of variance 1.

    Attributes
    ----------
    bounds : two arrays of shape (n, m), or None
        Between which numbers the scaled cells lie; None where each is known or free.
    unknown : boolean array of shape (n, m)
        Cells that are no points.
    wrong : boolean array of shape (n, m)
        Cells that are taken for wrong.
    copies : array of shape (R, n, m)
        The completions that a graph is chosen by.
    latest : array of shape (E, n, m)
        Those of the last round.
    is_exact : bool
        Whether they have the moments of what is missing, without draws.
    """

    def __init__(
        self,
        family: Family,
        X: Array,
        missing: BoolArray,
        order: DrawingOrder,
        seed: int,
        memory: float = np.inf,
        *,
        exact: bool = True,
        has_margins: bool = False,
    ) -> None:
        self.has_margins = has_margins
        self.bounds: Bounds | None = None
        self.weights: Array | None = None
        self.family, self.missing, self.order, self.seed = family, missing, order, seed
        self.observed, self.unknown, self.wrong = X, missing, np.zeros_like(missing)
        self.copies = self.latest = X[None]
        self.most = int(np.clip(memory / 4 / max(X.nbytes, 1), _FEWEST_KEPT, _MOST_KEPT))
        self.linked = np.zeros((missing.shape[1], missing.shape[1]), dtype=bool)
        self.rounds = 0
        sampler = without_covariates(family).sampler()
        self.is_exact = exact and isinstance(sampler, NormalSampler) and sampler.change is None
        self.fewest = _FEWEST_AT_ONCE if isinstance(sampler, NormalSampler) else _FEWEST

    @classmethod
    def going_on(cls, family: Family, filling: FilledCells, seed: int) -> Filler:
        """From where a fit ended, with draws in any case."""
        has_margins = filling.has_margins
        filler = cls(family, filling.observed, filling.drawn, filling.order, seed, exact=False, has_margins=has_margins)
        filler.copies, filler.rounds = filling.copies[-1:], 1000
        if filling.bounds is not None:
            filler.bound(filling.bounds, filling.weights)
        return filler

    def draw(self, parameters: Parameters) -> None:
        """One more completion, by these parameters, in place of all others."""
        self.rounds += 1
        self.copies = self._drawn(self._restored(self.copies[-1]), parameters, [_SWEEPS])

    def move(self, parameters: Parameters) -> None:
        """Fill the cells anew, by these parameters."""
        self.rounds += 1
        self.linked = (matrices(parameters[0]) != 0).any(axis=0)
        if self.has_margins:
            self.latest = self._drawn_side_by_side(parameters)
            # Old draws would hold associations near zero, where these began.
            self._keep(min(_EACH * max(self.rounds - 1 - _WHOLE[-1], 0), self.most - _EACH))
            return
        X = self._restored(self.copies[-1])
        if self.is_exact:
            most, m = max(int(np.count_nonzero(self.filled, axis=1).max(initial=0)), 1), self.filled.shape[1]
            points = np.repeat(X[None], 2 * most, axis=0)
            for rows, (K, eta) in self.family.laws(X, *parameters):
                points[:, rows, :m] = normal_points(X[rows, :m], self.filled[rows], K, eta, most)
            self.copies = self.latest = points
            return
        first = _FIRST_SWEEPS if self.rounds == 1 else _SWEEPS
        self.latest = self._drawn(X, parameters, [first] + [_SWEEPS] * (_EACH - 1))
        self._keep(min(_EACH * max(self.rounds // 2, 1), self.most) - _EACH if self.rounds >= 4 else 0)

    def _keep(self, count: int) -> None:
        """So many of the completions until now, before the latest."""
        self.copies = np.concatenate([self.copies[len(self.copies) - min(count, len(self.copies)) :], self.latest])

    def _drawn_side_by_side(self, parameters: Parameters) -> Array:
        """As many completions as the round needs, each drawn on from one of the last round."""
        count = _EACH if self.rounds > _WHOLE[-2] else _EACH_AT_FIRST
        tables = np.stack([self._restored(self.latest[k % len(self.latest)]) for k in range(count)])
        rng, within = np.random.default_rng([self.seed, self.rounds]), self.within
        assert within is not None
        return completions_within(
            *(self.family, tables, self.filled, within, self.on_scale(parameters)), order=self.order, sweeps=1, rng=rng
        )

    def on_scale(self, parameters: Parameters) -> Parameters:
        """Parameters on the scale of the cells."""
        if not self.has_margins:
            return parameters
        return of_unit_variances(self.family, parameters, self.observed, self.weights)

    def _drawn(self, X: Array, parameters: Parameters, sweeps: list[int]) -> Array:
        rngs = [np.random.default_rng([self.seed, self.rounds, number]) for number in range(len(sweeps))]
        parameters = self.on_scale(parameters)
        try:
            return completions(
                self.family, X, self.filled, parameters, order=self.order, sweeps=sweeps, rngs=rngs, bounds=self.within
            )
        except (ValueError, TypeError) as error:
            raise UsageError(
                f"Missing cells cannot be drawn from {self.family!r} ({error}); leave out incomplete rows, or choose "
                "another family."
            ) from None

    def bound(self, bounds: Bounds, weights: Array | None = None, given: Array | None = None) -> None:
        """Cells lie within bounds from now on, two arrays of shape (n, m); where these are equal, at that point.

        Latent numbers have mean 0 and variance 1 by the ``weights`` of the rows; ``given`` are the covariates from now
        on, where these have margins too.
        """
        (lower, upper), self.weights = bounds, weights
        m = lower.shape[1]
        self.bounds, self.unknown = bounds, lower < upper
        given = self.observed[:, m:] if given is None else given
        self.observed = np.concatenate([np.where(self.unknown, self.observed[:, :m], lower), given], axis=1)
        assert self.within is not None
        ends = self.within
        self.copies = self.latest = np.stack(
            [np.concatenate([np.clip(copy[:, :m], *ends), given], axis=1) for copy in self.copies]
        )
        self.is_exact, self.fewest = False, _FEWEST

    @property
    def filled(self) -> BoolArray:
        """Cells that are drawn, shape (n, m)."""
        return self.unknown | self.wrong

    @property
    def within(self) -> Bounds | None:
        """The bounds that cells are drawn within: none of those that are taken for wrong."""
        if self.bounds is None:
            return None
        lower, upper = self.bounds
        return np.where(self.wrong, -np.inf, lower), np.where(self.wrong, np.inf, upper)

    def flag(self, wrong: BoolArray, *, fill: bool = False) -> None:
        """Take these cells, shape (n, m), for wrong; ``fill`` them by others of their columns."""
        self.wrong = wrong & ~self.missing
        if fill:
            m = wrong.shape[1]
            own = np.where(wrong, np.nan, self.copies[-1][:, :m])
            filled = initial_values(own, self.family.domain, [""] * m, self.order, self.seed)
            self.copies = self.latest = np.concatenate([filled, self.copies[-1][:, m:]], axis=1)[None]

    def _restored(self, X: Array) -> Array:
        """With the other cells as they were observed."""
        kept = np.ones(X.shape, dtype=bool)
        kept[:, : self.filled.shape[1]] = ~self.filled
        return np.where(kept, self.observed, X)

    @property
    def one(self) -> Array:
        """One completion, shape (n, m): the last; where they are not drawn, of every row another one."""
        if not self.is_exact:
            return np.asarray(self.copies[-1])
        taken = np.empty(len(self.copies[0]), dtype=np.intp)
        taken[self.order.rows] = np.arange(taken.size) % len(self.copies)
        return np.asarray(self.copies[taken, np.arange(taken.size)])


def fit_imputed(
    data: Data,
    settings: _S,
    fit_prepared: Callable[[Prepared, _S], _F],
    fit_to_draw: Callable[[Prepared, _S], _F],
    refit: Callable[[Loss, _F], Parameters],
    settled: float = 1e-8,
) -> _F:
    """A fit of rows with missing cells, or with wrong ones.

    Parameters
    ----------
    data : Data
    settings : Settings
    fit_prepared : a fit of prepared rows, which :func:`weigh_imputed` weighs
    fit_to_draw : the same, of which the row weights, the loss and what ``refit`` takes are needed
    refit : parameters of a loss without shrinkage, for the graph of a fit, that cells are drawn by
    settled : relative change of the parameters to end with, where nothing is drawn
    """
    if data.moderators:
        settings.check_moderators(data.moderators[0].name)
    if settings.family.has_margins:
        check_groups(data.moderators, settings)
    every = KnownCells.of(data, settings)
    plain = prepare(replace(data, rows=every.rows), settings)
    has_margins, known = plain.preparation.has_margins, every.used_by(plain)
    if not (np.isnan(known.given).any() or settings.cells or has_margins):
        return fit_prepared(plain, settings)
    check_groups(data.moderators, settings)
    levels = settings.cells and settings.scale == "median"
    if has_margins and (known.covariates.size or np.isnan(known.given).any()):
        plain = _with_margins(plain, known, plain.rows.frequency, None)
    prepared = _levelled(plain, settings.cell_rule.level) if levels else plain
    filler, suspects = _filler(prepared, known, settings)
    most, enough = (_EXACT_MOST, settled) if filler.is_exact else (_MOST, _SETTLED)
    past: list[Array] = []
    fit, change = None, np.inf
    is_drawn = bool(filler.filled.any()) or suspects is not None
    for_round = settings.for_imputation_round(prepared.rows.n_columns) if is_drawn else settings.without_graph()
    with stage("filling in cells"):
        for number in range(most):
            now = _with_copies(prepared, known, filler, suspects, number, change)
            if fit is None or number in _WHOLE:
                fit = fit_to_draw(now, for_round)
                loss, count, past = fit.loss, len(filler.copies), []
                if has_margins:
                    prepared = _with_margins(prepared, known, fit.weights.gamma_weights, filler)
            else:
                count += len(filler.latest)
                is_fresh = filler.is_exact or (has_margins and number <= _WHOLE[-1])
                loss = _with_latest(loss, now, filler, fit, 1.0 if is_fresh else len(filler.latest) / count)
            if not filler.filled.any() and suspects is None:
                change = 0.0  # all cells are points, so nothing is drawn
                break
            parameters = refit(loss, fit)
            past.append(np.concatenate([np.ravel(part) for part in parameters]))
            change = _change(past, 1 if filler.is_exact else 4)
            announce("filling in cells", number, filler.fewest)
            if number >= filler.fewest and change <= enough:
                break
            drawn_by = proper(filler.family, loss, parameters)
            if suspects is not None:
                suspects = _looked_at(suspects, prepared, known, filler, filler.on_scale(drawn_by), number)
                suspects = suspects.updated(filler.one, filler.on_scale(drawn_by), fit.weights.gamma_weights > 0)
                filler.flag(suspects.drawn(np.random.default_rng([settings.seed, 0, number]), filler.order))
            filler.move(drawn_by)
    if suspects is not None and levels:
        rule = settings.cell_rule
        prepared = _levelled(plain, 1 - (1 - rule.level) * min(suspects.share / rule.many_wrong, 1.0))
    last = _with_copies(prepared, known, filler, suspects, number, change)
    assert last.filling is not None
    return fit_prepared(replace(last, filling=replace(last.filling, converged=change <= enough)), settings)


def _filler(prepared: Prepared, known: KnownCells, settings: Settings) -> tuple[Filler, SuspectCells | None]:
    """What fills the cells of prepared rows; and what is known of wrong cells, where these are looked for."""
    X = prepared.rows.take(np.arange(prepared.rows.n_rows))
    family, m, has_margins = prepared.preparation.scaled_family, known.given.shape[1], prepared.preparation.has_margins
    missing = np.isnan(known.given) & ~known.censored
    suspects = (
        SuspectCells.of(settings.cell_rule, family, X, missing, prepared.rows.frequency) if settings.cells else None
    )
    # Which cells are wrong is drawn in any case, so moments of the others would not be exact.
    filler = Filler(
        family, X, missing, known.order, settings.seed, settings.memory,
        exact=suspects is None, has_margins=has_margins,
    )  # fmt: skip
    if suspects is not None:
        filler.flag(suspects.likely_wrong, fill=True)
    bounds = known.bounds(X[:, :m], prepared.preparation.scaling)
    if bounds is not None:
        filler.bound(bounds, prepared.rows.frequency)
    if has_margins and filler.filled.any():
        # Independent draws first: at the middle of its interval a column of many zeros would hardly vary.
        count = family.moderation.parts.count if isinstance(family, Moderated) else 1
        filler.move((np.eye(count * m, m), np.zeros(prepared.preparation.location_shape)))
    return filler, suspects


def _with_margins(prepared: Prepared, known: KnownCells, weights: Array | None, filler: Filler | None) -> Prepared:
    """The rows with the margins of those that count, by their weights, which bound what is filled in from now on.

    Cells that are missing, censored or taken for wrong count with the values that were drawn for them.
    """
    preparation, X, drawn = prepared.preparation, known.given, []
    family, before = preparation.family, preparation.scaling
    base, whole = without_covariates(family), np.concatenate([known.given, known.covariates], axis=1)
    assert isinstance(base, GaussianCopula)
    assert isinstance(before, Margins)
    if filler is not None:
        X = np.where(filler.wrong, np.nan, X)
        drawn = [before.undo(copy) for copy in filler.latest] if np.isnan(X).any() else []
    if isinstance(family, Moderated):
        X = np.concatenate([X, known.covariates], axis=1)
        own = X, preparation.names, family.moderation.of, weights, known.limits, drawn
        margins: Margins = MarginsOfGroups.among(base, *own)
    else:
        margins = base.margins(X, preparation.names, weights, known.limits, drawn)
    every = None if filler is None else before.every or before
    margins = replace(margins, centre=before.centre, scale=before.scale, past=before.past, every=every)
    if filler is not None:
        given = known.covariates
        if given.size:
            given = margins.apply(whole)[:, len(preparation.names) :]
        filler.bound(margins.bounds(whole, known.limits), weights, given)
    return replace(prepared, preparation=replace(preparation, scaling=margins))


def _looked_at(
    suspects: SuspectCells, prepared: Prepared, known: KnownCells, filler: Filler, parameters: Parameters, number: int
) -> SuspectCells:
    """Suspect cells with latent numbers to judge them by: points as far out as their values, others drawn anew."""
    margins = prepared.preparation.scaling
    if not isinstance(margins, Margins) or filler.bounds is None:
        return suspects
    rng, X = np.random.default_rng([filler.seed, 1, number]), filler.one.copy()
    _, own, at = filler.family.at(X, *parameters)
    X[:, : own.shape[1]] = drawn_apart(own, filler.unknown, filler.bounds, at, filler.order, rng)
    return suspects.observing(margins.judged(known.given, filler.unknown, X))


def drawing_parameters(fit: Fit) -> Parameters:
    """Parameters without shrinkage that have a density, on the scale that cells are drawn on."""
    preparation, rows = fit.prepared.preparation, fit.prepared.rows
    parameters = proper(preparation.scaled_family, fit.loss, fit.unshrunk)
    if not preparation.has_margins:
        return parameters
    X = rows.take(np.arange(rows.n_rows))
    return of_unit_variances(preparation.scaled_family, parameters, X, fit.weights.gamma_weights)


def _levelled(prepared: Prepared, quantile: float) -> Prepared:
    """With a weight of the distance to the boundary that levels off from that quantile on; as it is, if that is 1."""
    if quantile >= 1:
        return prepared
    family = prepared.preparation.scaled_family.levelled(prepared.rows, quantile)
    return replace(prepared, preparation=replace(prepared.preparation, scaled_family=family))


def _with_latest(loss: Loss, now: Prepared, filler: Filler, fit: Fit, share: float) -> Loss:
    """The loss of all completions so far, of which the latest are a share; of those kept, where Gamma is not formed."""
    assert now.filling is not None
    if isinstance(loss, FactoredLoss) or not isinstance(loss, QuadraticLoss):
        return loss_of_copies(now, fit.weighed, fit.settings)
    latest = replace(now, filling=replace(now.filling, copies=filler.latest))
    new = loss_of_copies(latest, fit.weighed, fit.settings)
    assert isinstance(new, QuadraticLoss)
    return loss.mixed_with(new, share)


def _with_copies(
    prepared: Prepared,
    known: KnownCells,
    filler: Filler,
    suspects: SuspectCells | None,
    rounds: int,
    change: float,
) -> Prepared:
    table = filler.missing, filler.filled, filler.copies, known.given, filler.observed, filler.order, filler.linked
    frequency = prepared.rows.frequency
    filling = FilledCells(
        *table, suspects, rounds, change, bounds=filler.within, frequency=frequency, weights=filler.weights,
        has_margins=filler.has_margins, censored=known.censored,
    )  # fmt: skip
    rows = ArrayRows(filler.one, prepared.rows.names).counted(frequency)
    return replace(prepared, rows=rows, filling=filling)


def _change(past: list[Array], back: int) -> float:
    """How far parameters have moved, in so many rounds, relative to their size."""
    if len(past) <= back:
        return np.inf
    now, before = past[-1], past[-1 - back]
    return float(np.linalg.norm(now - before) / max(float(np.linalg.norm(now)), np.finfo(float).tiny))


def weigh_imputed(prepared: Prepared, elements: Elements, settings: Settings, pilot: Pilot) -> tuple[Weighed, Loss]:
    """Row weights by one completion of the rows, and the loss averaged over all completions."""
    filling = prepared.filling
    if filling is None or not filling.has_margins:
        weighed, loss = weigh(prepared, elements, settings, pilot)
        is_single = filling is None or len(filling.copies) == 1  # which is what rows were judged by
        return weighed, loss if is_single else loss_of_copies(prepared, weighed, settings)
    to_judge = replace(prepared, rows=prepared.to_judge)
    weighed, _ = weigh(to_judge, to_judge.elements(settings), settings, pilot)
    if len(filling.copies) == 1:
        return weighed, unit_variances(weighed.weights.loss(elements))
    return weighed, loss_of_copies(prepared, weighed, settings)


def loss_of_copies(prepared: Prepared, weighed: Weighed, settings: Settings) -> Loss:
    """The loss averaged over all completions, which are weighed like the one that rows were judged by."""
    assert prepared.filling is not None
    copies = prepared.filling.copies
    rows = ArrayRows(copies.reshape(-1, copies.shape[2]))
    elements = elements_of(prepared.preparation.scaled_family, rows, settings.memory).stored_as(settings.loss_storage)
    loss = weights_of_copies(prepared, weighed, elements, rows).loss(elements)
    return on_latent_scale(prepared, weighed.weights, loss)


def on_latent_scale(prepared: Prepared, weights: RowWeights, loss: Loss) -> Loss:
    """The loss of completions; of latent numbers with variances of 1, and without empty corners."""
    filling = prepared.filling
    if filling is None or not filling.has_margins:
        return loss
    family = without_covariates(prepared.preparation.family)
    assert isinstance(family, GaussianCopula)
    n_independent = family.rule.independent_rows if filling.drawn.any() else 0.0
    return unit_variances(loss, n_independent / (n_independent + weights.effective_rows[0]))


def weights_of_copies(prepared: Prepared, weighed: Weighed, elements: Elements, rows: Rows) -> RowWeights:
    """Weights of all completions, one after the other, as those of the completion that rows were judged by."""
    count, frequency = rows.n_rows // prepared.rows.n_rows, prepared.rows.frequency
    if weighed.found is not None and weighed.weights.is_tapered:
        repeated = rows if frequency is None else rows.counted(np.tile(frequency, count))
        if prepared.preparation.has_margins:
            tables = [prepared.judged(table) for table in rows.gather(np.asarray).reshape(count, -1, rows.n_columns)]
            repeated = ArrayRows(np.concatenate(tables)).counted(repeated.frequency)
        weights, _ = weighed.found.limits.weigh_many(repeated, elements.overflow, np.tile(weighed.found.members, count))
        if weights.counted.size:
            return weights
    gamma, g = (np.where(elements.overflow, 0.0, np.tile(part, count)) for part in weighed.weights)
    return RowWeights(
        gamma / gamma.sum(), g / g.sum(), frequency=None if frequency is None else np.tile(frequency, count)
    )


def choose_imputed(
    prepared: Prepared,
    loss: QuadraticLoss,
    path: Path,
    elements: PairwiseElements,
    weighed: Weighed,
    settings: GraphSettings,
) -> Chosen:
    """The penalty, by how far pairs stand out of what was observed, not of what the fit filled in itself."""
    has_bounds = prepared.filling is not None and prepared.filling.bounds is not None
    by_observed = prepared.filling is not None and not has_bounds and "cv" in settings.asked
    is_apart = has_bounds and not prepared.preparation.given
    apart = ApartRows(prepared, settings, weighed.weights.gamma_weights) if is_apart else None
    observed = observed_elements(prepared, weighed.weights) if by_observed else None
    certainty = certainty_of_pairs(prepared, loss, weighed, settings) if "f1" in settings.asked else None
    return choose(prepared, loss, path, elements, weighed, settings, certainty, observed, apart)


def observed_elements(prepared: Prepared, weights: RowWeights) -> ObservedElements:
    """Elements of the observed cells of rows, to judge fits by that filled the others in."""
    filling, names = prepared.filling, prepared.preparation.names
    assert filling is not None
    X = filling.observed.copy()
    X[:, : len(names)][filling.drawn] = np.nan
    rows, family = ArrayRows(X), prepared.preparation.scaled_family
    entries = ObservedEntries.weighted(family, rows, typical_values(rows, names), names, *weights)
    return entries.elements(X)
