"""Rows in time: coverage of intervals, tests given the row before, bad rows in runs, and the graph that is chosen.

1. Gaussian AR(1), m = 10, n = 600: coverage of 95 % intervals of all K_ij, with single rows and with block_size="auto".
2. VAR(1) with cross-lags and diagonal noise, m = 8, n = 600: rejected true nulls at 5 %, given the row before or not.
3. Gaussian AR(1), rho = .9, 5 % bad rows scattered or in runs of 10: AUC of block medians (contamination = .05), blocks
   of neighbours and of shuffled rows, and of the default.
4. Gaussian AR(1), m = 10, n = 600, 10 edges or none: false edges and F1 of the default graph and of select="ebic", rows
   in their order and shuffled, which hides that they are a series.
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools.resumable import run_resumable

N = 600
BAD = 0.05


def autoregressive(transition: np.ndarray, root: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of x_t = transition x_(t-1) + root e_t."""
    m = len(root)
    X = np.zeros((n + 200, m))
    for t in range(1, n + 200):
        X[t] = transition @ X[t - 1] + root @ rng.normal(size=m)
    return X[200:]


def with_rho(rho: float, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return K of a random graph, and a series whose rows have it, each column with autocorrelation rho."""
    truth = rs.simulate.random_model(m, m, min_eigenvalue=0.5, random_state=[seed, 1])
    root = np.linalg.cholesky(np.linalg.inv(truth.interaction)) * np.sqrt(1 - rho**2)
    return truth.interaction, autoregressive(rho * np.eye(m), root, N, np.random.default_rng([seed, 2]))


def coverage(rho: float, seed: int) -> list[float]:
    """Return the coverage of intervals with single rows, and with blocks."""
    K, X = with_rho(rho, 10, seed)
    model = rs.RobustGraph("gaussian", n_edges=10).fit(X)
    shares = []
    for size in (1, "auto"):
        table = model.edge_intervals(block_size=size)
        i, j = ([int(name[1:]) for name in table[end]] for end in ("source", "target"))
        inside = (table["interaction_low"] <= K[i, j]) & (K[i, j] <= table["interaction_high"])
        shares.append(float(np.mean(inside)))
    return shares


def rejected(_: float, seed: int) -> list[float]:
    """Return the shares of pairs that are rejected although none is linked, given the row before and without it."""
    rng = np.random.default_rng([seed, 3])
    transition = 0.4 * np.eye(8)
    i, j = np.nonzero(~np.eye(8, dtype=bool))
    some = rng.choice(i.size, size=8, replace=False)
    transition[i[some], j[some]] = 0.25
    X = autoregressive(transition, np.eye(8), N, rng)
    now, before = rs.lagged(X)
    given = rs.RobustGraph("gaussian", n_edges=8).fit(now, covariates=before).edge_intervals()
    plain = rs.RobustGraph("gaussian", n_edges=8).fit(X).edge_intervals()
    return [float(np.mean(table["p_value"] <= 0.05)) for table in (given, plain)]


def recovered(run: float, seed: int) -> list[float]:
    """Return the AUC with bad rows in runs: of blocks of neighbours, blocks of shuffled rows, and the default."""
    K, X = with_rho(0.9, 10, seed)
    rng = np.random.default_rng([seed, 4])
    starts = rng.choice(N // int(run), size=int(BAD * N / run), replace=False) * int(run)
    bad = (starts[:, None] + np.arange(int(run))).ravel()
    X[bad] = 5 * X.std(axis=0) * rng.standard_normal((bad.size, 10)) @ np.linalg.qr(rng.normal(size=(10, 10)))[0]
    models = (
        rs.RobustGraph("gaussian", contamination=BAD),
        rs.RobustGraph("gaussian", contamination=BAD, shuffle=True, random_state=0),
        rs.RobustGraph("gaussian"),
    )
    return [rs.metrics.auc(rs.metrics.roc_curve(model.fit(X).path_, K)) for model in models]


def chosen(rho: float, seed: int) -> list[float]:
    """Return false edges and F1 of the default and of eBIC, and edges where there is none; in order, and shuffled."""
    K, X = with_rho(rho, 10, seed)
    empty = autoregressive(rho * np.eye(10), np.eye(10), N, np.random.default_rng([seed, 6]))
    order = np.random.default_rng([seed, 7]).permutation(N)
    upper = np.triu_indices(10, 1)
    true, values = K[upper] != 0, []
    for rule in ("f1", "ebic"):
        for rows in (np.arange(N), order):
            model = rs.RobustGraph("gaussian", select=rule)
            found = model.fit(X[rows]).graph_.adjacency[upper]
            both = np.count_nonzero(found & true)
            values += [np.count_nonzero(found & ~true), 2 * both / (np.count_nonzero(found) + np.count_nonzero(true))]
            values.append(model.fit(empty[rows]).graph_.n_edges)
    return [float(value) for value in values]


TABLES = {
    "coverage": (coverage, "rho", (0.0, 0.6, 0.9), ("single rows", "blocks")),
    "rejected": (rejected, "", (0.0,), ("given", "plain")),
    "recovered": (recovered, "run", (1.0, 10.0), ("neighbours", "shuffled", "default")),
    "chosen": (
        chosen,
        "rho",
        (0.0, 0.6, 0.9),
        [
            f"{rule}{how} {kind}"
            for rule in ("f1", "ebic")
            for how in ("", ",mixed")
            for kind in ("false", "F1", "none")
        ],
    ),
}


def outcome(task: tuple[str, float, int]) -> list[float]:
    """Return the numbers of one data set, for one table."""
    name, setting, seed = task
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return TABLES[name][0](setting, seed)


def main(n_sets: int = 200, tables: tuple[str, ...] = tuple(TABLES)) -> dict[tuple[str, float], list[float]]:
    tasks = [(name, setting, seed) for name in tables for setting in TABLES[name][2] for seed in range(n_sets)]
    found = dict(zip(tasks, run_resumable("series", outcome, tasks), strict=True))
    table = {}
    for name in tables:
        _, label, settings, columns = TABLES[name]
        print(f"{name:<12}{label:>6}" + "".join(f"{column:>16}" for column in columns))
        for setting in settings:
            values = np.mean([found[name, setting, seed] for seed in range(n_sets)], axis=0)
            print(f"{'':<12}{setting:>6g}" + "".join(f"{value:>16.3f}" for value in values))
            table[name, setting] = values.tolist()
    print(f"{n_sets} data sets each")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=tuple(TABLES))
    arguments = parser.parse_args()
    main(arguments.sets, tuple(arguments.tables))
