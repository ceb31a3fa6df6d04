"""Fits of rows with missing cells: the cells are drawn from the fit, and the fit is repeated on the completed rows.

The estimate solves  sum_i E_theta[Gamma(x_i) theta - g(x_i) | cells of row i that are there] = 0,  which has mean zero
at the truth wherever cells are missing at random. Round after round

    cells are drawn  ──>  loss averaged over the last completions  ──>  parameters without shrinkage  ──>  ...

until the parameters settle. In every round several completions are drawn: what chance puts into a single one moves the
graph about as much as what is missing does. Rows are weighed and a graph is chosen anew in a few rounds; in the others
only the new completions are added to the loss, and the parameters of that graph are fitted again. A graph is chosen by
the completions of the last half of all rounds. For the Gaussian family no draws are needed where no cells are called
wrong: its completions have the exact conditional moments (:mod:`robscore.cells.draw_cells`).

Where wrong cells are looked for, boundary weights are levelled off: h(d) = (s log(1 + d / s))^p in place of d^p. Many
wrong cells are too large, but not so much that they can be told from right ones; with a weight that grows they have
more say than all others, and the parameters take them for tails of the model. In the last fit s rises to the largest
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
from robscore.cells.draw_cells import DrawingOrder, completions, initial_values, normal_points, without_covariates
from robscore.cells.filled_cells import FilledCells
from robscore.cells.wrong_cells import Suspects
from robscore.families.family import Family, Parameters
from robscore.families.samplers.normal import NormalSampler
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import Settings
from robscore.fitting.weigh import loss_of_copies
from robscore.losses.quadratic import FactoredLoss, Loss, QuadraticLoss
from robscore.rows.row_source import ArrayRows
from robscore.weighting.proper_parameters import proper

if TYPE_CHECKING:
    from robscore.fitting.fit import Fit

_FEWEST, _MOST, _EXACT_MOST = 22, 60, 400  # rounds
_FEWEST_AT_ONCE = 12  # where all holes of a row are drawn at once, and no draw depends on the one before
_WHOLE = (0, 2, 6, 14)  # rounds in which rows are weighed, and a graph is chosen, anew
_EACH = 6  # completions of a round
_SWEEPS, _FIRST_SWEEPS = 2, 10  # of draws, for a completion; for the first one
_MOST_KEPT, _FEWEST_KEPT = 72, 6  # completions that are kept, as far as a quarter of the memory goes
_SETTLED = 0.02  # relative change of the parameters to end with, where cells are drawn
_LEVEL = 0.5  # quantile of the distances to the boundary from which on weights level off, where cells may be wrong
_MANY_WRONG = 0.04  # share of the cells, from which on they are level to the end

_F = TypeVar("_F", bound="Fit")


class Filler:
    """A table whose holes are filled by one fit after another.

    Parameters
    ----------
    family : of the scaled rows
    X : array of shape (n, m)
        With something in every hole.
    missing : boolean array of shape (n, m)
    order : of the draws
    seed : int
    memory : bytes that completions may take a quarter of

    Attributes
    ----------
    holes : boolean array of shape (n, m)
        Cells that are missing, and those that are taken for wrong.
    copies : array of shape (R, n, m)
        The completions that a graph is chosen by.
    latest : array of shape (E, n, m)
        Those of the last round.
    is_exact : bool
        Whether they have the moments of what is missing, without draws.
    """

    def __init__(
        self, family: Family, X: Array, missing: BoolArray, order: DrawingOrder, seed: int, memory: float = np.inf
    ) -> None:
        self.family, self.missing, self.order, self.seed = family, missing, order, seed
        self.observed, self.holes = X, missing
        self.copies = self.latest = X[None]
        self.most = int(np.clip(memory / 4 / max(X.nbytes, 1), _FEWEST_KEPT, _MOST_KEPT))
        self.linked = np.zeros((missing.shape[1], missing.shape[1]), dtype=bool)
        self.rounds = 0
        sampler = without_covariates(family, X.shape[1]).sampler()
        self.is_exact = isinstance(sampler, NormalSampler) and sampler.change is None
        self.fewest = _FEWEST_AT_ONCE if isinstance(sampler, NormalSampler) else _FEWEST

    @classmethod
    def going_on(cls, family: Family, filling: FilledCells, seed: int) -> Filler:
        """From where a fit ended, with draws in any case."""
        filler = cls(family, filling.observed, filling.holes, filling.order, seed)
        filler.copies, filler.rounds, filler.is_exact = filling.copies[-1:], 1000, False
        return filler

    def draw(self, parameters: Parameters) -> None:
        """One more completion, by these parameters, in place of all others."""
        self.rounds += 1
        self.copies = self._drawn(self._restored(self.copies[-1]), parameters, [_SWEEPS])

    def move(self, parameters: Parameters) -> None:
        """Fill the holes anew, by these parameters."""
        self.rounds += 1
        self.linked = parameters[0] != 0
        X = self._restored(self.copies[-1])
        if self.is_exact:
            _, own, (K, eta) = self.family.at(X, *parameters)
            points = normal_points(own, self.holes, K, eta)
            given = np.broadcast_to(X[:, own.shape[1] :], (len(points), len(X), X.shape[1] - own.shape[1]))
            self.copies = self.latest = np.concatenate([points, given], axis=2)
            return
        first = _FIRST_SWEEPS if self.rounds == 1 else _SWEEPS
        self.latest = self._drawn(X, parameters, [first] + [_SWEEPS] * (_EACH - 1))
        kept = min(_EACH * max(self.rounds // 2, 1), self.most) - _EACH if self.rounds >= 4 else 0
        self.copies = np.concatenate([self.copies[len(self.copies) - min(kept, len(self.copies)) :], self.latest])

    def _drawn(self, X: Array, parameters: Parameters, sweeps: list[int]) -> Array:
        rngs = [np.random.default_rng([self.seed, self.rounds, number]) for number in range(len(sweeps))]
        try:
            return completions(self.family, X, self.holes, parameters, order=self.order, sweeps=sweeps, rngs=rngs)
        except (ValueError, TypeError) as error:
            raise UsageError(
                f"Missing cells cannot be drawn from {self.family!r} ({error}); leave out incomplete rows, or choose "
                "another family."
            ) from None

    def flag(self, wrong: BoolArray, *, fill: bool = False) -> None:
        """Take these cells, shape (n, m), for wrong; ``fill`` them by others of their columns."""
        self.holes = self.missing | wrong
        if fill:
            m = wrong.shape[1]
            own = np.where(wrong, np.nan, self.copies[-1][:, :m])
            filled = initial_values(own, self.family.domain, [""] * m, self.order, self.seed)
            self.copies = self.latest = np.concatenate([filled, self.copies[-1][:, m:]], axis=1)[None]

    def _restored(self, X: Array) -> Array:
        """With the cells that are not holes as they were observed."""
        there = np.ones(X.shape, dtype=bool)
        there[:, : self.holes.shape[1]] = ~self.holes
        return np.where(there, self.observed, X)

    @property
    def one(self) -> Array:
        """One completion, shape (n, m): the last; where they are not drawn, of every row another one."""
        if not self.is_exact:
            return np.asarray(self.copies[-1])
        taken = np.empty(len(self.copies[0]), dtype=np.intp)
        taken[self.order.rows] = np.arange(taken.size) % len(self.copies)
        return np.asarray(self.copies[taken, np.arange(taken.size)])


def fit_filled(
    prepared: Prepared,
    holed: tuple[BoolArray, DrawingOrder],
    settings: Settings,
    once: Callable[[Prepared], _F],
    again: Callable[[Loss, _F], Parameters],
    settled: float = 1e-8,
) -> _F:
    """A fit of rows with holes.

    Parameters
    ----------
    prepared : rows with something in every hole
    holed : boolean array of shape (n, m), and the order of draws into these holes
    settings : Settings
    once : a fit of prepared rows, from the weights of rows on
    again : parameters of a loss, for the graph of a fit
    settled : relative change of the parameters to end with, where nothing is drawn
    """
    X = prepared.rows.take(np.arange(prepared.rows.n_rows))
    plain, levels = prepared, settings.cells and settings.scale == "median"
    prepared = _levelled(plain, _LEVEL) if levels else plain
    family = prepared.preparation.scaled_family
    filler = Filler(family, X, *holed, settings.seed, settings.memory)
    suspects = Suspects.of(family, filler.observed, filler.missing) if settings.cells else None
    if suspects is not None:
        filler.flag(suspects.flagged, fill=True)
        filler.is_exact = False  # which cells are wrong is drawn in any case
    most, enough = (_EXACT_MOST, settled) if filler.is_exact else (_MOST, _SETTLED)
    past: list[Array] = []
    fit, change = None, np.inf
    with stage("filling in cells"):
        for number in range(most):
            now = _with_copies(prepared, filler, suspects, number, change)
            if fit is None or number in _WHOLE:
                fit = once(now)
                loss, count, past = fit.loss, len(filler.copies), []
            else:
                count += len(filler.latest)
                loss = _with_latest(loss, now, filler, fit, 1.0 if filler.is_exact else len(filler.latest) / count)
            parameters = again(loss, fit)
            past.append(np.concatenate([np.ravel(part) for part in parameters]))
            change = _change(past, 1 if filler.is_exact else 4)
            announce("filling in cells", number, filler.fewest)
            if number >= filler.fewest and change <= enough:
                break
            drawn_by = proper(family, loss, parameters)
            if suspects is not None:
                suspects = suspects.updated(filler.one, drawn_by, fit.weights.gamma_weights > 0)
                filler.flag(suspects.drawn(np.random.default_rng([settings.seed, 0, number]), filler.order))
            filler.move(drawn_by)
    if suspects is not None and levels:
        prepared = _levelled(plain, 1 - (1 - _LEVEL) * min(suspects.share / _MANY_WRONG, 1.0))
    last = _with_copies(prepared, filler, suspects, number, change)
    assert last.filling is not None
    return once(replace(last, filling=replace(last.filling, converged=change <= enough, is_last=True)))


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
    filler: Filler,
    suspects: Suspects | None,
    rounds: int,
    change: float,
) -> Prepared:
    table = filler.missing, filler.holes, filler.copies, filler.observed, filler.order, filler.linked
    filling = FilledCells(*table, suspects, rounds, change)
    rows = ArrayRows(filler.one, prepared.rows.names).counted(prepared.rows.frequency)
    return replace(prepared, rows=rows, filling=filling)


def _change(past: list[Array], back: int) -> float:
    """How far parameters have moved, in so many rounds, relative to their size."""
    if len(past) <= back:
        return np.inf
    now, before = past[-1], past[-1 - back]
    return float(np.linalg.norm(now - before) / max(float(np.linalg.norm(now)), np.finfo(float).tiny))
