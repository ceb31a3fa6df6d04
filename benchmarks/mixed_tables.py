"""Tables of mixed columns: the Gaussian copula, other ways, and the latent numbers themselves.

24 columns, a sixth each log-normal, of two values, of five answers, zero below a limit, Poisson
counts of mean 3, and t with 2 degrees of freedom; each is a function of a latent normal number,
with 30 edges between these. Rows are clean, or 5 % of them are bad in one of five ways: Pareto
values from three medians upwards in the numeric columns, every cell from another row, every latent
number moved six deviations up or down, the same answer to all questions ("straight lines"), copies
of one row.

"latent rows" knows the latent numbers of the good rows. F1 is that of the method's own choice,
"area" that under the ROC curve along its path, "lost" the share of good rows that lose all weight,
"time" that of the fit by one core, over that of the Gaussian on as many latent rows. Slope and
error (root mean square) compare associations without a penalty with the true latent ones; "nulls"
is how often a true null is rejected at 5 %, "covered" how often a 95 % interval of an association
holds the truth.

Results are stored: a run that was stopped goes on where it was.
"""

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import poisson, rankdata
from scipy.stats import t as student
from sklearn.covariance import GraphicalLassoCV, graphical_lasso
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools.measure import clocked
from benchmarks.tools.resumable import run_resumable

M, EDGES, SHARE = 24, 30, 0.05
ROWS = (500, 1500)
DAMAGES = ("clean", "Pareto", "other rows", "six deviations", "straight lines", "copies")
METHODS = ("copula", "copula, n_blocks=1", "auto", "normal scores", "scores, GraphicalLassoCV", "latent rows")
COLUMNS = ("F1", "area", "lost", "time", "slope", "error", "nulls", "covered")
ANSWERS = np.arange(M) % 6 == 2
NUMERIC = ~np.isin(np.arange(M) % 6, (1, 2))
COUNTS = np.arange(M) % 6 == 4
_CERTAIN = 1e-12  # probabilities closer to 0 or 1 have no quantile that is finite


def columns_of(Z: np.ndarray) -> np.ndarray:
    """Return the six kinds of columns in turn, as functions of latent numbers."""
    probability = np.clip(ndtr(Z), _CERTAIN, 1 - _CERTAIN)
    kinds = (
        np.exp(Z),
        Z > 0.2,
        np.digitize(Z, [-1.2, -0.4, 0.3, 1.1]),
        np.maximum(Z + 0.25, 0.0),
        poisson.ppf(probability, 3),
        student.ppf(probability, 2),
    )
    return np.choose(np.arange(M) % 6, kinds).astype(float)


