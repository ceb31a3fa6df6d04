"""Row weights at n = 1000, m = 100, K = 200 against explicit block means with the plain iteration."""

import numpy as np

import robscore as rs
from benchmarks.measure import in_fresh_process, matrix_product_seconds, seconds
from benchmarks.simulated import square_root_data

N, M, K = 1000, 100, 200


def plain_weiszfeld(points: np.ndarray, tol: float = 1e-9, max_iter: int = 1000) -> np.ndarray:
    """The paper's equation (5) iterated as it stands, on explicit points."""
    median = points.mean(axis=0)
    for _ in range(max_iter):
        weights = 1 / np.linalg.norm(points - median, axis=1)
        weights /= weights.sum()
        moved = weights @ points
        if np.linalg.norm(moved - median) <= tol * np.linalg.norm(median):
            break
        median = moved
    return weights


def plain_weights(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Block weights from explicit means of Gamma and g, square-root model with h = x^(3/2)."""
    n, m = X.shape
    y = np.sqrt(X)
    design = np.column_stack([-y, np.ones(n)])
    gamma = np.empty((K, m, m + 1, m + 1))
    g = np.empty((K, m, m + 1))
    for k, rows in enumerate(np.array_split(np.arange(n), K)):
        d = design[rows]
        gamma[k] = np.einsum("ij,ik,il->jkl", y[rows], d, d, optimize=True) / rows.size
        g[k, :, :m] = y[rows].mean(axis=0)
        g[k, np.arange(m), np.arange(m)] += y[rows].mean(axis=0) / 2
        g[k, :, m] = -1
    return plain_weiszfeld(gamma.reshape(K, -1)), plain_weiszfeld(g.reshape(K, -1))


def ours(X: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Seconds, and the block weights, of robust_weights."""
    weights = rs.robust_weights(rs.score_elements("sqrt", X), K)
    elapsed = seconds(lambda: rs.robust_weights(rs.score_elements("sqrt", X), K), repeats=5)
    return elapsed, *(part[:: N // K] * (N // K) for part in weights)


def rival(X: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The same by the plain reading."""
    result: list[tuple[np.ndarray, np.ndarray]] = []
    elapsed = seconds(lambda: result.append(plain_weights(X)), repeats=1)
    return elapsed, *result[0]


def main() -> None:
    X = square_root_data(N, M, 500, 0.05)
    unit = matrix_product_seconds()
    (plain, *plain_result), plain_memory = in_fresh_process(rival, X)
    (fast, *fast_result), fast_memory = in_fresh_process(ours, X)
    difference = max(np.abs(a - b).max() for a, b in zip(plain_result, fast_result, strict=True))
    print(f"{'':<38}{'matrix products':>16}{'peak MB':>12}")
    print(f"{'explicit block means, plain iteration':<38}{plain / unit:>16.1f}{plain_memory:>12.0f}")
    print(f"{'robscore, elements and weights':<38}{fast / unit:>16.1f}{fast_memory:>12.0f}")
    print(f"robscore is {plain / fast:.0f} times faster; block weights differ by at most {difference:.1e}.")


if __name__ == "__main__":
    main()
