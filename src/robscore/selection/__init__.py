"""Rules that choose a penalty from a path."""

from collections.abc import Callable

from robscore.selection.candidates import Candidates, Choice, least
from robscore.selection.ebic import ebic
from robscore.selection.expected_f1 import expected_f1
from robscore.selection.resampling import cross_validation, stars


def _by_ebic(candidates: Candidates) -> Choice:
    elements = candidates.elements.subset(candidates.rows)
    criterion = ebic(
        candidates.loss,
        candidates.path,
        n_rows=candidates.n_rows,
        elements=elements,
        weights=candidates.weights.some(candidates.rows),
        gamma=candidates.ebic_gamma,
    )
    return Choice(criterion, least(criterion, candidates.path))


# For RobustGraph(select=...).
SELECTORS: dict[str, Callable[[Candidates], Choice]] = {
    "f1": expected_f1,
    "ebic": _by_ebic,
    "cv": cross_validation,
    "stars": stars,
}

# Their criteria, as labelled in figures.
LABELS = {"f1": "1 − expected F1", "ebic": "eBIC", "cv": "held-out loss", "stars": "instability"}

__all__ = ["LABELS", "SELECTORS", "Candidates", "Choice", "ebic"]
