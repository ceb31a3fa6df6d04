"""Families of distributions: one small file each, holding only its mathematics."""

from robscore.families.base import Family, Scaling, get_family, register
from robscore.families.gamma import Gamma
from robscore.families.gaussian import Gaussian
from robscore.families.log_log import LogLog
from robscore.families.power import Power
from robscore.families.square_root import SquareRoot
from robscore.families.truncated_gaussian import TruncatedGaussian

__all__ = [
    "Family",
    "Gamma",
    "Gaussian",
    "LogLog",
    "Power",
    "Scaling",
    "SquareRoot",
    "TruncatedGaussian",
    "get_family",
    "register",
]
