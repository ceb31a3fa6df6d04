"""Rows turned into score-matching elements Gamma(x) and g(x), without ever holding Gamma of every row.

row_elements.py         what every kind offers: inner products, weighted means, the averaged loss
power_elements.py       the power families: O(n m) numbers for n rows of m columns
gradient_elements.py    families given by the gradients of their statistics: O(n m r) numbers
streamed.py             rows that are not held: one piece after the other
inner_products.py       Gram matrices of block means, by the cheapest of three ways
averages_on_support.py  averages of the few entries that a graph needs, compiled
observed_entries.py     losses of rows with missing cells, by the cells that were observed
"""

from robscore.elements.gradient_elements import NodeElements, SimplexElements, StatisticElements
from robscore.elements.inner_products import block_gram, cheapest_way, row_products
from robscore.elements.observed_entries import ObservedEntries, Shares, counts_of
from robscore.elements.power_elements import PowerElements
from robscore.elements.row_elements import PARTS, Elements, LossWeights, PairwiseElements, Part
from robscore.elements.streamed import StreamedElements

__all__ = [
    "PARTS",
    "Elements",
    "LossWeights",
    "NodeElements",
    "ObservedEntries",
    "PairwiseElements",
    "Part",
    "PowerElements",
    "Shares",
    "SimplexElements",
    "StatisticElements",
    "StreamedElements",
    "block_gram",
    "cheapest_way",
    "counts_of",
    "row_products",
]
