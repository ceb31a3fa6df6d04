"""What an experiment is: settings, repetitions that can be run on their own, and what is made of their results.

An experiment never keeps state. ``run`` of one repetition depends only on the settings, the repetition and the seed, so
repetitions can run in any order, on any number of cores, today or tomorrow, and give the same bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from robscore import metrics
from robscore._tools.typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Settings: TypeAlias = dict[str, Any]
Task: TypeAlias = dict[str, Any]
Outcome: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Result:
    """One repetition and its result."""

    task: Task
    outcome: Outcome


class Experiment(ABC):
    """A figure, table or theorem of the paper.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        One line on what it shows.
    source : str
        Where in the paper.
    """

    name: str
    title: str
    source: str

    @abstractmethod
    def settings(self, *, quick: bool) -> Settings:
        """All numbers of the experiment, as plain values: the paper's own, or fewer and smaller ones."""

    @abstractmethod
    def tasks(self, settings: Settings) -> list[Task]:
        """The repetitions, each a dictionary of plain values."""

    @abstractmethod
    def run(self, task: Task, settings: Settings, seed: int) -> Outcome:
        """One repetition; plain numbers and lists."""

    @abstractmethod
    def table(self, settings: Settings, results: list[Result]) -> list[Row]:
        """The numbers behind the figure, one dictionary per line of the CSV."""

    @abstractmethod
    def draw(self, settings: Settings, rows: list[Row], results: list[Result]) -> Figure:
        """The figure."""

    @abstractmethod
    def say(self, settings: Settings, rows: list[Row]) -> str:
        """What is seen, in a sentence or two."""


def generator(seed: int, *keys: int) -> np.random.Generator:
    """Random numbers that depend on the seed and on some keys only, never on what ran before."""
    return np.random.default_rng(np.random.SeedSequence([seed, *keys]))


def errors_by_blocks(values: Array, blocks: list[int]) -> list[Row]:
    """Mean squared error with its interval for every number of blocks; values have shape (simulations, blocks)."""
    low, high = metrics.bootstrap_interval(values)
    return [
        {
            "n_blocks": n_blocks,
            "simulations": len(values),
            "mse": float(values[:, k].mean()),
            "mse_low": float(low[k]),
            "mse_high": float(high[k]),
        }
        for k, n_blocks in enumerate(blocks)
    ]


def draw_with_band(
    ax: Axes, rows: list[Row], x: str, y: str, band: tuple[str, str], colour: str, label: str | None = None
) -> None:
    """A line through one column of a table against another, and the band between two more."""
    at = [row[x] for row in rows]
    ax.plot(at, [row[y] for row in rows], "o-", color=colour, markersize=3, label=label)
    low, high = ([row[key] for row in rows] for key in band)
    ax.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)


def select(rows: list[Row], **values: Any) -> list[Row]:
    """The lines of a table with these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]
