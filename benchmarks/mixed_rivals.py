"""Tables of mixed columns: the copula and other programs on the same rows, clean and with bad ones.

The 24 columns of `mixed_tables`. F1 is that of the program's own choice, "area" that under the ROC
curve of its order of the pairs, "error" the root mean square of its partial correlations there
against the true latent ones (robscore: refitted on its graph; mgm has none), "products" the
processor time of the fit in products of two 1000 x 1000 matrices of the same process, "times" that
over robscore's. A star marks what is better than robscore by more than one standard error of the
difference over data sets.

Other programs are skipped where they are not installed. Their results are stored, and are computed
anew only where the table or the way they are called has changed.
"""

import argparse
import inspect
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score
from threadpoolctl import threadpool_limits

from benchmarks.rivals import MIXED, Ours, Rival, Task, base
from benchmarks.tools import mixed_columns
from benchmarks.tools.measure import matrix_product_seconds
from benchmarks.tools.mixed_columns import SHARE, mixed_table
from benchmarks.tools.resumable import run_resumable

COLUMNS = {"F1": 3, "area": 3, "error": 4, "products": 0}
LARGER_IS_BETTER = (True, True, False, False)
# Rows, what is bad, data sets. Thinned, since some programs take half a minute for a table.
SETTINGS = (
    (500, "clean", 4), (1500, "clean", 4), (1500, "Pareto", 4), (1500, "other rows", 3), (1500, "six deviations", 3)
)  # fmt: skip
MOST_OF_BDGRAPH = 0.1
_Task: TypeAlias = tuple[str, int, str, int, int]  # rival, rows, damage, seed, checksum of the table


def one(task: _Task) -> list[float]:
    """Return the COLUMNS of one program on one table."""
    name, n, damage, seed, _ = task
    (rival,) = (rival for rival in (Ours(), *MIXED) if rival.name == name)
    table = mixed_table(n, seed=seed, damage=damage)
    pairs = np.triu_indices(len(table.association), k=1)
    with threadpool_limits(1):
        if isinstance(rival, Ours):
            rival.run(Task("mixed", table.X[:100, :6]))  # kernels are compiled, or loaded
        unit = matrix_product_seconds(time.process_time)
        seconds, (order, graph, association) = rival.timed(Task("mixed", table.X))
    truth = table.association[pairs] != 0
    return [
        float(f1_score(truth, graph[pairs] != 0)),
        float(roc_auc_score(truth, order[pairs])),
        float(np.sqrt(np.mean((association - table.association)[pairs] ** 2))),
        seconds / unit,
    ]


def found_by(rival: Rival, n: int, damage: str, n_sets: int) -> np.ndarray:
    """Return the COLUMNS of a program on data sets, shape (sets, COLUMNS)."""
    own = [mixed_table(n, seed=seed, damage=damage) for seed in range(n_sets)]
    tasks = [(rival.name, n, damage, seed, zlib.crc32(table.X.tobytes())) for seed, table in enumerate(own)]
    file = Path(inspect.getfile(type(rival)))
    sources = [path for path in (file, file.with_suffix(".R"), Path(base.__file__)) if path.exists()]
    name = f"mixed_rivals-{file.stem}"
    if file.stem == "normal_scores":
        sources.append(Path(mixed_columns.__file__))
    return np.array(run_resumable(name, one, tasks, sources=None if isinstance(rival, Ours) else sources))


def main(
    settings: Sequence[tuple[int, str, int]] = SETTINGS, rivals: Sequence[Rival] = MIXED
) -> dict[tuple[int, str, str], dict[str, float]]:
    """Print a table for every setting; means by rows, damage and program."""
    found = {}
    reasons = {rival.name: rival.absent() for rival in rivals}
    for n, damage, n_sets in settings:
        heading = f"{n} rows, {damage}" if damage == "clean" else f"{n} rows, {SHARE:.0%} bad: {damage}"
        print(f"{heading:<36}" + "".join(f"{name:>10}" for name in (*COLUMNS, "times")), flush=True)
        ours = found_by(Ours(), n, damage, n_sets)
        for rival in (Ours(), *rivals):
            if reason := reasons.get(rival.name):
                print(f"{rival.name:<36}  skipped: {reason}", flush=True)
                continue
            own = ours if isinstance(rival, Ours) else found_by(rival, n, damage, n_sets)
            means, times = own.mean(axis=0), float(np.mean(own[:, -1] / ours[:, -1]))
            cells = (
                f"{'-' if np.isnan(mean) else format(mean, f'.{digits}f') + (' *' if star else ''):>10}"
                for mean, digits, star in zip(means, COLUMNS.values(), is_better(own, ours), strict=True)
            )
            print(f"{rival.name:<36}" + "".join(cells) + f"{times:>10.1f}", flush=True)
            found[n, damage, rival.name] = dict(zip(COLUMNS, means.tolist(), strict=True)) | {"times": times}
        print(f"Means of {n_sets} data sets.\n", flush=True)
    _print_times(found)
    return found


def is_better(own: np.ndarray, ours: np.ndarray) -> list[bool]:
    """Return by which COLUMNS a program is better than ours, by more than a standard error of the difference."""
    gain = np.where(LARGER_IS_BETTER, own - ours, ours - own)
    error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.zeros(gain.shape[1])
    return (gain.mean(axis=0) > error).tolist()


def _print_times(found: dict[tuple[int, str, str], dict[str, float]]) -> None:
    """Print which share of BDgraph's time is taken, where it ran."""
    times = {n: cell["times"] for (n, damage, name), cell in found.items() if "BDgraph" in name and damage == "clean"}
    for n, ratio in times.items():
        print(f"{n} rows: {1 / ratio:.2f} of BDgraph's time; the aim is {MOST_OF_BDGRAPH}.", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, help="data sets of every setting, at most")
    given = parser.parse_args()
    main(tuple((n, damage, min(n_sets, given.sets or n_sets)) for n, damage, n_sets in SETTINGS))
