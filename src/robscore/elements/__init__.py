"""Rows turned into score-matching elements Gamma(x) and g(x), without ever holding Gamma of every row.

power.py      the power families: O(n m) numbers for n rows of m columns
gradients.py  families given by the gradients of their statistics: O(n m r) numbers
base.py       what both offer: inner products, weighted means, the averaged loss
"""

from robscore.elements.gradient_elements import NodeElements, SimplexElements, StatisticElements
from robscore.elements.power_elements import PowerElements
from robscore.elements.row_elements import PARTS, Elements, PairwiseElements, Part

__all__ = [
    "PARTS",
    "Elements",
    "NodeElements",
    "PairwiseElements",
    "Part",
    "PowerElements",
    "SimplexElements",
    "StatisticElements",
]
