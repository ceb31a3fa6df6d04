"""How well rows fit, in the convention of scikit-learn's outlier detectors: the larger, the more ordinary."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._tools.typing import Array
from robscore.certainty.suspicious_rows import RowReport, report_rows, usual_rows, with_reasons
from robscore.fitting.fit import Fit
from robscore.rows.base import Rows


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
    usual = usual_rows(fit)
    report: RowReport = report_rows(fit.prepared.preparation.scaled_family, rows, usual, level=level)
    limit = usual.limit
    if usual.simulated is not None:
        ordered = usual.simulated
        allowed = max(level - np.sqrt(level * (1 - level) / ordered.size), 1 / (1 + ordered.size))
        # p = (1 + #{simulated >= score}) / (1 + N) <= allowed
        place = ordered.size - int(np.floor(allowed * (1 + ordered.size) - 1 + 1e-9))
        limit = float(ordered[min(max(place - 1, 0), ordered.size - 1)])
    if fit.weighed.found is not None:
        report, _ = with_reasons(fit, rows, report)
    margin = limit - report.score
    least = np.finfo(float).tiny
    margin = np.where(report.flagged, np.minimum(margin, -least), np.maximum(margin, 0.0))
    return RowScores(-report.score, margin)
