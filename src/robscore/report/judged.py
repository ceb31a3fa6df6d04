"""How certain a fit is of its edges and of itself, as plain numbers for the record, as far as its rows allow."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from robscore._tools.words import Words
from robscore.certainty.stability import EdgeStability
from robscore.estimators import RobustGraph
from robscore.rows.tables import columns_of

LEVEL, FDR = 0.95, 0.1  # of the intervals, and of the edges that are called clear
_MOST_COLUMNS = 150  # for which all pairs are estimated without a penalty
_MOST_SPLIT = 60  # for which the graph is learnt again, from half of the rows
_MOST_CHECKED = 150
Speaker = Callable[[Any], str]


def certainty_of(model: RobustGraph, stability: EdgeStability | None, speaker: Speaker) -> dict[str, Any]:
    """Intervals and tests of the edges, and of other pairs that are clear; and how often edges recur, if given.

    ``pairs`` has (i, j, estimate without shrinkage, low, high, p, q); ``why_not`` is empty, or says why there are none.
    """
    position = {name: k for k, name in enumerate(model.graph_.names)}
    found: dict[str, Any] = {
        "level": LEVEL,
        "fdr": FDR,
        "n_tested": 0,
        "split": False,
        "pairs": [],
        "why_not": "",
        "stability": None if stability is None else _stability(stability),
    }
    m = len(position)
    is_full = model.fitted_.weights.effective_rows[0] >= 3 * (m + 1 + model.fitted_.n_given)
    if m > (_MOST_COLUMNS if is_full else _MOST_SPLIT):
        return found | {"why_not": f"{m} columns are too many to test every pair in a report"}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # remarks on bias are among the cautions
            table = columns_of(model.edge_intervals(level=LEVEL, fdr=FDR))
    except ValueError as error:
        return found | {"why_not": _said(error, speaker)}
    names = "association", "association_low", "association_high", "p_value", "q_value"
    kept = np.flatnonzero(table["in_graph"] | table["significant"])
    rows = [
        [*sorted((position[table["source"][k]], position[table["target"][k]])), *(_number(table[n][k]) for n in names)]
        for k in kept
    ]
    return found | {"n_tested": len(table["source"]), "split": not is_full, "pairs": rows}


def _stability(stability: EdgeStability) -> dict[str, Any]:
    i, j = np.nonzero(np.triu(stability.frequency, k=1))
    return {
        "n_halves": stability.n_done,
        "threshold": stability.threshold,
        "expected_false": float(stability.expected_false()),
        "pairs": [[int(a), int(b), float(stability.frequency[a, b])] for a, b in zip(i, j, strict=True)],
    }


def check_of(model: RobustGraph, speaker: Speaker) -> dict[str, Any]:
    """Whether the family fits, and which columns it misses; ``verdict`` is None where that cannot be checked."""
    m = len(model.graph_.names)
    if m > _MOST_CHECKED:
        return {"verdict": None, "p_value": None, "columns": [], "why_not": f"{m} columns are too many for a report"}
    try:
        found = model.check_fit()
    except ValueError as error:
        return {"verdict": None, "p_value": None, "columns": [], "why_not": _said(error, speaker)}
    table = columns_of(found.columns)
    columns = [
        [*(_number(table[name][k]) for name in ("shape", "dependence", "p_value")), str(table["misses"][k])]
        for k in range(m)
    ]
    return {"verdict": found.verdict, "p_value": _number(found.p_value), "columns": columns, "why_not": ""}


def predictability_of(model: RobustGraph) -> list[float] | None:
    """How well each column is predicted by its neighbours, from 0 to 1; None where that cannot be computed."""
    try:
        with np.errstate(all="ignore"):
            values = columns_of(model.predictability())["predictability"]
    except (ValueError, np.linalg.LinAlgError):
        return None
    return values.tolist() if np.isfinite(values).all() else None


def _number(value: Any) -> float | None:
    """To the last bit; None for what JSON has no number for."""
    return float(value) if math.isfinite(value) else None


def _said(error: Exception, speaker: Speaker) -> str:
    words = getattr(error, "words", None)
    return words.said(speaker) if isinstance(words, Words) else str(error)
