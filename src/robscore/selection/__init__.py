"""Rules that choose a penalty from a path: each takes :class:`Candidates` and gives a :class:`Choice`."""

from collections.abc import Callable

from robscore.selection.candidates import Candidates, Choice
from robscore.selection.ebic import by_ebic, ebic
from robscore.selection.expected_f1 import expected_f1
from robscore.selection.resampling import cross_validation, stars

# For RobustGraph(select=...).
SELECTORS: dict[str, Callable[[Candidates], Choice]] = {
    "f1": expected_f1,
    "ebic": by_ebic,
    "cv": cross_validation,
    "stars": stars,
}

# Their criteria, as labelled in figures.
LABELS = {"f1": "1 − expected F1", "ebic": "eBIC", "cv": "held-out loss", "stars": "instability"}

__all__ = ["LABELS", "SELECTORS", "Candidates", "Choice", "ebic"]
