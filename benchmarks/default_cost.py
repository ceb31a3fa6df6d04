"""What a default fit costs: processor time on one thread, in products of two 1000 x 1000 matrices, least of three.

Square root with a random graph; Pareto rows where rows are bad; scikit-learn's breast cancer data.
"""

import time
import warnings
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.simulated import square_root_data


def processor_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of a few runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def product_seconds() -> float:
    """One product of two 1000 x 1000 matrices on one thread."""
    A = np.random.default_rng(0).normal(size=(1000, 1000))
    return processor_seconds(lambda: A @ A, repeats=10)


def cases() -> dict[str, tuple[np.ndarray, dict[str, object]]]:
    """Rows and options by name."""
    from sklearn.datasets import load_breast_cancer

    return {
        "1000 x 100, clean": (square_root_data(1000, 100, 150, 0.0), {}),
        "1000 x 100, 5% Pareto": (square_root_data(1000, 100, 150, 0.05), {}),
        "10,000 x 100, 5% Pareto": (square_root_data(10_000, 100, 150, 0.05), {}),
        "breast cancer": (load_breast_cancer().data, {}),
        "200 x 500, clean": (square_root_data(200, 500, 500, 0.0), {"diagonal_multiplier": 0.1}),
    }


def main(repeats: int = 3, names: tuple[str, ...] | None = None) -> dict[str, float]:
    table = {}
    print(f"{'rows':<26}{'products':>10}{'edges':>8}{'dropped':>9}")
    for name, (X, options) in cases().items():
        if names is not None and name not in names:
            continue
        model = rs.RobustGraph("sqrt", **options)
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)  # kernels are compiled
            count = 1 if len(X) * X.shape[1] > 500_000 else repeats
            table[name] = processor_seconds(lambda m=model, X=X: m.fit(X), count) / product_seconds()
        print(f"{name:<26}{table[name]:>10.0f}{model.graph_.n_edges:>8}{model.share_dropped_:>9.1%}", flush=True)
    return table


if __name__ == "__main__":
    main()
