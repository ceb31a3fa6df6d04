"""Tables of normal and log-normal columns, as of a lake: links found with nothing set, and by one family for all.

Eight columns with latent partial correlations of .35 along six links, half of the columns
exponentiated; ten data sets for each number of rows. "True" and "false" are mean numbers of links.
"""

import warnings

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable

LINKS = ((0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7))
M, STRENGTH = 8, 0.35
ROWS = (140, 600)
FITS = ("nothing set", "gaussian", "copula")


def lake(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, and which pairs are linked."""
    linked = np.zeros((M, M), dtype=bool)
    for i, j in LINKS:
        linked[i, j] = linked[j, i] = True
    K = np.eye(M) - STRENGTH * linked
    Z = np.random.default_rng([seed, n]).multivariate_normal(np.zeros(M), np.linalg.inv(K), size=n)
    Z /= np.sqrt(np.linalg.inv(K).diagonal())
    Z[:, ::2] = np.exp(Z[:, ::2])
    return Z, linked


def measured(task: tuple[int, int, str]) -> dict[str, float]:
    """Return how many true and false links a fit has."""
    n, seed, name = task
    X, linked = lake(n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(**({} if name == "nothing set" else {"family": name})).fit(X)
    found = np.triu(model.graph_.adjacency)
    return {"true": float((found & linked).sum()), "false": float((found & ~linked).sum())}


def main(n_sets: int = 10, rows: tuple[int, ...] = ROWS) -> dict[tuple[int, str], dict[str, float]]:
    """Print a line for every number of rows and fit; the means by these."""
    cells = [(n, name) for n in rows for name in FITS]
    found = run_resumable("mixed_marginals", measured, [(n, seed, name) for n, name in cells for seed in range(n_sets)])
    print(f"{'rows':>5}  {'':<14}{'true':>6}{'false':>7}   of {len(LINKS)} links")
    table = {}
    for k, (n, name) in enumerate(cells):
        sets = found[k * n_sets : (k + 1) * n_sets]
        table[n, name] = {kind: float(np.mean([one[kind] for one in sets])) for kind in ("true", "false")}
        print(f"{n:>5}  {name:<14}{table[n, name]['true']:>6.1f}{table[n, name]['false']:>7.1f}", flush=True)
    return table


if __name__ == "__main__":
    main()
