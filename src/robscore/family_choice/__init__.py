"""Which family: those that a table admits, and which of them predicts held-out rows best."""

from robscore.family_choice.choose_family import compare_families
from robscore.family_choice.common_loss import CommonWeight, Coordinates, DistanceWeight, gradients_of_node
from robscore.family_choice.common_score import CommonScore, completed, losses_of, observed_loss
from robscore.family_choice.data_profile import DataProfile, suspected_codes

__all__ = [
    "CommonScore",
    "CommonWeight",
    "Coordinates",
    "DataProfile",
    "DistanceWeight",
    "compare_families",
    "completed",
    "gradients_of_node",
    "losses_of",
    "observed_loss",
    "suspected_codes",
]
