"""The weights of the rows: those of block medians, and those of the rule that finds bad rows.

The rule is in :mod:`robscore.weighting.reweighting`, whose head names its five steps and the file of each.
"""

from robscore.weighting.block_weights import shared_products, weigh_rows
from robscore.weighting.central_rows import find_central_rows
from robscore.weighting.column_scaling import ColumnScaling
from robscore.weighting.expected_rows import Simulator, judged
from robscore.weighting.proper_parameters import proper
from robscore.weighting.row_rule import RowRule
from robscore.weighting.row_weights import RowWeights, WeightedRows
from robscore.weighting.surprise import Surprise
from robscore.weighting.tails import agreeing, compare, count_below, quantile
from robscore.weighting.time_blocks import TimeBlocks, autocorrelations

__all__ = [
    "ColumnScaling",
    "RowRule",
    "RowWeights",
    "Simulator",
    "Surprise",
    "TimeBlocks",
    "WeightedRows",
    "agreeing",
    "autocorrelations",
    "compare",
    "count_below",
    "find_central_rows",
    "judged",
    "proper",
    "quantile",
    "shared_products",
    "weigh_rows",
]
