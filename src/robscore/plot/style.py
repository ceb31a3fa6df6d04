"""Colours that colour-blind readers can distinguish (Okabe and Ito); line styles repeat them for print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robscore._tools.optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, VERMILLION, GREEN, PURPLE, GREY, DARK = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A8A8A", "#333333"
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, "#E69F00", "#56B4E9", GREY)
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or new ones of a size in inches."""
    require("matplotlib")
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def legend(ax: Axes, **options: Any) -> None:
    """A quiet legend."""
    ax.legend(frameon=False, fontsize=9, **options)