def damaged(Z: np.ndarray, damage: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the table of latent rows Z, shape (n, M), of which a share is bad, and which rows are, shape (n,)."""
    X, bad = columns_of(Z), np.zeros(len(Z), dtype=bool)
    if damage == "clean":
        return X, bad
    rows = rng.choice(len(Z), round(SHARE * len(Z)), replace=False)
    bad[rows], shape = True, (rows.size, M)
    if damage == "Pareto":
        values = 3 * np.median(np.abs(X), axis=0) * (1 + rng.pareto(1, size=shape))
        X[rows] = np.where(NUMERIC, np.where(COUNTS, np.round(values), values), X[rows])
    elif damage == "other rows":
        X[rows] = X[rng.integers(len(Z), size=shape), np.arange(M)]
    elif damage == "six deviations":
        X[rows] = columns_of(Z[rows] + 6 * rng.choice([-1.0, 1.0], size=shape))
    elif damage == "straight lines":
        X[rows] = np.where(ANSWERS, rng.integers(5, size=(rows.size, 1)), X[rows])
    else:
        X[rows] = X[rows[0]]
    return X, bad


def normal_scores(X: np.ndarray) -> np.ndarray:
    """Return the normal quantiles of ranks, the middle ones of values that several rows share."""
    return ndtri((rankdata(X, axis=0) - 0.5) / len(X))


def outcome(task: tuple[int, str, int]) -> dict[str, list[float]]:
    """Return the COLUMNS of every method on one data set."""
    n, damage, seed = task
    truth = rs.simulate.random_model(M, EDGES, random_state=seed)
    K, covariance = truth.interaction, np.linalg.inv(truth.interaction)
    deviation = np.sqrt(covariance.diagonal())
    rng = np.random.default_rng([seed, n])
    Z = rng.multivariate_normal(np.zeros(M), covariance / np.multiply.outer(deviation, deviation), size=n)
    X, bad = damaged(Z, damage, rng)
    tables: dict[str, tuple[str, np.ndarray, dict[str, Any]]] = {
        "copula": ("copula", X, {}),
        "copula, n_blocks=1": ("copula", X, {"n_blocks": 1}),
        "auto": ("auto", X, {}),
        "normal scores": ("gaussian", normal_scores(X), {}),
        "latent rows": ("gaussian", Z[~bad], {}),
    }
    found = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for family in ("copula", "gaussian"):
            rs.RobustGraph(family).fit(X[:100])  # compiles, or loads what is compiled
        unit, _ = clocked(partial(rs.RobustGraph("gaussian", random_state=0).fit, Z), time.process_time)
        for name, (family, rows, options) in tables.items():
            model = rs.RobustGraph(family, random_state=0, **options)
            seconds, _ = clocked(partial(model.fit, rows), time.process_time)
            is_bad = bad[~bad] if name == "latent rows" else bad
            found[name] = measures(model, K, is_bad, seconds / unit)
        scores = normal_scores(X)
        seconds, lasso = clocked(partial(GraphicalLassoCV().fit, scores), time.process_time)
        found["scores, GraphicalLassoCV"] = [
            rs.metrics.f1_score(lasso.precision_, K),
            rs.metrics.auc(rs.metrics.roc_curve(lasso_path(scores), K)),
            np.nan,
            seconds / unit,
            *[np.nan] * 4,
        ]
    return found


def measures(model: rs.RobustGraph, K: np.ndarray, bad: np.ndarray, duration: float) -> list[float]:
    """Return the COLUMNS of a fit, where K is the truth."""
    table = model.edge_intervals()
    position = {name: k for k, name in enumerate(model.graph_.names)}
    i, j = (np.array([position[name] for name in table[end]]) for end in ("source", "target"))
    size = np.sqrt(K.diagonal())
    true = (-K / np.multiply.outer(size, size))[i, j]
    found, low, high = (np.asarray(table[name]) for name in ("association", "association_low", "association_high"))
    return [
        rs.metrics.f1_score(model.interaction_, K),
        rs.metrics.auc(rs.metrics.roc_curve(model.path_, K)),
        float(np.mean(model.row_weights_[~bad] == 0)),
        duration,
        float(found @ true / (true @ true)),
        float(np.sqrt(np.mean((found - true) ** 2))),
        float(np.mean(np.asarray(table["p_value"])[true == 0] < 0.05)),
        float(np.mean((low <= true) & (true <= high))),
    ]


def lasso_path(Y: np.ndarray) -> np.ndarray:
    """Return the solutions of the graphical lasso for 40 penalties, shape (40, M, M)."""
    correlation = np.corrcoef(Y.T)
    largest = np.abs(correlation - np.eye(M)).max()
    return np.array([graphical_lasso(correlation, alpha)[1] for alpha in np.geomspace(largest, largest / 100, 40)])


def main(
    n_sets: int = 4,
    rows: tuple[int, ...] = ROWS,
    damages: tuple[str, ...] = DAMAGES,
) -> dict[tuple[int, str, str], dict[str, float]]:
    """Print a table for every damage; what was found, by number of rows, damage and method."""
    found = {}
    for n in rows:
        tasks = [(n, damage, seed) for damage in damages for seed in range(n_sets)]
        outcomes = run_resumable(f"mixed_tables-{n}", outcome, tasks)
        for damage in damages:
            own = [one for task, one in zip(tasks, outcomes, strict=True) if task[1] == damage]
            heading = f"{n} rows, {damage}" if damage == "clean" else f"{n} rows, {SHARE:.0%} bad: {damage}"
            print(f"{heading:<34}" + "".join(f"{name:>9}" for name in COLUMNS), flush=True)
            for method in METHODS:
                means = np.mean([one[method] for one in own], axis=0)
                cells = "".join(
                    f"{'-':>9}" if np.isnan(mean) else f"{mean:>9.{digits}f}"
                    for mean, digits in zip(means, (3, 3, 3, 1, 2, 3, 3, 3), strict=True)
                )
                print(f"{method:<34}{cells}", flush=True)
                found[n, damage, method] = dict(zip(COLUMNS, means.tolist(), strict=True))
            print(flush=True)
    print(f"Means of {n_sets} data sets each.", flush=True)
    return found


if __name__ == "__main__":
    main()
