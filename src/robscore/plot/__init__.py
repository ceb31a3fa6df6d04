"""Figures with matplotlib, each on the axes given or on its own; needs ``pip install 'robscore[plot]'``."""

from robscore.plot.graphs_and_maps import plot_graph, plot_map, plot_recovery
from robscore.plot.link_strengths import plot_centrality, plot_edges, plot_matrix
from robscore.plot.misfit import plot_cells, plot_fit, plot_rows, plot_weights
from robscore.plot.penalty_paths import plot_criterion, plot_path, plot_roc
from robscore.plot.positions import map_layout, shared_layout

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
