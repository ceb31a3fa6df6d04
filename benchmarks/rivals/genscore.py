"""genscore, classic score matching in R, where R has it: the same model, penalties and symmetry as robscore's."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.rivals.base import Rival, Task

SCRIPT = Path(__file__).with_suffix(".R")


class Genscore(Rival):
    """genscore's own path with warm starts, through Rscript; the seconds are R's, without its start and the files."""

    name = "genscore, classic (R)"
    tasks = ("path",)

    def absent(self) -> str | None:
        """Return whether R, or its package, is missing."""
        if shutil.which("Rscript") is None:
            return "R is not installed"
        asked = subprocess.run(["Rscript", "-e", "library(genscore)"], capture_output=True, check=False)
        return None if asked.returncode == 0 else "R has no genscore (install.packages('genscore') in R)"

    def run(self, task: Task) -> np.ndarray:
        """Return a matrix for each penalty."""
        return self.timed(task)[1]

    def timed(self, task: Task) -> tuple[float, np.ndarray]:
        """Return R's seconds, and the matrices."""
        m = task.data.shape[1]
        with tempfile.TemporaryDirectory() as folder:
            rows, result = Path(folder, "X.csv"), Path(folder, "K.csv")
            np.savetxt(rows, task.data, delimiter=",", fmt="%.17g")
            settings = (task.ratio, task.n_alphas, task.tol)
            command = ["Rscript", SCRIPT, rows, *settings, result]
            printed = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout
            return float(printed.split()[-1]), np.loadtxt(result, delimiter=",").reshape(-1, m, m)
