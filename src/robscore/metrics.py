"""How well a learnt graph agrees with a true one.

Positives are the pairs i < j with an edge in the truth. A path of solutions gives one ROC point per alpha; with (0, 0)
and (1, 1) added they are joined by straight lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robscore._tools.messages import Setting, UsageError
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, BoolArray, RandomState
from robscore.solvers.path import Path, joined_support
from robscore.solvers.penalised_loss import Rule


class RocCurve(NamedTuple):
    """False and true positive rates, both increasing from 0 to 1."""

    fpr: Array
    tpr: Array


def edge_vector(interaction: ArrayLike, rule: Rule = "symmetric") -> BoolArray:
    """Return which of the m(m-1)/2 pairs i < j have an edge; interaction is K, or a boolean adjacency matrix.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.edge_vector(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    array([ True, False, False])
    """
    matrix = np.asarray(interaction)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"A graph is a square matrix; got shape {matrix.shape}.")
    edges: BoolArray = joined_support(matrix, rule)[np.triu_indices(len(matrix), k=1)]
    return edges


def roc_curve(path: Path | ArrayLike, truth: ArrayLike) -> RocCurve:
    """Compute the ROC curve of a path of graphs.

    Parameters
    ----------
    path : Path, or array of shape (k, m, m)
    truth : array of shape (m, m)
        True K or adjacency matrix, with at least one edge and one pair without.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> truth = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> curve = rs.metrics.roc_curve([truth], truth)
    >>> rs.metrics.auc(curve)
    1.0
    """
    interactions, rule = (path.interactions, path.rule) if isinstance(path, Path) else (np.asarray(path), "symmetric")
    true = edge_vector(truth, "or")
    if not true.any() or true.all():
        raise ValueError("A ROC curve needs a true graph with at least one edge and one pair without an edge.")
    if np.shape(interactions)[1:] != np.shape(truth):
        raise ValueError(f"Graphs of different size: {np.shape(interactions)[1:]} and {np.shape(truth)}.")
    found = np.array([edge_vector(K, rule) for K in interactions])  # type: ignore[arg-type]
    fpr = np.concatenate([[0.0], found[:, ~true].mean(axis=1), [1.0]])
    tpr = np.concatenate([[0.0], found[:, true].mean(axis=1), [1.0]])
    order = np.lexsort((tpr, fpr))
    return RocCurve(fpr[order], tpr[order])


def auc(curve: RocCurve) -> float:
    """Compute the area under a ROC curve, by trapezoids.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.auc(rs.metrics.RocCurve(np.array([0.0, 1.0]), np.array([0.0, 1.0])))
    0.5
    """
    return float(np.sum(np.diff(curve.fpr) * (curve.tpr[1:] + curve.tpr[:-1]) / 2))


class AverageRoc(NamedTuple):
    """The vertical average of ROC curves with a pointwise bootstrap band; all arrays have the shape of ``fpr``."""

    fpr: Array
    tpr: Array
    lower: Array
    upper: Array


def on_grid(curve: RocCurve, fpr: ArrayLike) -> Array:
    """Return true positive rates of a curve at given false positive rates: the highest where the curve is vertical."""
    grid = np.asarray(fpr, dtype=float)
    last = np.append(np.diff(curve.fpr) > 0, True)
    result: Array = np.interp(grid, curve.fpr[last], curve.tpr[last])
    return result


def average_roc(
    curves: Sequence[RocCurve],
    *,
    n_points: int = 101,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> AverageRoc:
    """Average ROC curves at equal false positive rates, with a bootstrap band over the curves.

    Parameters
    ----------
    curves : sequence of RocCurve
    n_points : int, default 101
        Grid of false positive rates from 0 to 1.
    level : float, default 0.95
    n_bootstrap : int, default 1000
    random_state : int, Generator or None, default 0

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> chance = rs.metrics.RocCurve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    >>> average = rs.metrics.average_roc([chance, chance], n_points=3)
    >>> average.tpr, average.upper
    (array([0. , 0.5, 1. ]), array([0. , 0.5, 1. ]))
    """
    if not curves:
        raise ValueError("average_roc needs at least one curve.")
    fpr = np.linspace(0.0, 1.0, n_points)
    tpr = np.array([on_grid(curve, fpr) for curve in curves])
    lower, upper = bootstrap_interval(tpr, level=level, n_bootstrap=n_bootstrap, random_state=random_state)
    return AverageRoc(fpr, tpr.mean(axis=0), lower, upper)


def bootstrap_interval(
    values: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_bootstrap: int = 1000,
    random_state: RandomState = 0,
) -> tuple[Array, Array]:
    """Compute the percentile bootstrap interval of the mean over the first axis.

    Parameters
    ----------
    values : array of shape (repetitions, ...)
        For example one AUC per repetition.
    groups : array of shape (repetitions,), optional
        Labels of repetitions that belong together, for example by sharing a graph: then whole groups are drawn.
    level : float, default 0.95
    n_bootstrap : int, default 1000
    random_state : int, Generator or None, default 0

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> lower, upper = rs.metrics.bootstrap_interval(np.arange(100.0))
    >>> bool(lower < 49.5 < upper)
    True
    """
    sample = np.asarray(values, dtype=float)
    if sample.ndim == 0 or not len(sample) or not 0 < level < 1 or n_bootstrap < 1:
        raise UsageError(
            "values must hold at least one repetition, ",
            Setting("level", level),
            " lie between 0 and 1, and ",
            Setting("n_bootstrap", n_bootstrap),
            " be at least 1.",
        )
    rng = as_generator(random_state)
    labels = np.arange(len(sample)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    member = (labels == np.arange(labels.max() + 1)[:, None]).astype(float)  # groups by repetitions
    drawn = rng.multinomial(len(member), np.full(len(member), 1.0 / len(member)), size=n_bootstrap) @ member
    means = np.tensordot(drawn / drawn.sum(axis=1, keepdims=True), sample, axes=1)
    lower, upper = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return lower, upper


def _counts(interaction: ArrayLike, truth: ArrayLike) -> tuple[int, int, int, int]:
    """Count the pairs that are true positive, false positive, false negative, true negative."""
    found, true = edge_vector(interaction), edge_vector(truth)
    if found.shape != true.shape:
        raise ValueError(f"Graphs of different size: {np.shape(interaction)} and {np.shape(truth)}.")
    both, union = int(np.count_nonzero(found & true)), int(np.count_nonzero(found | true))
    n_found, n_true = int(np.count_nonzero(found)), int(np.count_nonzero(true))
    return both, n_found - both, n_true - both, found.size - union


def false_discovery_rate(interaction: ArrayLike, truth: ArrayLike) -> float:
    """Compute the share of the edges found that are false: FP / (TP + FP); 0 when none is found.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.false_discovery_rate(np.ones((3, 3)), np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])).__round__(3)
    0.333
    """
    both, false, _, _ = _counts(interaction, truth)
    return false / (both + false) if both + false else 0.0


def matthews(interaction: ArrayLike, truth: ArrayLike) -> float:
    """Compute the Matthews correlation coefficient of the edges; 0 where it is not defined.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.matthews(np.eye(3, k=1) + np.eye(3, k=-1), np.eye(3, k=1) + np.eye(3, k=-1))
    1.0
    """
    tp, fp, fn, tn = _counts(interaction, truth)
    product = float(tp + fp) * float(tp + fn) * float(tn + fp) * float(tn + fn)
    return (tp * tn - fp * fn) / product**0.5 if product else 0.0


def f1_score(interaction: ArrayLike, truth: ArrayLike) -> float:
    """Compute F1 of the edges: 2 TP / (2 TP + FP + FN); 1 when both graphs are empty.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.f1_score(np.ones((3, 3)), np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    0.5
    """
    both, false, missed, _ = _counts(interaction, truth)
    total = 2 * both + false + missed
    return 2 * both / total if total else 1.0
