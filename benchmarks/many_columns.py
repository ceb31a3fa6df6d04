"""Paths for many columns, without ever forming Gamma: time in matrix products, and memory."""

import numpy as np

import robscore as rs
from benchmarks.tools.measure import in_fresh_process, matrix_product_seconds, seconds
from benchmarks.tools.simulated import sparse_square_root_data

TOL = 1e-4
# rows, columns and true edges, blocks, penalties, the edges to end at, and the ratio of penalties that leads there
SETTINGS = [(1000, 1000, 200, 15, 10_000, 0.067), (500, 5000, 100, 10, 5_000, 0.075)]


def measure(
    n: int, m: int, n_blocks: int, alphas: int, max_edges: int, ratio: float, storage: str = "matrix-free"
) -> dict[str, float]:
    """Go from rows to a robust path; return times in products of two 1000 x 1000 matrices of the same run."""
    X = sparse_square_root_data(n, m, m, 0.05)
    X /= np.median(X, axis=0)
    unit = matrix_product_seconds()
    elements = rs.score_elements("sqrt", X)
    weights = rs.robust_weights(elements, n_blocks)
    loss = elements.average(*weights, storage=storage)
    rs.solve_path(loss, 2, alpha_min_ratio=0.9, tol=TOL)  # compiles
    found: list[rs.Path] = []
    path = seconds(
        lambda: found.append(rs.solve_path(loss, alphas, alpha_min_ratio=ratio, max_edges=max_edges, tol=TOL)), 1
    )
    return {
        "weights": seconds(lambda: rs.robust_weights(rs.score_elements("sqrt", X), n_blocks), 1) / unit,
        "average": seconds(lambda: elements.average(*weights, storage=storage), 1) / unit,
        "path": path / unit,
        "alphas": found[0].alphas.size,
        "edges": int(found[0].n_edges[-1]),
        "kkt": float(found[0].kkt.max()),
    }


def single_precision_error(
    n: int, m: int, n_blocks: int, alphas: int, max_edges: int, ratio: float
) -> tuple[float, int]:
    """Return the largest difference of K over its largest entry, and the most edges that only one graph has."""
    X = sparse_square_root_data(n, m, m, 0.05)
    X /= np.median(X, axis=0)
    elements = rs.score_elements("sqrt", X)
    weights = rs.robust_weights(elements, n_blocks)
    how = {"alpha_min_ratio": ratio, "max_edges": max_edges, "tol": TOL}
    double, single = (
        rs.solve_path(elements.average(*weights, storage=storage), alphas, **how)
        for storage in ("matrix-free", "float32")
    )
    count = min(double.alphas.size, single.alphas.size)
    K = [(double.interactions[k], single.interactions[k]) for k in range(count)]
    largest = max(float(np.abs(left).max()) for left, _ in K)
    away = max(float(np.abs(left - right).max()) for left, right in K)
    return away / largest, max(np.count_nonzero((left != 0) != (right != 0)) // 2 for left, right in K)


def main() -> None:
    head = ("rows", "columns", "blocks", "weights", "average", "path", "alphas", "edges", "from optimal", "memory")
    print("".join(f"{name:>13}" for name in head) + "   (times in matrix products)")
    for setting, storage in [*((setting, "matrix-free") for setting in SETTINGS), (SETTINGS[0], "float32")]:
        result, megabytes = in_fresh_process(measure, *setting, storage)
        n, m, n_blocks, *_ = setting
        times = "".join(f"{result[name]:>13.0f}" for name in ("weights", "average", "path", "alphas", "edges"))
        rest = f"{result['kkt']:>13.0e}{megabytes / 1000:>10.2f} GB   {storage}"
        print(f"{n:>13}{m:>13}{n_blocks:>13}{times}{rest}", flush=True)
    (away, edges), _ = in_fresh_process(single_precision_error, *SETTINGS[0])
    print(f"In single precision K differs by at most {away:.0e} of its largest entry, graphs by at most {edges} edges.")


if __name__ == "__main__":
    main()
