"""Which family: what a table can be of, and which of the families that are left predicts rows best."""

from robscore.family_choice.comparison import compare_families

__all__ = ["compare_families"]
