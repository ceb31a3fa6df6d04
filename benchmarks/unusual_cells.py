"""Real tables as they are, with cells=True: how many cells are called wrong, and how much the seed moves the graph.

The tables are those of scikit-learn, in columns without zeros where a family wants them positive. Nobody knows their
wrong cells, but they are few: most of what is called wrong is a cell that the model did not expect. By five seeds.
"""

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import robscore as rs
from benchmarks.tools.resumable import run_resumable

TABLES = (
    ("wine", "gaussian"),
    ("wine", "log-log"),
    ("wine", "gamma"),
    ("diabetes", "gaussian"),
    ("breast cancer", "gaussian"),
    ("breast cancer", "sqrt"),
    ("breast cancer", "log-log"),
)


def table_of(name: str) -> np.ndarray:
    """Return the rows of a table: positive columns, or, for diabetes, all but the sex, which is a code."""
    if name == "diabetes":
        return np.delete(load_diabetes(scaled=False).data, 1, axis=1)
    X = (load_wine if name == "wine" else load_breast_cancer)().data
    return X[:, (X > 0).all(axis=0)]


def one(task: tuple[str, str, int]) -> list[float]:
    """Return the share of the cells that are called wrong, and how many edges there are."""
    name, family, seed = task
    model = rs.RobustGraph(family, cells=True, random_state=seed).fit(table_of(name))
    wrong = model.fitted_.prepared.filling.suspects.likely_wrong
    return [float(wrong.mean()), float(np.count_nonzero(model.graph_.adjacency) / 2)]


def main(n_seeds: int = 5, tables: tuple[tuple[str, str], ...] = TABLES) -> dict[tuple[str, str], list[float]]:
    """Print the table; mean share of wrong cells, fewest and most edges, by table and family."""
    print(f"{'table':<16}{'family':<12}{'called wrong':>14}{'edges':>12}", flush=True)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, family in tables:
            tasks = [(name, family, seed) for seed in range(n_seeds)]
            wrong, edges = np.array(run_resumable(f"unusual_cells-{name}-{family}", one, tasks)).T
            found[name, family] = [float(wrong.mean()), float(edges.min()), float(edges.max())]
            print(
                f"{name:<16}{family:<12}{wrong.mean():>14.1%}{f'{edges.min():.0f} to {edges.max():.0f}':>12}",
                flush=True,
            )
    return found


if __name__ == "__main__":
    main()
