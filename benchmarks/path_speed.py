"""A whole robust path at n = 1000, m = 100 with 30 alphas, against scikit-learn's graphical lasso on the same data."""

import warnings

import numpy as np
from sklearn.covariance import graphical_lasso

import robscore as rs
from benchmarks.measure import matrix_product_seconds, seconds
from benchmarks.simulated import square_root_data

N, M, K, ALPHAS, RATIO = 1000, 100, 200, 30, 0.01


def robust_path(X: np.ndarray) -> rs.Path:
    elements = rs.score_elements("sqrt", X)
    return rs.solve_path(elements.average(*rs.robust_weights(elements, K)), ALPHAS, alpha_min_ratio=RATIO)


def graphical_lasso_path(X: np.ndarray) -> list[np.ndarray]:
    """From the smallest penalty with an empty graph to RATIO of it, each fit on its own as scikit-learn has no path."""
    correlation = np.corrcoef(X.T)
    largest = np.abs(correlation - np.eye(M)).max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [graphical_lasso(correlation, alpha)[1] for alpha in np.geomspace(largest, RATIO * largest, ALPHAS)]


def main() -> None:
    X = square_root_data(N, M, 500, 0.05)
    path = robust_path(X)
    unit = matrix_product_seconds()
    elements = rs.score_elements("sqrt", X)
    weights = rs.robust_weights(elements, K)
    loss = elements.average(*weights)
    steps = {
        "elements and weights": seconds(lambda: rs.robust_weights(rs.score_elements("sqrt", X), K), 5),
        "average": seconds(lambda: elements.average(*weights), 5),
        "path of 30 alphas": seconds(lambda: rs.solve_path(loss, ALPHAS, alpha_min_ratio=RATIO), 5),
    }
    ours = seconds(lambda: robust_path(X), 5)
    lasso = seconds(lambda: graphical_lasso_path(X), 1)
    print(f"{'':<40}{'matrix products':>16}")
    for name, elapsed in steps.items():
        print(f"{'  ' + name:<40}{elapsed / unit:>16.1f}")
    print(f"{'robscore, rows to robust path':<40}{ours / unit:>16.1f}")
    print(f"{'scikit-learn, graphical lasso path':<40}{lasso / unit:>16.1f}")
    print(f"robscore takes 1/{lasso / ours:.0f} of the time, for a path of up to {path.n_edges[-1]} edges.")


if __name__ == "__main__":
    main()
