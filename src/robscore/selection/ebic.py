"""The extended Bayesian information criterion, calibrated for score matching.

    2 n loss(refit) + c ( |E| log n + 2 gamma log C(N, |E|) )

The score-matching loss is not a log-likelihood, so with c = 1 (the plain criterion) the answer depends on the
units of the data. Calibrated,

    c = tr(H^-1 J) / d      over the d edges, after the diagonal and the location have adapted to them

with H the Hessian of the refit and J the covariance of what rows add to its gradient; c is 1 for a likelihood. Bad rows
would ruin J, so rows whose gradient is outlying in the metric H^-1 are left out of it. Refits that the data hardly
determine (columns that nearly determine each other, too many edges for the rows) are infinitely bad: a graph must not
win by what no data decide.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from robscore._tools.deviations import stands_out
from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import Array, BoolArray
from robscore.elements import PairwiseElements
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import some_of
from robscore.selection.candidates import Candidates, Choice, least
from robscore.solvers import unpenalised as refitting
from robscore.solvers.path import Path, joined_support
from robscore.solvers.unpenalised import Refit, SingularLossError
from robscore.weighting.row_weights import RowWeights, WeightedRows, squared_total

_PATIENCE = 10  # graphs without improvement before the dense end is given up
_MOST_ROWS = 5_000  # guards time: rows that the calibration looks at; it is one number, a ratio of two traces
LEAST_RCOND = 1e-8  # reciprocal condition number of a refit's Hessian, scaled to a diagonal of one


def ebic(
    loss: QuadraticLoss,
    path: Path,
    *,
    n_rows: float,
    elements: PairwiseElements | None = None,
    weights: RowWeights | None = None,
    gamma: float = 0.5,
    refit: bool = True,
    calibrate: bool = True,
    patience: int | None = _PATIENCE,
) -> Array:
    """Compute the extended BIC of every solution on a path; the smallest is best.

    Parameters
    ----------
    loss : QuadraticLoss
        The loss that the path was solved for.
    path : Path
    n_rows : float
        Rows used; one with a part of its weight may be counted in part.
    elements : from :func:`robscore.score_elements`
        The rows' elements, needed to calibrate.
    weights : RowWeights, optional
        Those of these rows; equal by default.
    gamma : float, default 0.5
        0 is the plain BIC; larger values prefer sparser graphs when there are many columns.
    refit : bool, default True
        Take the loss of the unpenalised refit on each support, else that of the penalised solution.
    calibrate : bool, default True
        Otherwise c = 1, as in genscore.
    patience : int or None, default 10
        Stop after so many different graphs without improvement; the rest count as infinite. None tries all.

    Returns
    -------
    array of shape (number of alphas,)
        Infinite where the refit does not exist or was not tried.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> elements = rs.score_elements("gaussian", np.random.default_rng(0).normal(size=(100, 4)))
    >>> loss = elements.average()
    >>> values = rs.selection.ebic(loss, rs.solve_path(loss, 20), n_rows=100, elements=elements)
    >>> int(values.argmin()), values.shape
    (0, (20,))
    """
    if calibrate and elements is None:
        raise ArgumentError(
            "calibrate", calibrate, "needs elements= (from rs.score_elements); pass them, or calibrate=False."
        )
    if calibrate and not refit:
        raise ArgumentError(
            "calibrate", calibrate, "needs refit=True: the covariance of the gradients is taken at the refit."
        )
    if gamma < 0:
        raise ArgumentError("gamma", gamma, "must be at least 0.")
    rows = _weighted(elements, weights) if calibrate and elements is not None else None
    values = np.full(path.alphas.size, np.inf)
    seen: dict[bytes, float] = {}
    worse_graphs = 0
    for k in range(path.alphas.size):
        edges, locations = support(path, k)
        edges = loss.parts.distinct(edges)
        key = graph_key(edges, locations)
        if not refit:
            value = 2 * n_rows * loss.value(path.interactions[k], path.locations[k])
            values[k] = value + _size_penalty(path, edges, locations, n_rows, gamma)
            continue
        if key not in seen:
            value = _refitted(loss, path, edges, locations, n_rows, rows, gamma)
            improved = value < min(seen.values(), default=np.inf)
            worse_graphs = 0 if improved or not edges.any() else worse_graphs + 1
            seen[key] = value
        values[k] = seen[key]
        if patience is not None and worse_graphs >= patience:
            break
    return values


def by_ebic(candidates: Candidates) -> Choice:
    """Choose the least eBIC on a path."""
    criterion = ebic(
        candidates.loss,
        candidates.path,
        n_rows=candidates.n_rows,
        elements=candidates.elements.subset(candidates.rows),
        weights=candidates.weights.some(candidates.rows),
        gamma=candidates.ebic_gamma,
    )
    return Choice(criterion, least(criterion, candidates.path))


def graph_key(edges: BoolArray, locations: BoolArray) -> bytes:
    """Give the same bytes for the same support, to refit each once."""
    return np.packbits(np.append(edges.ravel(), locations)).tobytes()


def support(path: Path, k: int) -> tuple[BoolArray, BoolArray]:
    """Mark the edges and the locations of the k-th solution."""
    edges = joined_support(path.interactions[k], path.rule)
    if path.location_is_free or not path.fit_location:
        return edges, np.full(path.locations[k].shape, path.fit_location)
    return edges, path.locations[k] != 0


def _refitted(
    loss: QuadraticLoss,
    path: Path,
    edges: BoolArray,
    locations: BoolArray,
    n_rows: float,
    weighted: WeightedRows | None,
    gamma: float,
) -> float:
    """Compute the criterion of one support; infinite where the refit is singular."""
    try:
        solution = refitting.refit(loss, edges, locations, symmetric=path.rule == "symmetric", least_rcond=LEAST_RCOND)
    except SingularLossError:
        return np.inf
    factor = 1.0 if weighted is None else _calibration(solution, weighted)
    return 2 * n_rows * solution.loss + factor * _size_penalty(path, edges, locations, n_rows, gamma)


def _size_penalty(path: Path, edges: BoolArray, locations: BoolArray, n_rows: float, gamma: float) -> float:
    """Compute |E| log n + 2 gamma log C(N, |E|), both directions when nodes were fitted alone; the same for eta."""
    ordered, every = int(np.count_nonzero(edges)), len(edges) * (edges.shape[1] - 1)
    k, n_pairs = (ordered // 2, every // 2) if path.rule == "symmetric" else (ordered, every)
    total = k * np.log(n_rows) + 2 * gamma * _log_binomial(n_pairs, k)
    if path.fit_location and not path.location_is_free:
        k = int(np.count_nonzero(locations))
        total += k * np.log(n_rows) + 2 * gamma * _log_binomial(locations.size, k)
    return float(total)


def _weighted(elements: PairwiseElements, weights: RowWeights | None) -> WeightedRows:
    """Join the rows with their weights, or a sample of them."""
    if weights is None:
        equal = np.full(elements.n_rows, 1.0 / elements.n_rows)
        weights = RowWeights(equal, equal)
    if elements.n_rows > _MOST_ROWS:
        some = evenly_spread(np.arange(elements.n_rows), _MOST_ROWS)
        elements, weights = elements.subset(some), weights.some(some)
    return WeightedRows.of(elements, weights)


def _calibration(solution: Refit, weighted: WeightedRows) -> float:
    """Compute c over the edges of a graph and the rows whose gradient is not outlying; 1 where there is no edge."""
    if not solution.is_edge.any():
        return 1.0
    z = solution.interaction, solution.location
    gradients = weighted.gradients(z, solution.rows, solution.nodes, symmetric=solution.symmetric)
    counted = np.flatnonzero((weighted.gamma_weights > 0) & ~weighted.elements.overflow)
    frequency = some_of(weighted.frequency, counted)
    gradients = gradients[counted] if frequency is None else gradients[counted] / frequency[:, None]  # of one copy
    whitened = solution.factor.whiten(gradients)
    with np.errstate(divide="ignore"):
        log_norm = 0.5 * np.log(np.einsum("ij,ij->j", whitened, whitened))
    usual = np.flatnonzero(~stands_out(log_norm, frequency))
    whitened = whitened[:, usual]
    # Rows add up to a mean, so their squares are those of single rows over the number of rows, twice.
    n_rows = 1.0 / squared_total(weighted.gamma_weights[counted], frequency)
    if frequency is None:
        kept = usual.size / counted.size
        squares = np.sum((whitened - whitened.mean(axis=1, keepdims=True)) ** 2, axis=1)
    else:
        kept = frequency[usual].sum() / frequency.sum()
        mean = whitened @ frequency[usual] / frequency[usual].sum()
        squares = (whitened - mean[:, None]) ** 2 @ frequency[usual]
    return float(np.mean(squares[solution.is_edge])) * n_rows / kept


def _log_binomial(n: int, k: int) -> float:
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
