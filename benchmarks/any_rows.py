"""Default fits of very many rows from Parquet folders and on Dask, against reading the same files with pyarrow.

Rows are made of modules of 20 columns, square-root models each, 5 % of them bad. Folders are made when they are first
needed and kept under ``results/benchmarks/rows``; what an interrupted run has made is not made again. Of each width 250
million numbers are drawn; beyond that, the modules of rows that were drawn are put together anew, which are other rows,
since modules are independent. ``python -m benchmarks.any_rows 5000000x100 ...`` measures other sizes, ``... growth``
how time grows alone, which draws docs/results/growth-default.png. Times are the processor's, on Dask those of the
clock; ``OPENBLAS_NUM_THREADS=1`` keeps threads that wait for each other out of them.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.any_rows 20000000x100

makes 20 GB of files, and 2 GB of rows that were drawn.
"""

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.growth import RESULTS, exponent
from benchmarks.tools.measure import Clock, in_fresh_process, matrix_product_seconds
from benchmarks.tools.resumable import FOLDER, run_resumable

MODULE, EDGES, BAD = 20, 20, 0.05  # columns, edges a module, share of bad rows
ROWS_A_FILE = 50_000
SIZES = ("1000000x50", "1000000x50 on Dask", "20000000x100", "1000000x1000")
GROWTH = ("12500x50", "50000x50", "200000x50", "800000x50", "100000x50", "100000x100", "100000x200", "100000x400")
DISTINCT = 250_000_000  # numbers of a width; to draw more takes longer than to fit them
TICKS = [k * 10**power for power in range(5) for k in (1, 2, 5)]
FILES_READ = 16  # that reading is timed on


