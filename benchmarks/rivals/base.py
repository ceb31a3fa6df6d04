"""What is asked of a rival, and the one signature that all of them answer to."""

import importlib.util
import shutil
import subprocess
import tempfile
import time
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from sklearn.covariance import graphical_lasso

from benchmarks.tools.measure import clocked

Kind: TypeAlias = Literal["path", "robust path", "weights", "median", "mixed"]


@dataclass(frozen=True)
class Task:
    """One piece of work.

    - "path": rows -> the symmetric matrices of a classic path, without regard to bad rows
    - "robust path": rows -> those of a path on the geometric median of ``n_blocks`` block means
    - "weights": rows -> two vectors of ``n_blocks`` weights, of the block means of Gamma and of g
    - "median": points -> their geometric median
    - "mixed": rows of columns of any kind -> three (m, m) matrices: what ranks pairs, the graph that the rival chooses,
      and its partial correlations there, NaN if it has none
    """

    kind: Kind
    data: np.ndarray
    n_blocks: int = 1
    n_alphas: int = 30
    ratio: float = 0.01  # of the smallest penalty to the largest
    tol: float = 1e-6  # distance to optimality, where a rival can be told

    def small(self) -> "Task":
        """Return the same task on a corner of the data, for what is compiled or loaded at first use."""
        return replace(self, data=self.data[:60, :4], n_blocks=min(self.n_blocks, 12), n_alphas=3, ratio=0.5)


class Rival(ABC):
    """A way to do some kinds of tasks; a subclass gives ``name``, ``tasks`` and ``run``."""

    name: ClassVar[str]
    tasks: ClassVar[tuple[Kind, ...]]

    def absent(self) -> str | None:
        """Return why the rival cannot run here, or None if it can."""
        return None

    @abstractmethod
    def run(self, task: Task) -> Any:
        """Return the task's result, of the form that :class:`Task` states."""

    def timed(self, task: Task) -> tuple[float, Any]:
        """Return the seconds and result of one run; those of mixed tables are of the processor, not of the wall."""
        return clocked(lambda: self.run(task), time.process_time if task.kind == "mixed" else time.perf_counter)


def not_installed(module: str, package: str) -> str | None:
    """Return the reason to skip a rival whose module cannot be found."""
    return None if importlib.util.find_spec(module) else f"{module} is not installed (pip install {package})"


def correlation_path(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations, and penalties from the smallest with an empty graph downwards, for graphical lassos."""
    correlation = np.corrcoef(task.data.T)
    largest = np.abs(correlation - np.eye(len(correlation))).max()
    return correlation, np.geomspace(largest, task.ratio * largest, task.n_alphas)


def not_in_r(package: str, install: str) -> str | None:
    """Return the reason to skip a rival that R, or its package there, is missing for."""
    if shutil.which("Rscript") is None:
        return "R is not installed"
    asked = subprocess.run(["Rscript", "-e", f"library({package})"], capture_output=True, check=False)
    return None if asked.returncode == 0 else f"R has no {package} ({install})"


def in_r(script: Path, X: np.ndarray, *settings: object) -> tuple[float, np.ndarray]:
    """Return the seconds that an R script prints last, and the rows of numbers that it writes.

    It is called with a file of the rows X, the settings, and a file to write to; start and files are not in its
    seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        rows, result = Path(folder, "X.csv"), Path(folder, "result.csv")
        np.savetxt(rows, X, delimiter=",", fmt="%.17g")
        command = [str(part) for part in ("Rscript", script, rows, *settings, result)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return float(printed.split()[-1]), np.loadtxt(result, delimiter=",", ndmin=2)


def kinds_in_r(X: np.ndarray) -> str:
    """Return a letter a column: c for up to five values, p for other whole numbers from 0, z for many ties, else g."""
    letters = ""
    for column in X.T:
        values, counts = np.unique(column, return_counts=True)
        whole = (values == np.round(values)).all() and values[0] >= 0
        letters += "c" if values.size <= 5 else "p" if whole else "z" if counts.max() > 0.05 * len(X) else "g"
    return letters


def partial_correlations(K: np.ndarray) -> np.ndarray:
    """Return those of a precision matrix, 0 on the diagonal."""
    size = np.sqrt(K.diagonal())
    return np.where(np.eye(len(K)), 0.0, -K / np.multiply.outer(size, size))


def lasso_by_ebic(
    correlation: np.ndarray, n: int, *, gamma: float = 0.5, n_alphas: int = 100, ratio: float = 0.01
) -> np.ndarray:
    """Return three matrices as a "mixed" task asks: a graphical lasso whose penalty the extended BIC chooses.

    Grid, gamma and criterion are those of ``qgraph::EBICglasso``: n (trace(S K) - log det K) + edges (log n + 4 gamma
    log m). Pairs are ranked by the largest penalty that they have an edge at.
    """
    m = len(correlation)
    alphas = np.geomspace(1, ratio, n_alphas) * np.abs(correlation - np.eye(m)).max()
    entered, best, chosen = np.zeros((m, m)), np.inf, np.eye(m)
    for alpha in alphas:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                K = graphical_lasso(correlation, alpha)[1]
        except FloatingPointError:  # correlations of pairs may not be those of any table
            break
        entered = np.where((entered == 0) & (np.abs(K) > 1e-8), alpha, entered)
        edges = np.count_nonzero(np.triu(np.abs(K) > 1e-8, k=1))
        criterion = n * (np.sum(correlation * K) - np.linalg.slogdet(K)[1]) + edges * (
            np.log(n) + 4 * gamma * np.log(m)
        )
        if criterion < best:
            best, chosen = criterion, np.where(np.abs(K) > 1e-8, K, 0.0)
    association = partial_correlations(chosen)
    return np.stack([entered, association != 0, association])
