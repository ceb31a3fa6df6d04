"""Fifth stage: the penalty, by a rule, by a number of edges, or as given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.messages import About, Message, Remark, Setting
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, IntArray
from robscore.elements import PairwiseElements
from robscore.elements.observed_entries import ObservedElements
from robscore.fitting.completed_alone import ApartRows
from robscore.fitting.prepare import Prepared
from robscore.fitting.settings import GraphSettings
from robscore.fitting.solve import solve
from robscore.fitting.weigh import Weighed
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import some_of
from robscore.selection import SELECTORS, Candidates, Choice
from robscore.selection.candidates import last_position_with_same_graph
from robscore.selection.n_edges import find_n_edges
from robscore.selection.standard_errors import autocorrelation_time
from robscore.solvers.path import Path
from robscore.weighting.block_weights import weigh_rows

_BY_ERRORS = {"f1", "ebic"}  # rules that go by standard errors or a number of rows, which a series changes
_FEWEST_TO_SPARE = 5  # columns, of which one expects that some pair is not linked


@dataclass(frozen=True)
class Chosen:
    """A path with the penalty that was chosen.

    Attributes
    ----------
    path : Path
    position : of the chosen penalty on it
    words : how it was chosen
    criteria : the values that every rule compared, one per penalty
    choices : the position that every rule would choose
    remarks : what to warn about
    tau : as many rows as were counted as one, since they are a series; 1 where they are not
    """

    path: Path
    position: int
    words: str
    criteria: dict[str, Array]
    choices: dict[str, int]
    remarks: list[Remark]
    tau: float = 1.0

    def describe(self) -> list[str]:
        """The penalty and the number of edges, in a line."""
        alpha, n_edges = self.path.alphas[self.position], self.path.n_edges[self.position]
        return [f"alpha = {alpha:.4g} {self.words}: {n_edges} edges"]


def choose(
    prepared: Prepared,
    loss: QuadraticLoss,
    path: Path,
    elements: PairwiseElements,
    weighed: Weighed,
    settings: GraphSettings,
    certainty: Array | None = None,
    observed: ObservedElements | None = None,
    apart: ApartRows | None = None,
) -> Chosen:
    """The position of the penalty on the path, which a number of edges may add a penalty to.

    Where cells were filled in, ``certainty`` says how far pairs stand out, and ``observed`` are the elements of what
    was observed; where they are known to an interval, ``apart`` completes some rows without the others.
    """
    if settings.alpha is not None:
        return Chosen(path, 0, "as given", {}, {}, [])
    if settings.n_edges is not None:
        path, position, remarks = find_n_edges(path, settings.n_edges, lambda alphas: solve(loss, settings, alphas))
        return Chosen(path, position, f"for {settings.n_edges} edges", {}, {}, remarks)
    return _by_rules(loss, path, elements, weighed, settings, certainty, observed, apart)


def _by_rules(
    loss: QuadraticLoss,
    path: Path,
    elements: PairwiseElements,
    weighed: Weighed,
    settings: GraphSettings,
    certainty: Array | None,
    observed: ObservedElements | None,
    apart: ApartRows | None,
) -> Chosen:
    """By the rule that decides, with all criteria kept."""

    def fit_some(some: IntArray, seed: int) -> tuple[QuadraticLoss, Path]:
        part = elements.subset(some) if apart is None else apart.elements(some)
        if weighed.weights.is_tapered:
            weights = weighed.weights.some(some)
        else:
            frequency = weighed.weights.frequency
            share = some.size / elements.n_rows if frequency is None else frequency[some].sum() / frequency.sum()
            weights, _ = weigh_rows(
                part,
                min(max(1, round(weighed.n_blocks * share)), some.size),
                n_partitions=settings.n_partitions,
                shuffle=settings.shuffle,
                random_state=seed,
                frequency=some_of(frequency, some),
            )
        of_some = weights.loss(part) if apart is None else apart.loss(part, weights)
        assert isinstance(of_some, QuadraticLoss)
        return of_some, solve(of_some, settings, path.alphas)

    candidates = Candidates(
        loss=loss,
        path=path,
        elements=elements,
        weights=weighed.weights,
        penalty_weights=loss.parts.weights(settings.pair_weights(loss.n_columns)),
        ebic_gamma=settings.ebic_gamma,
        fit_some=fit_some,
        shuffle=settings.shuffle or settings.n_partitions > 1,
        rng=as_generator(settings.random_state),
        seed=settings.seed,
        n_jobs=settings.n_jobs,
        certainty=certainty,
        observed=observed,
        apart=None if apart is None else apart.elements,
        tau=autocorrelation_time(loss, path, elements, weighed.weights) if _BY_ERRORS & {*settings.rules} else 1.0,
    )
    rule = settings.rules[0]
    found = {rule: SELECTORS[rule](candidates)}
    if isinstance(settings.alphas, int) and found[rule].between < 1.0:
        path, found[rule] = _between_penalties(path, found[rule], lambda alphas: solve(loss, settings, alphas))
        candidates = replace(candidates, path=path)
    found |= {name: SELECTORS[name](candidates) for name in settings.rules[1:]}
    position = found[rule].position
    words = f"chosen by {rule} as number {position + 1} of {path.alphas.size}"
    if not path.n_edges[position]:
        words += ", the empty graph"
    if candidates.tau > 1 and rule in _BY_ERRORS:
        words += f", counting {weighed.weights.n_rows:.0f} rows of a series as {candidates.n_rows:.0f}"
    return Chosen(
        path,
        position,
        words,
        {name: choice.criterion for name, choice in found.items()},
        {name: choice.position for name, choice in found.items()},
        _remarks_on_end(path, position, found[rule].criterion, rule, settings),
        candidates.tau,
    )


def _between_penalties(path: Path, choice: Choice, solve_at: Callable[[Array], Path]) -> tuple[Path, Choice]:
    """The path with the penalty put in at which the choice begins to hold; its graph is the choice, shrunk least."""
    pair = slice(choice.position - 1, choice.position + 1)
    shares = np.array([1 - choice.between, choice.between])
    alpha = float(np.exp(shares @ np.log(path.alphas[pair])))
    path, _ = path.merged(solve_at(np.array([alpha])))
    criterion = np.insert(choice.criterion, choice.position, shares @ choice.criterion[pair])
    return path, Choice(criterion, last_position_with_same_graph(path, choice.position))


def _remarks_on_end(path: Path, position: int, criterion: Array, rule: str, settings: GraphSettings) -> list[Remark]:
    """The caution that the smallest penalty was chosen, though the path could continue."""
    m, end = path.interactions.n_columns, path.alphas.size - 1
    pairs = m * (m - 1) // 2
    if m >= _FEWEST_TO_SPARE and path.n_edges[position] == pairs:
        return [_remark_on_all(pairs, rule)]
    at_end = 0 < end == position and path.n_edges[end] < pairs
    if not at_end or criterion[end] == criterion[end - 1]:
        return []
    ended = path.n_edges[end] >= settings.most_edges(m)
    remedy = ("raise ", Setting("max_edges")) if ended else ("lower ", Setting("alpha_min_ratio"))
    words = Message(
        Setting("select", rule),
        f" chose the smallest penalty of the path (alpha = {path.alphas[end]:.3g}); the best may lie beyond it: ",
        *remedy,
        ".",
    )
    return [Remark(words, UserWarning, About.END_OF_PATH)]


def _remark_on_all(pairs: int, rule: str) -> Remark:
    """The caution that no pair was left out, so that the graph singles nothing out."""
    words = Message(
        f"All {pairs} pairs are linked: ",
        Setting("select", rule),
        " found nothing to leave out. Links may be many and weak, or the rows too few to tell; trust those that are "
        "certain, or ask for fewer with ",
        Setting("n_edges"),
        ".",
    )
    return Remark(words, UserWarning, About.END_OF_PATH)


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
