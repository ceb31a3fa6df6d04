"""Where the texts of a figure are: those that leave it, and those that lie over each other."""

import numpy as np
from matplotlib.text import Text


def texts_of(figure):
    """Texts that are drawn, with their boxes in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    unseen = {id(text) for axes in figure.axes for text in _unseen(axes)}
    found = []
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_visible() and id(text) not in unseen:
            box = text.get_window_extent(renderer)
            if np.isfinite(box.extents).all() and box.width > 0:
                found.append((text.get_text(), box))
    return found


def _unseen(axes):
    """Texts of ticks beyond the limits, of ticks that are no longer used, and of axes that are off."""
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        slack = 1e-9 * (high - low)
        for ticks, used in ((axis.majorTicks, axis.get_majorticklocs()), (axis.minorTicks, axis.get_minorticklocs())):
            for k, tick in enumerate(ticks):
                inside = k < len(used) and low - slack <= tick.get_loc() <= high + slack
                if not (axes.axison and inside):
                    yield from (tick.label1, tick.label2)
        if not axes.axison:
            yield from (axis.label, axis.offsetText)


def outside(figure, slack=1.0):
    """Texts that leave the figure by more than some pixels."""
    wide, high = figure.canvas.get_width_height()
    return [
        text
        for text, box in texts_of(figure)
        if box.x0 < -slack or box.y0 < -slack or box.x1 > wide + slack or box.y1 > high + slack
    ]


def overlapping(figure):
    """Pairs of texts of which boxes, a little smaller than they are, share some area."""
    found, boxes = [], [(text, box.shrunk(0.96, 0.75)) for text, box in texts_of(figure)]
    for k, (text, box) in enumerate(boxes):
        for other, its_box in boxes[:k]:
            if box.overlaps(its_box):
                found.append((other, text))
    return found
