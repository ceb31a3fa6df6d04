"""Cells that are missing or wrong: which they are, and draws of them given the rest of their row."""

from robscore.cells.cell_rule import CellRule
from robscore.cells.common_faults import common_factors, stuck_cells, stuck_runs
from robscore.cells.conditionals import Conditionals, conditionals
from robscore.cells.draw_cells import DrawingOrder, completions, normal_given_the_rest, normal_points, redrawn
from robscore.cells.filled_streams import Drawing, row_seeds
from robscore.cells.wrong_cells import GoodCells, SuspectCells

__all__ = [
    "CellRule",
    "Conditionals",
    "Drawing",
    "DrawingOrder",
    "GoodCells",
    "SuspectCells",
    "common_factors",
    "completions",
    "conditionals",
    "normal_given_the_rest",
    "normal_points",
    "redrawn",
    "row_seeds",
    "stuck_cells",
    "stuck_runs",
]
