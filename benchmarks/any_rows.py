"""Default fits of very many rows from Parquet folders and on Dask, against reading the same files with pyarrow.

Rows are made of modules of 20 columns, square-root models each, 5 % of them bad. Folders are made when they are first
needed and kept under ``results/benchmarks/rows``, 250 million numbers of each width; beyond that, files are the first
ones again under other names.
``python -m benchmarks.any_rows 5000000x100 ...`` measures other sizes.
"""

import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.growth import exponent
from benchmarks.kept import FOLDER, run_kept
from benchmarks.measure import in_fresh_process, matrix_product_seconds

MODULE, EDGES, BAD = 20, 20, 0.05  # columns, edges a module, share of bad rows
ROWS_A_FILE = 50_000
SIZES = ("1000000x50", "1000000x50 on Dask", "20000000x100", "1000000x1000")
GROWTH = ("12500x50", "50000x50", "200000x50", "800000x50", "100000x50", "100000x100", "100000x200", "100000x400")
DISTINCT = 250_000_000  # numbers of a width; to draw more takes longer than to fit them
FILES_READ = 16  # that reading is timed on


def module(number: int, columns: int) -> rs.simulate.Model:
    """One of the modules that columns come in."""
    return rs.simulate.random_model(columns, min(EDGES, columns * (columns - 1) // 4), random_state=number)


def edges_of(m: int) -> np.ndarray:
    """The true graph, shape (m, m)."""
    K = np.zeros((m, m))
    for number, low in enumerate(range(0, m, MODULE)):
        own = slice(low, min(low + MODULE, m))
        K[own, own] = module(number, own.stop - own.start).interaction
    return (K != 0) & ~np.eye(m, dtype=bool)


def folder_of(n: int, m: int) -> Path:
    """A folder of files with these rows, made unless it is there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / "rows" / f"modules-{m}"
    folder.mkdir(parents=True, exist_ok=True)
    models = [module(k, min(MODULE, m - low)) for k, low in enumerate(range(0, m, MODULE))]
    for k in range(-(-n // ROWS_A_FILE)):
        file = folder / f"part-{k:04d}.parquet"
        if file.exists():
            continue
        distinct = max(1, DISTINCT // (m * ROWS_A_FILE))
        if k >= distinct:
            file.hardlink_to(folder / f"part-{k % distinct:04d}.parquet")
            continue
        rng = np.random.default_rng([k, m])
        rows = {"n_rows": ROWS_A_FILE, "burn_in": 30, "thin": 1, "random_state": rng}
        X = np.hstack([rs.simulate.sample("sqrt", one.interaction, one.location, **rows) for one in models])
        bad = rng.choice(ROWS_A_FILE, size=round(BAD * ROWS_A_FILE), replace=False)
        X[bad] *= 1 + rng.pareto(1.0, size=(bad.size, m))
        part = file.with_suffix(".part")
        pq.write_table(pa.table({f"x{j:04d}": X[:, j] for j in range(m)}), part, row_group_size=ROWS_A_FILE // 2)
        part.replace(file)
    return folder


class CountedRows(rs.ParquetRows):
    """Files that count how many rows are read from them."""

    n_read = 0

    def _batches(self, groups: np.ndarray) -> Any:
        for low, batch in super()._batches(groups):
            self.n_read += batch.num_rows
            yield low, batch


def measure(task: str) -> dict[str, float]:
    """One fit in a process of its own."""
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
        return {**_timed(dd.read_parquet(list(files))), "passes": np.nan, "reading": np.nan}


def _timed(data: Any) -> dict[str, Any]:
    unit = matrix_product_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rs.RobustGraph("sqrt").fit(np.random.default_rng(0).gamma(1.0, size=(100, 3)))  # compiles
        start = time.perf_counter()
        model = rs.RobustGraph("sqrt").fit(data)
    elapsed = time.perf_counter() - start
    phi = model.row_weights_[:, 0]
    return {
        "unit": unit, "products": elapsed / unit, "dropped": float(np.mean(phi == 0)),
        "missed": -1 if model.sampled_ is None else model.sampled_.certificate.n_missed,
        "graph": model.graph_.adjacency.tolist(),
    }  # fmt: skip


def _reading_seconds(files: Sequence[str]) -> float:
    """What pyarrow takes to read all files once, from some of them."""
    import pyarrow.parquet as pq

    some = files[:: max(1, len(files) // FILES_READ)]
    start = time.perf_counter()
    for file in some:
        for _ in pq.ParquetFile(file).iter_batches():
            pass
    return (time.perf_counter() - start) * len(files) / len(some)


def main(sizes: Sequence[str] = SIZES, growth: Sequence[str] = GROWTH) -> None:
    print(
        f"{'rows x columns':<24}{'products':>10}{'passes':>8}{'x reading':>11}{'peak MB':>9}{'edges':>7}{'F1':>6}"
        f"{'left out':>10}"
    )
    tasks = [*sizes, *growth]
    found = dict(zip(tasks, run_kept("any_rows", measure, tasks, n_jobs=1), strict=True))
    for task, one in found.items():
        times = one["products"] / (one["passes"] * one["reading"])
        print(
            f"{task:<24}{one['products']:>10.0f}{one['passes']:>8.1f}{times:>11.1f}{one['peak']:>9.0f}{one['edges']:>7}"
            f"{one['f1']:>6.2f}{one['dropped']:>10.1%}"
        )
    for at, unknown in ((1, "rows"), (0, "columns")):
        kept = [task for task in growth if task.split("x")[at] == ("50", "100000")[1 - at]]
        numbers = np.array([float(task.split("x")[1 - at]) for task in kept])
        times = np.array([found[task]["products"] for task in kept])
        if len(kept) > 1:
            print(f"Time grows with the {unknown} like the power {exponent(numbers, times):.2f}.")


if __name__ == "__main__":
    main(sys.argv[1:] or SIZES, () if sys.argv[1:] else GROWTH)
