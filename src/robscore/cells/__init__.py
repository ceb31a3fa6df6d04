"""Cells that are missing or wrong: which they are, and draws of them given the rest of their row."""
