"""What is asked of a rival, and the one signature that all of them answer to."""

import importlib.util
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from benchmarks.tools.measure import clocked

Kind: TypeAlias = Literal["path", "robust path", "weights", "median"]


@dataclass(frozen=True)
class Task:
    """One piece of work.

    - "path": rows -> the symmetric matrices of a classic path, without regard to bad rows
    - "robust path": rows -> those of a path on the geometric median of ``n_blocks`` block means
    - "weights": rows -> two vectors of ``n_blocks`` weights, of the block means of Gamma and of g
    - "median": points -> their geometric median
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
        """Return the seconds and result of one run."""
        return clocked(lambda: self.run(task))


def not_installed(module: str, package: str) -> str | None:
    """Return the reason to skip a rival whose module cannot be found."""
    return None if importlib.util.find_spec(module) else f"{module} is not installed (pip install {package})"


def correlation_path(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlations, and penalties from the smallest with an empty graph downwards, for graphical lassos."""
    correlation = np.corrcoef(task.data.T)
    largest = np.abs(correlation - np.eye(len(correlation))).max()
    return correlation, np.geomspace(largest, task.ratio * largest, task.n_alphas)
