"""Data for examples: simulated Alpine rain, and a reader of ECA&D's precipitation."""

from robscore.datasets.alpine_rain import AlpineRain, alpine_ridge, crosses_ridge, simulated_alpine_rain
from robscore.datasets.ecad import MonthlyTotals, Station, read_ecad

__all__ = [
    "AlpineRain",
    "MonthlyTotals",
    "Station",
    "alpine_ridge",
    "crosses_ridge",
    "read_ecad",
    "simulated_alpine_rain",
]
