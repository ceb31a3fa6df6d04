"""Minima of the loss: penalised (:mod:`robscore.solvers.path`) or not (:mod:`robscore.solvers.unpenalised`)."""

from robscore.solvers.path import Interactions, joined_interaction
from robscore.solvers.penalised_loss import PenalisedLoss
from robscore.solvers.penalties import L1, Penalty
from robscore.solvers.problem import build_problem
from robscore.solvers.unpenalised import SingularLossError, minimise, refit, solve_unpenalised

__all__ = [
    "L1",
    "Interactions",
    "PenalisedLoss",
    "Penalty",
    "SingularLossError",
    "build_problem",
    "joined_interaction",
    "minimise",
    "refit",
    "solve_unpenalised",
]
