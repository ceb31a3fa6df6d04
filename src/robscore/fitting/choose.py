"""Fifth stage: the penalty, by a rule, by a number of edges, or as given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robscore._tools.randomness import as_generator
from robscore._tools.remarks import About, Remark
from robscore._tools.typing import Array, IntArray
from robscore._tools.words import Setting, Words
from robscore.elements import PairwiseElements
from robscore.fitting.settings import GraphSettings
from robscore.fitting.solve import solve
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.base import some_of
from robscore.selection import SELECTORS, Candidates
from robscore.selection.n_edges import find_n_edges
from robscore.solvers.path import Path
from robscore.weighting.block_weights import weigh_rows


@dataclass(frozen=True)
class Chosen:
    """A path with the penalty that was chosen.

    Attributes
    ----------
    path : Path
    position : of the chosen penalty on it
    words : how it was chosen
    criteria : what every rule looked at, one value per penalty
    choices : the position that every rule would choose
    remarks : what there is to warn about
    """

    path: Path
    position: int
    words: str
    criteria: dict[str, Array]
    choices: dict[str, int]
    remarks: list[Remark]


def choose(
    loss: QuadraticLoss, path: Path, elements: PairwiseElements, weighed: Weighed, settings: GraphSettings
) -> Chosen:
    """The position of the penalty on the path, which a number of edges may add a penalty to."""
    if settings.alpha is not None:
        return Chosen(path, 0, "as given", {}, {}, [])
    if settings.n_edges is not None:
        path, position, remarks = find_n_edges(path, settings.n_edges, lambda alphas: solve(loss, settings, alphas))
        return Chosen(path, position, f"for {settings.n_edges} edges", {}, {}, remarks)
    return _by_rules(loss, path, elements, weighed, settings)


def _by_rules(
    loss: QuadraticLoss, path: Path, elements: PairwiseElements, weighed: Weighed, settings: GraphSettings
) -> Chosen:
    """By the rule that decides, with all criteria kept."""

    def fit_some(some: IntArray, seed: int) -> tuple[QuadraticLoss, Path]:
        part = elements.subset(some)
        if weighed.weights.is_tapered:
            weights = weighed.weights.some(some)
        else:
            weights, _ = weigh_rows(
                part,
                max(1, round(weighed.n_blocks * some.size / elements.n_rows)),
                n_partitions=settings.n_partitions,
                shuffle=settings.shuffle,
                random_state=seed,
                frequency=some_of(weighed.weights.frequency, some),
            )
        of_some = weights.loss(part)
        assert isinstance(of_some, QuadraticLoss)
        return of_some, solve(of_some, settings, path.alphas)

    candidates = Candidates(
        loss=loss,
        path=path,
        elements=elements,
        weights=weighed.weights,
        penalty_weights=settings.pair_weights(loss.n_columns),
        ebic_gamma=settings.ebic_gamma,
        fit_some=fit_some,
        shuffle=settings.shuffle or settings.n_partitions > 1,
        rng=as_generator(settings.random_state),
        n_jobs=settings.n_jobs,
    )
    found = {name: SELECTORS[name](candidates) for name in settings.rules}
    rule = settings.rules[0]
    position = found[rule].position
    words = f"chosen by {rule} as number {position + 1} of {path.alphas.size}"
    if not path.n_edges[position]:
        words += ", the empty graph"
    return Chosen(
        path,
        position,
        words,
        {name: choice.criterion for name, choice in found.items()},
        {name: choice.position for name, choice in found.items()},
        _remarks_on_end(path, position, found[rule].criterion, rule, settings),
    )


def _remarks_on_end(path: Path, position: int, criterion: Array, rule: str, settings: GraphSettings) -> list[Remark]:
    """What to say where the smallest penalty was chosen, though the path could go on."""
    m, end = path.interactions.n_columns, path.alphas.size - 1
    at_end = 0 < end == position and path.n_edges[end] < m * (m - 1) // 2
    if not at_end or criterion[end] == criterion[end - 1]:
        return []
    ended = path.n_edges[end] >= settings.most_edges(m)
    remedy = ("raise ", Setting("max_edges")) if ended else ("lower ", Setting("alpha_min_ratio"))
    words = Words(
        Setting("select", rule),
        f" chose the smallest penalty of the path (alpha = {path.alphas[end]:.3g}); the best may lie beyond it: ",
        *remedy,
        ".",
    )
    return [Remark(words, UserWarning, About.END_OF_PATH)]


def rounding(
    loss: QuadraticLoss, elements: PairwiseElements, weighed: Weighed, chosen: Chosen, settings: GraphSettings
) -> float:
    """What single precision costs: the largest error of Gamma z at the chosen graph, over alpha_max."""
    path = chosen.path
    if settings.storage != "float32" or not path.alpha_max:
        return 0.0
    parameters = np.asarray(path.interactions[chosen.position]), path.locations[chosen.position]
    exact = elements.gamma_times(weighed.weights.gamma_weights, *parameters)
    return float(np.abs(loss.gamma_times(*parameters) - exact).max() / path.alpha_max)
