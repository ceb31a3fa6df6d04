"""Families of distributions, each of which holds only its own mathematics; ``family.py`` says how to add one."""

from robscore.families import univariate
from robscore.families.copula import GaussianCopula
from robscore.families.custom_statistics import ExponentialFamily, Pairwise
from robscore.families.family import Family, Scaling, get_family, register, score_elements
from robscore.families.power import Gamma, Gaussian, LogLog, Power, SquareRoot, TruncatedGaussian
from robscore.families.simplex import Simplex

__all__ = [
    "ExponentialFamily",
    "Family",
    "Gamma",
    "Gaussian",
    "GaussianCopula",
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
