"""Does the family fit? Stein residuals by column and by pair, one test of all, and what the family misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaincc, ndtr

from robscore._tools.errors import UsageError
from robscore._tools.remarks import About, Remark
from robscore._tools.typing import AnyData, Array, IntArray
from robscore._tools.words import Phrase, Setting, Words, clipped, first_few
from robscore.certainty.completions import counted_in_all, drawn_fits
from robscore.certainty.stein import OWN, Bench
from robscore.fitting.fit import Fit
from robscore.rows.tables import Kind, as_table

_MOST_ROWS, _MOST_NODES = 5000, 12  # of the check that cautions make
_MOST_COLUMNS = 150
_COMPLETIONS, _FEW_COMPLETIONS = 5, 2  # of rows with missing cells, for the check and for that of cautions
_ROWS_A_PARAMETER = 8
_LEVEL = 0.001  # of the caution
_NUMBERS_OF_PAIRS = 2e7


@dataclass(frozen=True)
class FitCheck:
    """What a check of a fit found; see :meth:`robscore.RobustGraph.check_fit`.

    Attributes
    ----------
    p_value : float
        Of the test that the family is right, for all columns at once.
    level : float
    columns : table
        column, shape and dependence (the largest z-score of each kind), p_value, misses (in words, where it is clear).
    pairs : table
        source, target, z, p_value; largest first.
    words : str
        The verdict, and what is missed and where.
    """

    p_value: float
    level: float
    columns: AnyData
    pairs: AnyData
    words: str

    @property
    def fits(self) -> bool:
        """Whether the test does not reject the family."""
        return self.p_value >= self.level

    @property
    def verdict(self) -> str:
        """In two words."""
        return "fits" if self.fits else "does not fit"

    def __str__(self) -> str:
        return self.words


def z_scores(residuals: Array) -> Array:
    """Of the means of residuals, shape (n, q)."""
    n = len(residuals)
    deviation = residuals.std(axis=0, ddof=1)
    return np.asarray(np.sqrt(n) * residuals.mean(axis=0) / np.where(deviation > 0, deviation, np.inf))


def joint_p_value(residuals: Array) -> float:
    """That all means are zero: the sum of squared z-scores, a mixture of chi-squares by the residuals' correlations.

    Its upper tail by three moments (Hall, Buckley and Eagleson): (Q - c1) / sqrt(2 c2) as (chi2_v - v) / sqrt(2 v) with
    v = c2^3 / c3^2 and c_k = tr R^k.
    """
    kept = residuals[:, residuals.std(axis=0) > 0]
    if not kept.size:
        return 1.0
    z = z_scores(kept)
    R = np.atleast_2d(np.corrcoef(kept.T))
    square = R @ R
    c1, c2, c3 = float(np.trace(R)), float(np.trace(square)), float(np.sum(square * R))
    v = c2**3 / c3**2
    x = v + (float(z @ z) - c1) * np.sqrt(v / c2)
    p_value = float(gammaincc(v / 2, max(x, 0.0) / 2))
    return p_value if np.isfinite(p_value) else 1.0  # numbers beyond all bounds say nothing


def rows_to_check(fits: list[Fit], most: int) -> IntArray:
    """Rows that count in every one of some fits, all or some that are spread over the data."""
    counted = counted_in_all(fits)
    if counted.size > most:
        counted = counted[np.linspace(0, counted.size - 1, most).astype(np.intp)]
    return counted


def _enough(fit: Fit, n_rows: int) -> bool:
    return n_rows >= _needed(fit)


def _needed(fit: Fit) -> int:
    return _ROWS_A_PARAMETER * (len(fit.names) + 2 + fit.n_given)


def check_fit(fit: Fit, *, level: float) -> FitCheck:
    """The check of :meth:`robscore.RobustGraph.check_fit`."""
    m, names = len(fit.names), fit.names
    completed = drawn_fits(fit, _COMPLETIONS)
    rows = rows_to_check(completed, max(_MOST_ROWS, 20 * m))
    if not _enough(fit, rows.size):
        raise UsageError(
            f"There are {rows.size} rows that count for {m} columns; checking a fit without a penalty takes at least "
            f"{_needed(fit)}."
        )
    benches = [bench for one in completed if (bench := Bench.of(one, rows)) is not None]
    if not benches:
        raise UsageError(
            f"{fit.prepared.preparation.family!r} cannot be checked: that needs a power family on [0, inf) or the "
            "real line, without moderators; choose one with ",
            Setting("family"),
            ".",
        )
    some = max(500, int(_NUMBERS_OF_PAIRS / m**2))
    by_column, by_pair = [], np.zeros((min(some, benches[0].weight.phi.size), m, m))
    for j in range(m):
        try:
            by_column.append(_mean_of([bench.of_column(j) for bench in benches]))
            by_pair[:, j] = _mean_of([bench.at(j).of_pairs()[: len(by_pair)] for bench in benches])
        except np.linalg.LinAlgError:
            raise UsageError(
                f"Without a penalty the rows do not determine how column {names[j]!r} depends on the others; drop "
                "columns that others determine."
            ) from None
    p_value = joint_p_value(np.concatenate(by_column, axis=1))
    z = np.stack([z_scores(residuals) for residuals in by_column])
    p_columns = np.array([joint_p_value(residuals) for residuals in by_column])
    pairs = _pairs(by_pair, names, fit.frame)
    misses = [_misses(*one) for one in zip(z, p_columns * m, [level] * m, strict=True)]
    columns: dict[str, tuple[Kind, Any]] = {
        "column": (str, names),
        "shape": (float, _largest(z[:, : len(OWN)])),
        "dependence": (float, _largest(z[:, len(OWN) :])),
        "p_value": (float, p_columns),
        "misses": (str, misses),
    }
    words = _describe(fit, p_value, level, names, misses, p_columns)
    return FitCheck(p_value, level, as_table(columns, fit.frame), pairs, words)


def _mean_of(residuals: list[Array]) -> Array:
    """Of every row over its completions: what is expected of a residual given the cells that were observed."""
    return residuals[0] if len(residuals) == 1 else np.mean(residuals, axis=0)


def _largest(z: Array) -> Array:
    """The largest in size of every row, with its sign."""
    return z[np.arange(len(z)), np.argmax(np.abs(z), axis=1)]


def _pairs(residuals: Array, names: Sequence[str], frame: str | None) -> AnyData:
    """z-scores of pairs: what the columns have in common beyond the model, both ways together."""
    m = len(names)
    i, j = np.triu_indices(m, k=1)
    z = z_scores(residuals[:, i, j] + residuals[:, j, i])
    order = np.argsort(-np.abs(z), kind="stable")
    columns: dict[str, tuple[Kind, Any]] = {
        "source": (str, [names[k] for k in i[order]]),
        "target": (str, [names[k] for k in j[order]]),
        "z": (float, z[order]),
        "p_value": (float, 2 * ndtr(-np.abs(z[order]))),
    }
    return as_table(columns, frame)


def _misses(z: Array, p_value: float, level: float) -> str:
    """What the family misses of a column; nothing if that is not clear among all columns."""
    if p_value > level:
        return ""
    own, others = np.abs(z[: len(OWN)]).max(), np.abs(z[len(OWN) :]).max()
    return "its distribution given the others" if own >= others else "how it depends on the others"


def _describe(fit: Fit, p_value: float, level: float, names: Sequence[str], misses: list[str], p_columns: Array) -> str:
    family = repr(fit.prepared.preparation.family)
    if p_value >= level:
        return f"{family} fits, as far as the rows can tell (p = {p_value:.2g})."
    clear = [j for j in np.argsort(p_columns, kind="stable") if misses[j]]
    told = first_few([f"{clipped(names[j])} ({misses[j]})" for j in clear], "; ")
    where = f" It misses most: {told}." if told else " No single column stands out."
    return f"{family} does not fit (p = {p_value:.2g}).{where} rs.compare_families(X) says whether another fits better."


def remarks_on_fit(fit: Fit) -> list[Remark]:
    """The caution that the family hardly fits, at a level of 0.1 %; none where that cannot be checked."""
    m = len(fit.names)
    if not fit.settings.family.is_pairwise or m > _MOST_COLUMNS or not fit.weights.is_tapered:
        return []
    completed = drawn_fits(fit, _FEW_COMPLETIONS)
    rows = rows_to_check(completed, max(_MOST_ROWS, 10 * m))
    if not _enough(fit, rows.size):
        return []
    benches = [bench for one in completed if (bench := Bench.of(one, rows)) is not None]
    if not benches:
        return []
    nodes = np.unique(np.linspace(0, m - 1, min(m, _MOST_NODES)).round().astype(int))
    try:
        by_column = [_mean_of([bench.of_column(int(j)) for bench in benches]) for j in nodes]
    except np.linalg.LinAlgError:  # nothing is determined without a penalty
        return []
    p_value = joint_p_value(np.concatenate(by_column, axis=1))
    if p_value >= _LEVEL:
        return []
    p_columns = [joint_p_value(residuals) for residuals in by_column]
    worst = [fit.names[int(nodes[k])] for k in np.argsort(p_columns, kind="stable")[:3] if p_columns[k] < _LEVEL / m]
    words = Words(
        "The model hardly fits the data",
        f" ({first_few([clipped(name) for name in worst])} most of all)" if worst else "",
        f": a test of its family has p < {_LEVEL:g}. Some edges may only reflect what it misses. ",
        Phrase(
            "check_fit() says what and where, rs.compare_families(X) whether another family does better.",
            "See whether another --family does better.",
        ),
    )
    return [Remark(words, UserWarning, About.MISFIT)]
