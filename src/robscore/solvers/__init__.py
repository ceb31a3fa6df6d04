"""Minima of the loss: penalised (:mod:`robscore.solvers.path`) or not (:mod:`robscore.solvers.unpenalised`)."""
