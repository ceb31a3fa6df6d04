"""Rules that choose a penalty from a path."""

from collections.abc import Callable

from robscore.selection.choice import Candidates, Choice, least
from robscore.selection.crossval import cross_validation
from robscore.selection.ebic import ebic
from robscore.selection.stars import stars


def _by_ebic(candidates: Candidates) -> Choice:
    elements = candidates.elements.subset(candidates.rows)
    criterion = ebic(candidates.loss, candidates.path, n_rows=candidates.n_rows, elements=elements)
    return Choice(criterion, least(criterion, candidates.path))


# For RobustGraph(select=...).
SELECTORS: dict[str, Callable[[Candidates], Choice]] = {"ebic": _by_ebic, "cv": cross_validation, "stars": stars}

__all__ = ["SELECTORS", "Candidates", "Choice", "ebic"]
