"""The set that rows live in, and how far each coordinate is from the nearest boundary."""

from robscore.domains.domain import Both, Domain, Either, Nearest
from robscore.domains.domain_kinds import SUM_TOLERANCE, Box, Custom, Inequality, Intervals, NonNegative, Real, Simplex

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
