"""The geometric median, blocks of rows, and the median of means."""

from robscore.medians.geometric_median import GeometricMedian, geometric_median
from robscore.medians.median_of_means import median_of_means
from robscore.rows.partition import make_blocks, n_blocks_for

__all__ = ["GeometricMedian", "geometric_median", "make_blocks", "median_of_means", "n_blocks_for"]
