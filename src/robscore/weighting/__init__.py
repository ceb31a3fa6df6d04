"""The weights of the rows: those of block medians, and those of the rule that finds bad rows.

The rule is in :mod:`robscore.weighting.reweighting`, whose head names its five steps and the file of each.
"""