def module(number: int, columns: int) -> rs.simulate.Model:
    """Return one of the modules that columns come in."""
    return rs.simulate.random_model(columns, min(EDGES, columns * (columns - 1) // 4), random_state=number)


def edges_of(m: int) -> np.ndarray:
    """Return the true graph, shape (m, m)."""
    K = np.zeros((m, m))
    for number, low in enumerate(range(0, m, MODULE)):
        own = slice(low, min(low + MODULE, m))
        K[own, own] = module(number, own.stop - own.start).interaction
    return (K != 0) & ~np.eye(m, dtype=bool)


def folder_of(n: int, m: int) -> Path:
    """Return the folder of files with these rows, which is made if it does not exist."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / "rows" / f"modules-{m}"
    folder.mkdir(parents=True, exist_ok=True)
    for k in range(-(-n // ROWS_A_FILE)):
        file = folder / f"part-{k:04d}.parquet"
        if file.exists():
            continue
        rng = np.random.default_rng([k, m])
        X = _good_rows(folder, k, m, rng)
        bad = rng.choice(ROWS_A_FILE, size=round(BAD * ROWS_A_FILE), replace=False)
        X[bad] *= 1 + rng.pareto(1.0, size=(bad.size, m))
        part = file.with_suffix(".part")
        pq.write_table(pa.table({f"x{j:04d}": X[:, j] for j in range(m)}), part, row_group_size=ROWS_A_FILE // 2)
        part.replace(file)
    return folder


def _good_rows(folder: Path, k: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of file k, shape (r, m): drawn, or modules of rows that were drawn, each in an order of its own."""
    distinct = max(1, DISTINCT // (m * ROWS_A_FILE))
    X = np.empty((ROWS_A_FILE, m))
    for number, low in enumerate(range(0, m, MODULE)):
        own = slice(low, min(low + MODULE, m))
        at = (k + number * (k // distinct)) % distinct
        drawn = folder / f"drawn-{at:04d}-{number:03d}.npy"
        if not drawn.exists():
            one = module(number, own.stop - own.start)
            options = {"n_rows": ROWS_A_FILE, "burn_in": 30, "thin": 1, "random_state": [at, number, m]}
            part = drawn.with_suffix(".part.npy")
            np.save(part, rs.simulate.sample("sqrt", one.interaction, one.location, **options))
            part.replace(drawn)
        X[:, own] = rng.permutation(np.load(drawn))
    return X


class CountedRows(rs.ParquetRows):
    """Files that count how many rows are read from them."""

    n_read = 0

    def _batches(self, groups: np.ndarray) -> Any:
        for low, batch in super()._batches(groups):
            self.n_read += batch.num_rows
            yield low, batch


def measure(task: str) -> dict[str, float]:
    """Measure one fit in a process of its own."""
    size, _, where = task.partition(" on ")
    n, m = map(int, size.split("x"))
    files = [str(file) for file in sorted(folder_of(n, m).glob("*.parquet"))[: -(-n // ROWS_A_FILE)]]
    found, peak = in_fresh_process(_on_dask if where else _from_files, files, n)
    graph = np.array(found.pop("graph"), dtype=bool)
    true = edges_of(m)
    both = np.count_nonzero(graph & true)
    return {
        **found, "peak": peak, "edges": int(graph.sum()) // 2, "true": int(true.sum()) // 2,
        "f1": 2 * both / max(1, graph.sum() + true.sum()),
    }  # fmt: skip


def _from_files(files: Sequence[str], n: int) -> dict[str, Any]:
    rows = CountedRows(files)
    rows.n_rows = min(n, rows.n_rows)  # of the last file only so many
    found = _timed(rows)
    return {**found, "passes": rows.n_read / rows.n_rows, "reading": _reading_seconds(files) / found["unit"]}


def _on_dask(files: Sequence[str], n: int) -> dict[str, Any]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        found = _timed(dd.read_parquet(list(files)), time.perf_counter)
        return {**found, "passes": np.nan, "reading": np.nan}


def _timed(data: Any, clock: Clock = time.process_time) -> dict[str, Any]:
    unit = matrix_product_seconds(clock)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rs.RobustGraph("sqrt").fit(np.random.default_rng(0).gamma(1.0, size=(100, 3)))  # compiles
        start = clock()
        model = rs.RobustGraph("sqrt").fit(data)
    elapsed = clock() - start
    phi = model.row_weights_[:, 0]
    return {
        "unit": unit, "products": elapsed / unit, "dropped": float(np.mean(phi == 0)),
        "missed": -1 if model.sampled_ is None else model.sampled_.certificate.n_missed,
        "graph": model.graph_.adjacency.tolist(),
    }  # fmt: skip


def _reading_seconds(files: Sequence[str]) -> float:
    """Return the seconds that pyarrow takes to read all files once, estimated from some of them."""
    import pyarrow.parquet as pq

    some = files[:: max(1, len(files) // FILES_READ)]
    start = time.process_time()
    for file in some:
        for _ in pq.ParquetFile(file).iter_batches():
            pass
    return (time.process_time() - start) * len(files) / len(some)


def main(sizes: Sequence[str] = SIZES, growth: Sequence[str] = GROWTH, out: Path = RESULTS) -> None:
    print(
        f"{'rows x columns':<24}{'products':>10}{'passes':>8}{'x reading':>11}{'peak MB':>9}{'edges':>7}{'F1':>6}"
        f"{'left out':>10}"
    )
    tasks = [*sizes, *growth]
    found = dict(zip(tasks, run_resumable("any_rows", measure, tasks, n_jobs=1), strict=True))
    for task, one in found.items():
        times = one["products"] / (one["passes"] * one["reading"])
        print(
            f"{task:<24}{one['products']:>10.0f}{one['passes']:>8.1f}{times:>11.1f}{one['peak']:>9.0f}{one['edges']:>7}"
            f"{one['f1']:>6.2f}{one['dropped']:>10.1%}"
        )
    if growth:
        draw({task: found[task]["products"] for task in growth}, out / "growth-default.png")


def draw(products: dict[str, float], path: Path) -> None:
    """Draw times over rows, at the fewest columns, and over columns, at the rows that most have; print exponents."""
    import matplotlib.pyplot as plt

    from robscore.plot.style import COLOURS, legend

    sizes = {task: tuple(map(int, task.split("x"))) for task in products}
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for at, (ax, name, other) in enumerate(zip(panels, ("rows n", "columns m"), ("columns", "rows"), strict=True)):
        others = [size[1 - at] for size in sizes.values()]
        fixed = max(set(others), key=others.count)
        along = sorted((size[at], products[task]) for task, size in sizes.items() if size[1 - at] == fixed)
        x, y = np.array(along).T
        label = f"{name[-1]}$^{{{exponent(x, y):.2f}}}$, by the largest {min(3, x.size)}"
        ax.loglog(x, y, color=COLOURS[0], marker="o", label=label)
        ax.set_xticks(x, [f"{size:,.0f}" for size in x], fontsize=9)
        marks = [mark for mark in TICKS if y.min() / 2 <= mark <= y.max() * 2]
        ax.set_yticks(marks, [f"{mark:,}" for mark in marks], fontsize=9)
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        ax.set_xlabel(name)
        ax.set_title(f"{fixed:,} {other}", fontsize=11)
        legend(ax, loc="upper left")
        print(f"Time grows with the {name[:-2]} like the power {exponent(x, y):.2f}, at {fixed} {other}.")
    panels[0].set_ylabel("time, in products of two 1000 x 1000 matrices")
    figure.savefig(path, dpi=130)
    plt.close(figure)


if __name__ == "__main__":
    asked = sys.argv[1:]
    every = not asked
    main(SIZES if every else [one for one in asked if one != "growth"], GROWTH if every or "growth" in asked else ())
