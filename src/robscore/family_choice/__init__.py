"""Which family: those that a table admits, and which of them predicts held-out rows best."""

from robscore.family_choice.choose_family import compare_families
from robscore.family_choice.common_loss import CommonWeight, Coordinates, DistanceWeight, gradients_of_node
from robscore.family_choice.common_score import CommonScore, completed, losses_of, observed_loss
from robscore.family_choice.data_profile import DataProfile, suspected_codes
from robscore.family_choice.held_out_loss import block_losses, fitted_loss, fitted_losses_without

__all__ = [
    "CommonScore",
    "CommonWeight",
    "Coordinates",
    "DataProfile",
    "DistanceWeight",
    "block_losses",
    "compare_families",
    "completed",
    "fitted_loss",
    "fitted_losses_without",
    "gradients_of_node",
    "losses_of",
    "observed_loss",
    "suspected_codes",
]
