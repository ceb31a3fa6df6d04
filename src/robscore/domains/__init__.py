"""The set that rows live in, and how far each coordinate is from the nearest boundary."""

from robscore.domains.base import Domain, Nearest
from robscore.domains.custom import Custom
from robscore.domains.inequality import Inequality
from robscore.domains.intervals import Box, Intervals, NonNegative, Real
from robscore.domains.joined import Both, Either
from robscore.domains.simplex import SUM_TOLERANCE, Simplex

__all__ = [
    "SUM_TOLERANCE",
    "Both",
    "Box",
    "Custom",
    "Domain",
    "Either",
    "Inequality",
    "Intervals",
    "Nearest",
    "NonNegative",
    "Real",
    "Simplex",
]
