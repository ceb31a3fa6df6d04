"""GGLasso's graphical lasso by ADMM on connected components, each penalty started at the solution before."""

import contextlib
import io

import numpy as np

from benchmarks.rivals.base import Rival, Task, correlation_path, not_installed


class GGLasso(Rival):
    """``gglasso.solver.single_admm_solver.block_SGL`` on the correlations."""

    name = "GGLasso, graphical lasso"
    tasks = ("path",)

    def absent(self) -> str | None:
        """Return whether gglasso is missing."""
        return not_installed("gglasso", "gglasso")

    def run(self, task: Task) -> np.ndarray:
        """Return a precision matrix for each penalty."""
        from gglasso.solver.single_admm_solver import block_SGL

        correlation, alphas = correlation_path(task)
        last = dict.fromkeys(("Omega", "Theta"), np.eye(len(correlation)))
        solutions = []
        with contextlib.redirect_stdout(io.StringIO()):  # it prints its progress
            for alpha in alphas:
                last = block_SGL(correlation, alpha, last["Omega"], last["Theta"])
                solutions.append(last["Theta"])
        return np.array(solutions)
