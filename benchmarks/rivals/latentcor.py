"""latentcor (PyPI), latent correlations of mixed columns by inverted bridge functions of Kendall's tau, and a glasso.

Its tables of interpolated functions need SciPy before 1.13 (latentcor 0.2.5, scipy 1.11.4, numpy 1.26.4 and matplotlib
3.8 work together), so it has an environment of its own: ROBSCORE_LATENTCOR_PYTHON names its interpreter.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.rivals.base import Rival, Task, lasso_by_ebic
from benchmarks.tools.measure import clocked

PROGRAM = """
import sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, latentcor
X = np.load(sys.argv[1])
start = time.process_time()
R = np.asarray(latentcor.latentcor(X, tps=list(latentcor.get_tps(X)))["R"])
seconds = time.process_time() - start
np.savez(sys.argv[2], R=R, seconds=seconds)
"""


class Latentcor(Rival):
    """Its latent correlations with kinds of columns found by itself; EBICglasso, since it chooses no graph."""

    name = "latentcor, EBICglasso"
    tasks = ("mixed",)

    def absent(self) -> str | None:
        """Return whether no interpreter with latentcor is known."""
        python = os.environ.get("ROBSCORE_LATENTCOR_PYTHON")
        if python is None:
            return "ROBSCORE_LATENTCOR_PYTHON does not name an interpreter with latentcor"
        asked = subprocess.run([python, "-c", "import latentcor"], capture_output=True, check=False)
        return None if asked.returncode == 0 else f"{python} has no latentcor (pip install latentcor)"

    def run(self, task: Task) -> np.ndarray:
        """Return three matrices."""
        return self.timed(task)[1]

    def timed(self, task: Task) -> tuple[float, np.ndarray]:
        """Return the seconds of both steps, and three matrices."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        python = os.environ.get("ROBSCORE_LATENTCOR_PYTHON", "python")
        with tempfile.TemporaryDirectory() as folder:
            rows, result = Path(folder, "X.npy"), Path(folder, "R.npz")
            np.save(rows, task.data)
            subprocess.run([python, "-c", PROGRAM, rows, result], check=True, env=environment, capture_output=True)
            with np.load(result) as found:
                correlation, seconds = found["R"], float(found["seconds"])
        more, matrices = clocked(lambda: lasso_by_ebic(correlation, len(task.data)))
        return seconds + more, matrices
