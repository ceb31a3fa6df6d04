"""What all figures share: axes, legends, colours, names that fit, and the meaning of common parameters.

Colour-blind readers can distinguish the colours (Okabe and Ito); line styles repeat them for print.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from robscore._tools.docstrings import with_common
from robscore._tools.messages import cut_names
from robscore._tools.optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILLION, GREEN, PURPLE, GREY, DARK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A8A8A", "#333333"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, "#E69F00", "#56B4E9", GREY)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))

# Parameters that several plots have, by the line that stands for them in their docstrings.
_COMMON_PARAMETERS = {
    "{graph}": """graph : RobustGraph, Graph or array of shape (m, m)
    A matrix is K, associations or an adjacency matrix.""",
    "{names}": """names : sequence of str, optional
    Names of the columns; by default those of the graph, or x0, x1, ...""",
    "{values}": """values : "interaction" or "association", optional
    What a matrix holds; needed only where that cannot be seen, as their signs are opposite.""",
    "{marked}": """marked : (str, boolean array of shape (m, m)) or (str, array, str), optional
    Pairs to highlight instead of signs: their name, which they are, and optionally the name of the others; such as
    ``("only here", ~other.adjacency, "in both graphs")``.""",
    "{edge_title}": """title : str, optional
    By default it states the number of edges.""",
    "{any_fit}": "model : fitted RobustGraph or RobustScoreMatching",
    "{fitted_graph}": "model : fitted RobustGraph",
    "{ax}": """ax : matplotlib axes, optional
    Where to draw; by default on a figure of its own.""",
    "{returns_axes}": """Returns
-------
matplotlib axes""",
}

documented = with_common(_COMMON_PARAMETERS)
"""Write the common parameters into the docstring of a plot."""


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes given, or new ones of a size in inches."""
    require("matplotlib")
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def legend(ax: Axes, **options: Any) -> None:
    """Draw a legend without a frame."""
    ax.legend(frameon=False, fontsize=9, **options)


def plain_text(text: str) -> str:
    """Escape dollars: matplotlib reads what stands between two of them as mathematics."""
    return text.replace("$", r"\$")


def short_names(names: Sequence[str], longest: int) -> list[str]:
    """Names as matplotlib shows them, cut to so many letters where they stay different."""
    return [plain_text(name) for name in cut_names(names, longest)]


def count_of_edges(count: int) -> str:
    """A number of edges with its noun."""
    return f"{count} edge{'' if count == 1 else 's'}"
