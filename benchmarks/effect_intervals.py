"""Coverage of 95 % intervals of the effects of covariates: m = 8, n = 1000, two covariates, 200 data sets.

One covariate is a number, one a group of two; half of the effects are zero. ``rejected`` are true nulls at 5 %.
Everything at its defaults; bad rows as in ``covariates``.
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.covariates import FAMILIES, bad_rows
from benchmarks.tools.resumable import run_resumable

N, M, EDGES = 1000, 8, 8
COLUMNS = ("covered", "of effects", "of none", "rejected")


def outcome(task: tuple[str, float, int]) -> list[float]:
    """Return the shares of intervals that hold the truth, and of true nulls that are rejected."""
    family, share, seed = task
    rng = np.random.default_rng([seed, 9])
    truth = rs.simulate.random_model(M, EDGES, min_eigenvalue=0.5, random_state=[seed, 1])
    c = np.column_stack([rng.normal(size=N), rng.integers(0, 2, size=N)])
    effects = rng.uniform(0.3, 0.8, size=(M, 2)) * rng.permuted(np.arange(M * 2) % 2).reshape(M, 2)
    X = rs.simulate.sample(
        family, truth.interaction, np.ones(M), covariates=c, effects=effects, burn_in=100, random_state=[seed, 2]
    )
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = rs.RobustGraph(family, n_edges=EDGES).fit(bad_rows(family, X, share, seed), covariates=c)
        table = model.effects()
    true = np.array([effects[int(a[1:]), int(b[1:])] for a, b in zip(table["column"], table["covariate"], strict=True)])
    inside = np.asarray((table["effect_low"] <= true) & (true <= table["effect_high"]))
    rejected = np.asarray(table["p_value"] <= 0.05)
    shares = inside, inside[true != 0], inside[true == 0], rejected[true == 0]
    return [float(share.mean()) for share in shares]


def main(n_sets: int = 200) -> dict[tuple[str, float], list[float]]:
    settings = [(family, share) for family in FAMILIES for share in (0.0, 0.05)]
    tasks = [(*setting, seed) for setting in settings for seed in range(n_sets)]
    found = np.reshape(run_resumable("effect_intervals", outcome, tasks), (len(settings), n_sets, len(COLUMNS)))
    print(f"{'':<10}{'bad rows':>10}" + "".join(f"{name:>12}" for name in COLUMNS))
    table = {}
    for (family, share), values in zip(settings, found.mean(axis=1), strict=True):
        print(f"{family:<10}{share:>10.0%}" + "".join(f"{value:>12.3f}" for value in values))
        table[family, share] = values.tolist()
    print(f"{n_sets} data sets each")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    main(parser.parse_args().sets)
