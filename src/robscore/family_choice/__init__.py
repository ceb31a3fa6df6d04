"""Which family: those that a table admits, and which of them predicts held-out rows best."""

from robscore.family_choice.choose_family import compare_families

__all__ = ["compare_families"]
