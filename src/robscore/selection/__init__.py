"""Rules that choose a penalty from a path."""

from robscore.selection.ebic import ebic

# For RobustGraph(select=...). Called with (loss, path, n_rows=, elements=); one number an alpha, the least is best.
SELECTORS = {"ebic": ebic}

__all__ = ["SELECTORS", "ebic"]
