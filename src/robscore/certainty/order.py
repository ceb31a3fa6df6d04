"""What the order of the rows reveals: a time series, or rows that are sorted.

Neighbouring rows that resemble each other do not change the graph, but they carry less information than as many
independent rows. For columns that are first-order autoregressions with correlation rho, products of two columns have
rho^2, and the variance of a mean of products grows by (1 + rho^2) / (1 - rho^2); an interval of level 95 % then covers

    2 Phi(1.96 sqrt((1 - rho^2) / (1 + rho^2))) - 1:        82 % for rho = .6, 47 % for rho = .9
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from robscore._tools.remarks import About, Remark
from robscore._tools.typing import Array
from robscore._tools.words import Phrase, Words
from robscore.certainty.blocks_of_fit import find_time_blocks
from robscore.fitting.fit import Fit, GraphFit

_MOST_ROWS, _MOST_COLUMNS = 5000, 200
_FEWEST_ROWS = 50
_FALLS_BELOW = 0.9  # what intervals of 95 % cover, where it is worth a word
_FAR = 20  # rows apart: what is still alike there is sorted, or drifts
_LASTS = 0.2  # correlation there that is worth a word
_ERRORS = 4.0


def correlation_of_rows(X: Array, lag: int) -> float:
    """Mean over columns of the rank correlation of rows that are so far apart, X of shape (n, m)."""
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    squares = np.einsum("ij,ij->j", ranks, ranks)
    products = np.einsum("ij,ij->j", ranks[lag:], ranks[:-lag])
    return float(np.mean(products / np.where(squares > 0, squares, 1.0)))


def coverage(correlation: float) -> float:
    """What an interval of level 95 % covers where neighbouring rows have this correlation."""
    square = min(correlation**2, 1 - 1e-9)
    return float(2 * ndtr(1.96 * np.sqrt((1 - square) / (1 + square))) - 1)


def remarks_on_order(fit: Fit) -> list[Remark]:
    """The caution that neighbouring rows resemble each other; none for few rows."""
    rows = fit.prepared.rows
    n = min(rows.n_rows, _MOST_ROWS)
    if n < _FEWEST_ROWS:
        return []
    X = rows.take(np.arange(n))[:, : min(_MOST_COLUMNS, len(fit.names))]
    near, far = correlation_of_rows(X, 1), min(_FAR, n // 5)
    if near < _ERRORS / np.sqrt(n):
        return []
    if fit.n_given and find_time_blocks(fit, ~np.eye(len(fit.names), dtype=bool)).size == 1:
        return []  # given the covariates, such as the row before, nothing is left of it
    if correlation_of_rows(X, far) > max(_LASTS, _ERRORS / 2 / np.sqrt(n)):
        words = Words(
            f"The rows seem to be sorted or to drift: rows {far} apart still resemble each other (neighbours "
            f"correlate by {near:.2f}). Groups may be hidden in them, and intervals that treat rows as independent are "
            "too short: fit the groups separately, or remove the trend from the columns first."
        )
        return [Remark(words, UserWarning, About.SORTED)]
    if coverage(near) > _FALLS_BELOW:
        return []
    words = Words(
        f"Neighbouring rows resemble each other (correlation {near:.2f}), as in a time series, so they carry less "
        "information than they count for: 95 % intervals that treat them as independent would cover about "
        f"{coverage(near):.0%}. {_on_graph(fit)}",
        Phrase(
            "edge_intervals() allows for it; rs.lagged(X) gives each row the one before it as covariates.",
            "Keep every few rows only.",
        ),
    )
    return [Remark(words, UserWarning, About.SERIES)]


def _on_graph(fit: Fit) -> str:
    """What the series did to the graph."""
    if not isinstance(fit, GraphFit):
        return ""
    if fit.chosen.tau > 1:
        return f"So {fit.chosen.tau:.1f} of them were counted as one when the penalty was chosen. "
    return "The graph may have too many edges. "
