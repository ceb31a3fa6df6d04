"""Figures with matplotlib; needs ``pip install 'robscore[plot]'``."""

from robscore.plot.recovery import plot_recovery, shared_layout

__all__ = ["plot_recovery", "shared_layout"]
