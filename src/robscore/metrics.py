"""How well a learnt graph agrees with a true one.

Positives are the pairs i < j with an edge in the truth. A path of solutions gives one ROC point an alpha; with (0, 0)
and (1, 1) added they are joined by straight lines.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robscore._typing import Array, BoolArray
from robscore.solvers.path import Path, joined_support
from robscore.solvers.problem import Rule


class RocCurve(NamedTuple):
    """False and true positive rates, both increasing from 0 to 1."""

    fpr: Array
    tpr: Array


def edge_vector(interaction: ArrayLike, rule: Rule = "symmetric") -> BoolArray:
    """Which of the m(m-1)/2 pairs i < j have an edge; interaction is K, or a boolean adjacency matrix.

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
    """ROC curve of a path of graphs.

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
    """Area under a ROC curve, by trapezoids.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.auc(rs.metrics.RocCurve(np.array([0.0, 1.0]), np.array([0.0, 1.0])))
    0.5
    """
    return float(np.sum(np.diff(curve.fpr) * (curve.tpr[1:] + curve.tpr[:-1]) / 2))


def f1_score(interaction: ArrayLike, truth: ArrayLike) -> float:
    """F1 of the edges: 2 TP / (2 TP + FP + FN); 1 when both graphs are empty.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.metrics.f1_score(np.ones((3, 3)), np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]]))
    0.5
    """
    found, true = edge_vector(interaction), edge_vector(truth)
    if found.shape != true.shape:
        raise ValueError(f"Graphs of different size: {np.shape(interaction)} and {np.shape(truth)}.")
    both = int(np.count_nonzero(found & true))
    total = int(np.count_nonzero(found)) + int(np.count_nonzero(true))
    return 2 * both / total if total else 1.0
