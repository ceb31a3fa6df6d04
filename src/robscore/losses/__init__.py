"""The quadratic score-matching losses that averaged elements are."""

from robscore.losses.interaction_parts import Parts, both_ends, matrices
from robscore.losses.quadratic import FactoredLoss, QuadraticLoss, RestrictedLoss, StatisticLoss, entries_of

__all__ = [
    "FactoredLoss",
    "Parts",
    "QuadraticLoss",
    "RestrictedLoss",
    "StatisticLoss",
    "both_ends",
    "entries_of",
    "matrices",
]
