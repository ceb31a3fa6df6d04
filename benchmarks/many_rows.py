"""A million rows of 50 columns from a Parquet folder, and on a Dask cluster of two workers with 1 GB each."""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import robscore as rs
from benchmarks.growth import exponent
from benchmarks.tools.measure import in_fresh_process, matrix_product_seconds

N, M, EDGES, BAD = 1_000_000, 50, 60, 0.05
ROWS_A_FILE = 62_500
CUT = 50_000  # rows on which the three ways are compared
GROWTH = (250_000, 500_000, 1_000_000)
STREAMED = {"n_blocks": 1000, "max_memory": "400 MB"}  # so that all of these are
SETTINGS = {"K = 1000": {"n_blocks": 1000}, "K = 200,000": {"contamination": BAD}, "default": {}}
PATH = {"alphas": 30, "alpha_min_ratio": 0.03}


def write_rows(folder: Path, n: int) -> None:
    """Write files of simulated rows of a square-root graph, some of them multiplied by Pareto variables."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    truth = rs.simulate.random_model(M, EDGES, random_state=0)
    for k, size in enumerate(np.diff([*range(0, n, ROWS_A_FILE), n])):
        rng = np.random.default_rng(k)
        X = rs.simulate.sample(
            "sqrt", truth.interaction, truth.location, n_rows=size, burn_in=50, thin=1, random_state=rng
        )
        bad = rng.choice(size, size=round(BAD * size), replace=False)
        X[bad] *= 1 + rng.pareto(1.0, size=(bad.size, M))
        table = pa.table({f"x{j:02d}": X[:, j] for j in range(M)})
        pq.write_table(table, folder / f"part-{k:03d}.parquet")


def streamed(folder: Path, n_files: int, settings: dict[str, float]) -> dict[str, float]:
    """Fit from the first files of a folder; return the time in matrix products."""
    files = sorted(folder.glob("*.parquet"))[:n_files]
    return _timed(rs.ParquetRows(files), settings)


def on_cluster(folder: Path, settings: dict[str, float]) -> dict[str, float]:
    """Fit from a Dask data frame on two workers with 1 GB each; return the time in matrix products."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        return _timed(dd.read_parquet(folder), settings)


def _timed(data: object, settings: dict[str, float]) -> dict[str, float]:
    unit = matrix_product_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rs.RobustGraph("sqrt", **PATH).fit(np.random.default_rng(0).gamma(1.0, size=(100, 3)))  # compiles
        start = time.perf_counter()
        model = rs.RobustGraph("sqrt", **PATH, **settings).fit(data)
    return {"time": (time.perf_counter() - start) / unit, "edges": model.graph_.n_edges, "rows": model.n_rows_used_}


def differences(folder: Path, settings: dict[str, float]) -> dict[str, float]:
    """Return how far streamed and Dask's K are from the one in memory, over its largest entry, on the first rows."""
    import dask.array as da

    files = sorted(folder.glob("*.parquet"))[: -(-CUT // ROWS_A_FILE)]
    X = rs.ParquetRows(files).take(np.arange(CUT))
    np.save(folder / "cut.npy", X)
    ways = {
        "memory": (X, "4 GB"),
        "streamed": (np.load(folder / "cut.npy", mmap_mode="r"), "50 MB"),
        "Dask": (da.from_array(X, chunks=(7_000, M)), "50 MB"),
    }
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for way, (data, memory) in ways.items():
            model = rs.RobustGraph("sqrt", max_memory=memory, tol=1e-10, **PATH, **settings).fit(data)
            found[way] = model.interaction_
    largest = np.abs(found["memory"]).max()
    return {way: float(np.abs(K - found["memory"]).max() / largest) for way, K in found.items()}


def line(rows: int, label: str, where: str, found: dict[str, float], peak: float) -> str:
    return f"{rows:>10,}  {label:<12}{where:<26}{found['time']:>16.0f}{peak:>10.0f}{found['edges']:>7}"


def main(n: int = N, growth: tuple[int, ...] = GROWTH) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder, n)
        print(f"{'rows':>10}  {'blocks':<12}{'where':<26}{'matrix products':>16}{'peak MB':>10}{'edges':>7}")
        peaks, times = [], []
        for rows in growth:
            found, peak = in_fresh_process(streamed, folder, -(-rows // ROWS_A_FILE), STREAMED)
            print(line(rows, "K = 1000", "Parquet folder, 400 MB", found, peak), flush=True)
            peaks.append(peak)
            times.append(found["time"])
        for label, settings in SETTINGS.items():
            found, peak = in_fresh_process(streamed, folder, -(-n // ROWS_A_FILE), settings)
            print(line(n, label, "Parquet folder", found, peak), flush=True)
            if settings:  # reweighting takes long there
                found, peak = in_fresh_process(on_cluster, folder, settings)
                print(line(n, label, "Dask, two workers of 1 GB", found, peak), flush=True)
        grown = exponent(np.array(growth, dtype=float), np.array(times))
        a_row = (peaks[-1] - peaks[0]) * 1e6 / (growth[-1] - growth[0])
        print(f"Streamed with K = 1000: time grows like n^{grown:.2f}, memory by {a_row:.0f} bytes per row.")
        for label, settings in SETTINGS.items():
            away = differences(folder, settings)
            print(
                f"{min(CUT, n):,} rows, {label}: K differs from the one in memory by {away['streamed']:.0e} (streamed) "
                f"and {away['Dask']:.0e} (Dask) of its largest entry.",
                flush=True,
            )


if __name__ == "__main__":
    main()
