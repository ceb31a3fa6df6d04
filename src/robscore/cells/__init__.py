"""Cells that are missing or wrong: redrawn, given the rest of their row."""
