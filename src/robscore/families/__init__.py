"""Families of distributions: one small file each, holding only its mathematics."""

from robscore.families import univariate
from robscore.families.base import Family, Scaling, get_family, register
from robscore.families.exponential import ExponentialFamily
from robscore.families.gamma import Gamma
from robscore.families.gaussian import Gaussian
from robscore.families.log_log import LogLog
from robscore.families.pairwise import Pairwise
from robscore.families.power import Power
from robscore.families.score_elements import score_elements
from robscore.families.simplex import Simplex
from robscore.families.square_root import SquareRoot
from robscore.families.truncated_gaussian import TruncatedGaussian

__all__ = [
    "ExponentialFamily",
    "Family",
    "Gamma",
    "Gaussian",
    "LogLog",
    "Pairwise",
    "Power",
    "Scaling",
    "Simplex",
    "SquareRoot",
    "TruncatedGaussian",
    "get_family",
    "register",
    "score_elements",
    "univariate",
]
