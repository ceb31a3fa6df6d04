"""AUC of graphs whose columns all follow covariates: ignored, and given; m = 30, n = 1000, 10 data sets.

Beside the fit to rows of the same graph that follow nothing, without covariates and given some that do nothing. Effects
of a covariate are drawn from Uniform(.5, 1) times the strength, the same sign in all columns. Everything at its
defaults; bad rows are Pareto rows, or for the Gaussian rows far off on both sides.
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools.resumable import run_resumable

N, M, EDGES = 1000, 30, 30
FAMILIES = ("sqrt", "gaussian")
STRENGTHS = {"weak": 0.3, "strong": 1.0}
COLUMNS = ("no confounding", "ignored", "given", "given nothing")


def bad_rows(family: str, X: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return the rows with a share of bad ones."""
    if not share:
        return X
    if family == "gaussian":
        return rs.simulate.contaminate_symmetric(X, share, strength=10.0, random_state=[seed, 5]).X
    return rs.simulate.contaminate_pareto(X, share, random_state=[seed, 5]).X


def outcome(task: tuple[str, int, str, float, int]) -> list[float]:
    """Return the four AUCs of one data set."""
    family, q, strength, share, seed = task
    rng = np.random.default_rng([seed, q])
    truth = rs.simulate.random_model(M, EDGES, random_state=[seed, 1])
    c = rng.normal(size=(N, q))
    effects = STRENGTHS[strength] * rng.uniform(0.5, 1, size=(M, q)) / np.sqrt(q)
    location = np.ones(M)
    draws = [
        rs.simulate.sample(
            family, truth.interaction, location, covariates=c, effects=part, burn_in=100, random_state=[seed, 2]
        )
        for part in (effects, 0 * effects)
    ]
    confounded, plain = (bad_rows(family, X, share, seed) for X in draws)
    areas = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for X, given in ((plain, None), (confounded, None), (confounded, c), (plain, c)):
            path = rs.RobustGraph(family).fit(X, covariates=given).path_
            areas.append(rs.metrics.auc(rs.metrics.roc_curve(path, truth.interaction)))
    return areas


def main(n_sets: int = 10, families: tuple[str, ...] = FAMILIES) -> dict[tuple[str, int, str, float], list[float]]:
    settings = [(family, q, s, e) for family in families for q in (1, 3) for s in STRENGTHS for e in (0.0, 0.05)]
    tasks = [(*setting, seed) for setting in settings for seed in range(n_sets)]
    found = np.reshape(run_resumable("covariates", outcome, tasks), (len(settings), n_sets, len(COLUMNS)))
    print(f"{'':<10}{'covariates':>11}{'effects':>9}{'bad rows':>10}" + "".join(f"{name:>16}" for name in COLUMNS))
    table = {}
    for (family, q, strength, share), values in zip(settings, found.mean(axis=1), strict=True):
        print(f"{family:<10}{q:>11}{strength:>9}{share:>10.0%}" + "".join(f"{value:>16.3f}" for value in values))
        table[family, q, strength, share] = values.tolist()
    print(f"{n_sets} data sets each")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10)
    main(parser.parse_args().sets)
