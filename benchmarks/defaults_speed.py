"""What a default fit costs: processor time in products of two 1000 x 1000 matrices on one thread, least of three.

Square root with a random graph; Pareto rows where rows are bad; scikit-learn's breast cancer data. On one thread, and
on two over that; beside scikit-learn's graphical lasso with cross-validation, and genscore where R has it, both of
which know nothing of bad rows.
"""

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.covariance import GraphicalLassoCV
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.rivals.base import Task
from benchmarks.rivals.genscore import Genscore
from benchmarks.tools.measure import matrix_product_seconds, seconds
from benchmarks.tools.simulated import square_root_data

processor_seconds = partial(seconds, clock=time.process_time)


def breast_cancer() -> np.ndarray:
    """Return the rows of scikit-learn's breast cancer data."""
    from sklearn.datasets import load_breast_cancer

    return np.asarray(load_breast_cancer().data)


# How rows are made, and options, by name.
CASES: dict[str, tuple[Callable[[], np.ndarray], dict[str, object]]] = {
    "1000 x 100, clean": (partial(square_root_data, 1000, 100, 150, 0.0), {}),
    "1000 x 100, 5% Pareto": (partial(square_root_data, 1000, 100, 150, 0.05), {}),
    "10,000 x 100, 5% Pareto": (partial(square_root_data, 10_000, 100, 150, 0.05), {}),
    "breast cancer": (breast_cancer, {}),
    "200 x 500, clean": (partial(square_root_data, 200, 500, 500, 0.0), {"diagonal_multiplier": 0.1}),
}


def rival_seconds(X: np.ndarray) -> dict[str, float]:
    """Return the seconds of the rivals that are installed, for up to 100 columns and 1000 rows."""
    if X.shape[1] > 100 or len(X) > 1000:
        return {}
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = {"GraphicalLassoCV": processor_seconds(lambda: GraphicalLassoCV().fit(Z), repeats=1)}
    genscore = Genscore()
    if genscore.absent() is None:
        found["genscore, path"] = genscore.timed(Task("path", X, n_alphas=100, ratio=1e-3))[0]
    return found


def main(repeats: int = 3, names: tuple[str, ...] | None = None, *, rivals: bool = True) -> dict[str, float]:
    table = {}
    print(f"{'rows':<26}{'products':>10}{'2 threads':>11}{'edges':>8}{'dropped':>9}  rivals, in products")
    for name, (make, options) in CASES.items():
        if names is not None and name not in names:
            continue
        X = make()
        model = rs.RobustGraph("sqrt", **options)
        count = 1 if len(X) * X.shape[1] > 500_000 else repeats
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with threadpool_limits(1):
                model.fit(X)  # kernels are compiled
                unit = matrix_product_seconds(time.process_time)
                table[name] = processor_seconds(lambda m=model, X=X: m.fit(X), count) / unit
                others = rival_seconds(X) if rivals else {}
            with threadpool_limits(2):
                on_two = processor_seconds(lambda m=model, X=X: m.fit(X), count) / unit
        beside = ", ".join(f"{rival} {taken / unit:.0f}" for rival, taken in others.items())
        print(
            f"{name:<26}{table[name]:>10.0f}{on_two / table[name]:>10.2f}x{model.graph_.n_edges:>8}"
            f"{model.share_dropped_:>9.1%}  {beside}",
            flush=True,
        )
    return table


if __name__ == "__main__":
    main()
