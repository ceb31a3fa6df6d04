"""How the cost of the row weights grows with n, m and K, and the largest case: n = 200,000 with K = 40,000."""

import numpy as np

import robscore as rs
from benchmarks.measure import in_fresh_process, matrix_product_seconds, seconds
from robscore.inner_products import cheapest_way

SIZES = [
    (1000, 10, 200),
    (1000, 30, 200),
    (1000, 100, 200),
    (1000, 100, 20),
    (1000, 100, 1000),
    (5000, 30, 100),
    (5000, 30, 1000),
    (20_000, 30, 100),
    (20_000, 30, 4000),
    (200_000, 30, 40_000),
]


def weigh(n: int, m: int, n_blocks: int) -> tuple[str, float]:
    """The way that was chosen, and its seconds."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(n, m))
    bad = rng.choice(n, size=n // 20, replace=False)
    X[bad] = 1 + rng.pareto(1.0, size=(bad.size, m))
    elements = rs.score_elements("sqrt", X)
    repeats = 3 if n <= 5000 else 1
    return cheapest_way(elements, "gamma", n_blocks, n), seconds(lambda: rs.robust_weights(elements, n_blocks), repeats)


def main() -> None:
    unit = matrix_product_seconds()
    print(f"{'n':>8}{'m':>6}{'K':>8}  {'way':<10}{'matrix products':>16}{'peak MB':>12}")
    for n, m, n_blocks in SIZES:
        (way, elapsed), memory = in_fresh_process(weigh, n, m, n_blocks)
        print(f"{n:>8}{m:>6}{n_blocks:>8}  {way:<10}{elapsed / unit:>16.1f}{memory:>12.0f}", flush=True)


if __name__ == "__main__":
    main()
