"""Which rows do not fit the model, how certain that is, and which variables make them stand out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from robscore._tools.memory import rows_within
from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import AnyArray, AnyData, Array, BoolArray, IntArray
from robscore.certainty.rows_left_out import What, rows_left_out
from robscore.certainty.unusual_values import Called, UsualValues, in_numbers, values_of
from robscore.families.family import Family
from robscore.fitting.fit_result import Fit
from robscore.rows.row_source import Rows, some_of
from robscore.rows.tables import Kind, as_table
from robscore.weighting.column_scaling import ColumnScaling, canonical_order
from robscore.weighting.expected_rows import Simulator
from robscore.weighting.proper_parameters import proper
from robscore.weighting.reweighting import rows_by_frequency
from robscore.weighting.row_limits import Reason
from robscore.weighting.surprise import Surprise
from robscore.weighting.tails import agreeing, compare, largest_usual_surprise

_VALUES = 41  # quantiles of a column that an entry is compared with
_MOST_NAMED = 3  # variables of a row
_SHARE_TO_NAME = 0.25  # of what the variable explains that explains most
_MOST_TYPICAL = 100_000  # rows that quantiles of columns are taken from: it guards memory
_PIECE_BYTES = 6e6  # of elements at a time: it guards memory
_HALF = 0.5  # a full row weight is 1
_LISTED = 20  # rows whose variables are named even if they are not flagged
_MOST_START = 2000  # rows that chains start from


@dataclass(frozen=True)
class RowReport:
    """How surprising every row is under a fit.

    Attributes
    ----------
    score : array of shape (n,)
        -log p up to a constant; infinite for rows that overflow.
    p_value : array of shape (n,)
        Share of rows simulated from the fit that are at least as surprising; NaN where the family cannot be sampled.
    flagged : boolean array of shape (n,)
    order : integer array of shape (n,)
        Rows from the most to the least surprising.
    """

    score: Array
    p_value: Array
    flagged: BoolArray
    order: IntArray


@dataclass(frozen=True)
class Usual:
    """What rows that fit the model look like.

    Attributes
    ----------
    judged_by : how surprising rows are under the model
    simulated : array of shape (N,), or None
        Surprise of simulated rows, in order; None where the family cannot be sampled.
    limit : float
        A surprise above it stands out from the data's.
    quantiles : array of shape (q, m)
        Usual values of every column, from the rows that do not stand out.
    """

    judged_by: Surprise
    simulated: Array | None
    limit: float
    quantiles: Array


def suspicious_rows(
    fit: Fit,
    rows: Rows,
    numbers: IntArray,
    *,
    level: float,
    given: Rows | None = None,
    labels: AnyArray | None = None,
    called: Called = in_numbers,
) -> AnyData:
    """The table of ``suspicious_rows`` of the estimators: rows, as the fit scales them, with their numbers.

    ``given`` are the rows of other data as they were given, ``labels`` what rows are called, by their numbers.
    """
    family = fit.prepared.preparation.scaled_family
    usual, report, why = _examine(fit, rows, level)
    variables = np.full(rows.n_rows, "", dtype=object)
    if family.is_pairwise:
        which = rows_to_explain(report)
        values = values_of(fit, which) if given is None else given.take(which)
        named = conspicuous_variables(family, rows.take(which), usual)
        variables[which] = _described(UsualValues.of(fit, called), values, named)
    order = report.order
    by_label: dict[str, tuple[Kind, Any]] = {}
    if labels is not None:
        is_whole = np.issubdtype(labels.dtype, np.integer)
        by_label["label"] = (int, labels[numbers[order]]) if is_whole else (str, labels[numbers[order]].astype(str))
    columns: dict[str, tuple[Kind, Any]] = {
        "row": (int, numbers[order]),
        **by_label,
        "flagged": (bool, report.flagged[order]),
        "variables": (str, variables[order]),
        "why": (str, why[order]),
        "together": (str, _together(fit, rows)[order]),
        "p_value": (float, report.p_value[order]),
        "rank": (int, np.arange(1, order.size + 1)),
        "score": (float, report.score[order]),
    }
    return as_table(columns, fit.frame)


def _examine(fit: Fit, rows: Rows, level: float) -> tuple[Usual, RowReport, AnyArray]:
    """What is usual, how surprising rows are beside it, and why they are flagged."""
    usual = usual_rows(fit)
    report = report_rows(fit.prepared.preparation.scaled_family, rows, usual, level=level)
    if fit.weighed.found is None:
        return usual, report, np.full(rows.n_rows, "", dtype=object)
    return usual, *with_reasons(fit, rows, report)


def _together(fit: Fit, rows: Rows) -> AnyArray:
    """What the rows that the fit leaves out are, taken together; empty for all others, and for rows of other data."""
    words = np.full(rows.n_rows, "", dtype=object)
    if rows is fit.prepared.to_judge:
        left = rows_left_out(fit)
        words[left.rows] = f"group of {left.n_rows}" if left.what == What.GROUP else str(left.what)
    return words


def with_reasons(fit: Fit, rows: Rows, report: RowReport) -> tuple[RowReport, AnyArray]:
    """The report with flags that agree with the row weights, and the reasons why rows are flagged.

    A row that the fit leaves out is flagged, and one that counts less than half because of where it lies; one that
    counts in full is not.
    """
    found = fit.weighed.found
    assert found is not None
    if rows is fit.prepared.to_judge:
        reasons, phi = found.reasons, found.weights.phi
    else:
        overflow = overflow_of(fit.prepared.preparation.scaled_family, rows)
        weights, reasons = found.limits.weigh(rows, overflow, np.zeros(rows.n_rows, dtype=bool))
        phi = weights.phi
    assert phi is not None
    lies_wrong = (reasons != Reason.NONE) & (reasons != Reason.SURPRISE)
    flagged = (report.flagged & (phi < 1)) | (phi == 0) | (lies_wrong & (phi < _HALF))
    which = np.flatnonzero(flagged)
    why = np.full(rows.n_rows, "", dtype=object)
    in_cluster = int(np.count_nonzero(found.reasons == Reason.CLUSTER))
    why[which] = [
        words.replace("in a cluster", f"in a cluster of {in_cluster}")
        for words in found.limits.describe(rows.take(which), reasons[which])
    ]
    order = np.lexsort((-report.score, ~flagged))
    return replace(report, flagged=flagged, order=order), why


def usual_rows(fit: Fit) -> Usual:
    """The surprise and the values of the columns that are usual among the rows of a fit."""
    family, rows, weights = fit.prepared.preparation.scaled_family, fit.prepared.to_judge, fit.weights.gamma_weights
    parameters = proper(family, fit.loss, fit.unshrunk)
    counted = np.flatnonzero(weights)
    start = rows.take(evenly_spread(counted, _MOST_START, some_of(rows.frequency, counted)))
    _, order = canonical_order(ColumnScaling.of(family, start)(start))
    drawn = Simulator(family, start[order]).draw(parameters)
    judged_by = Surprise.of(family, parameters, drawn)
    n, frequency, rule = rows.n_rows, rows.frequency, fit.settings.row_rule
    repeated = np.arange(n) if frequency is None else rows_by_frequency(frequency, fit.settings.seed, rule.most_rows)
    surprise = judged_by.of_all(rows, overflow_of(family, rows))[repeated]
    if drawn is None:
        simulated, share = None, compare(surprise, None, rule).share
    else:
        ordered = np.sort(surprise)
        simulated = np.sort(judged_by(drawn))
        share = compare(ordered, simulated, rule).share
        simulated = agreeing(simulated, simulated, ordered, share, rule)
    typical = repeated[np.flatnonzero(surprise <= np.quantile(surprise, 1 - share, method="lower"))]
    values = rows.take(evenly_spread(typical, _MOST_TYPICAL))
    quantiles = np.asarray(np.quantile(values, np.linspace(0, 1, _VALUES), axis=0))
    return Usual(judged_by, simulated, largest_usual_surprise(surprise), quantiles)


def overflow_of(family: Family, rows: Rows) -> BoolArray:
    """Rows whose elements overflow, shape (n,)."""
    length = rows_within(_PIECE_BYTES, family.numbers_a_row(rows.n_columns))
    found: BoolArray = rows.gather(partial(_overflow, family), length=length)
    return found


def _overflow(family: Family, rows: Array) -> BoolArray:
    return family.elements(rows).overflow


def report_rows(family: Family, rows: Rows, usual: Usual, *, level: float) -> RowReport:
    """Compare rows with what is usual.

    ``level`` is the share of good rows that may be flagged. Where the family cannot be sampled, rows are flagged that
    stand out by the median absolute deviation, whatever the level.
    """
    score = usual.judged_by.of_all(rows, overflow_of(family, rows))
    simulated = usual.simulated
    if simulated is None:
        p_value, flagged = np.full(score.size, np.nan), score > usual.limit
    else:
        as_surprising = simulated.size - np.searchsorted(simulated, score, side="left")
        p_value = (1 + as_surprising) / (1 + simulated.size)
        flagged = p_value <= _largest_flagged(level, simulated.size)
    return RowReport(score, p_value, flagged, np.argsort(-score, kind="stable"))


def _largest_flagged(level: float, n_simulated: int) -> float:
    """The largest p-value that is flagged: below the level, as the simulated share has a standard error too."""
    return max(level - np.sqrt(level * (1 - level) / n_simulated), 1 / (1 + n_simulated))


def conspicuous_variables(family: Family, rows: Array, usual: Usual) -> list[list[tuple[int, bool]]]:
    """The columns that make rows, shape (n, m), stand out, and whether their values are too high, for every row.

    For every entry: how much less surprising the row would be with the best of the column's usual values in its place.
    """
    family, rows, parameters = family.at(rows, *usual.judged_by.parameters)
    gain, direction = np.zeros(rows.shape), np.zeros(rows.shape)
    for j in family.domain.free_columns(rows.shape[1]):
        with np.errstate(all="ignore"):
            log_density = family.conditional(rows, j, *parameters)
            now = np.nan_to_num(log_density(rows[:, j]), nan=-np.inf)
            for value in usual.quantiles[:, j]:
                moved = family.domain.replaced(rows, j, np.full(len(rows), value))
                inside = family.domain.contains(moved).all(axis=1)
                gained = np.where(inside, log_density(moved[:, j]) - now, -np.inf)
                better = gained > gain[:, j]
                gain[better, j] = gained[better]
                direction[better, j] = np.sign(rows[better, j] - value)
    return [_most_conspicuous(own, sign) for own, sign in zip(gain, direction, strict=True)]


def _most_conspicuous(gain: Array, direction: Array) -> list[tuple[int, bool]]:
    order = np.argsort(-gain, kind="stable")[:_MOST_NAMED]
    return [
        (int(j), bool(direction[j] > 0)) for j in order if gain[j] > 0 and gain[j] >= _SHARE_TO_NAME * gain[order[0]]
    ]


def _described(usual: UsualValues, values: Array, named: list[list[tuple[int, bool]]]) -> list[str]:
    """The values of rows, shape (n, m), that make them stand out; those that were missing cannot."""
    return [
        "; ".join(usual.describe(j, row[j], is_high=is_high) for j, is_high in columns if not np.isnan(row[j]))
        for row, columns in zip(values, named, strict=True)
    ]


def rows_to_explain(report: RowReport) -> IntArray:
    """The flagged rows, and the most surprising ones in any case."""
    first = report.order[:_LISTED]
    return np.union1d(first, np.flatnonzero(report.flagged))


class RowScores(NamedTuple):
    """Scores of rows, both of shape (n,).

    Attributes
    ----------
    log_density : log p up to a constant, minus infinity for rows that overflow
    margin : how far above the limit; below zero for rows that are flagged, and for them alone
    """

    log_density: Array
    margin: Array


def row_scores(fit: Fit, rows: Rows, *, level: float) -> RowScores:
    """Scores of rows, as the fit scales them, with the flags of ``suspicious_rows``.

    The margin is log p less its smallest value that is not flagged by its size. Rows that the fit leaves out for
    another reason (a cluster, one wrong column) lie just below zero, rows that count in full never below it.
    """
    usual, report, _ = _examine(fit, rows, level)
    limit = usual.limit
    if usual.simulated is not None:
        ordered = usual.simulated
        allowed = _largest_flagged(level, ordered.size)
        # p = (1 + #{simulated >= score}) / (1 + N) <= allowed; what is added guards against rounding.
        place = ordered.size - int(np.floor(allowed * (1 + ordered.size) - 1 + 1e-9))
        limit = float(ordered[min(max(place - 1, 0), ordered.size - 1)])
    margin = limit - report.score
    least = np.finfo(float).tiny
    margin = np.where(report.flagged, np.minimum(margin, -least), np.maximum(margin, 0.0))
    return RowScores(-report.score, margin)
