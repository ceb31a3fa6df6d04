"""Figures with matplotlib, each on the axes given or on its own; needs ``pip install 'robscore[plot]'``."""

from robscore.plot.cells import plot_cells
from robscore.plot.centrality import plot_centrality
from robscore.plot.edges import plot_edges
from robscore.plot.fit import plot_fit
from robscore.plot.graph import plot_graph, plot_map
from robscore.plot.layout import map_layout, shared_layout
from robscore.plot.matrix import plot_matrix
from robscore.plot.path import plot_criterion, plot_path
from robscore.plot.recovery import plot_recovery
from robscore.plot.roc import plot_roc
from robscore.plot.rows import plot_rows, plot_weights

__all__ = [
    "map_layout",
    "plot_cells",
    "plot_centrality",
    "plot_criterion",
    "plot_edges",
    "plot_fit",
    "plot_graph",
    "plot_map",
    "plot_matrix",
    "plot_path",
    "plot_recovery",
    "plot_roc",
    "plot_rows",
    "plot_weights",
    "shared_layout",
]
