"""F1 of the edges with all defaults, with other settings, and of rivals: square root, m = 30, n = 1000, 20 data sets.

Every method sees the same data. The graphical lasso (scikit-learn, cross-validated) is given standardised columns.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.covariance import GraphicalLassoCV
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import robscore as rs

N, M, EDGES = 1000, 30, 45
SETTINGS = (("clean", 0.0), ("Pareto", 0.05), ("Pareto", 0.1), ("Pareto", 0.2), ("other graph", 0.1))
METHODS: dict[str, dict[str, object] | None] = {
    "everything default": {},
    "classic, eBIC": {"n_blocks": 1, "reweight": False, "select": "ebic"},
    "graphical lasso, CV": None,
    "K = 200, eBIC": {"n_blocks": 200, "reweight": False, "select": "ebic"},
    "K = 200, 20 partitions, eBIC": {"n_blocks": 200, "n_partitions": 20, "reweight": False, "select": "ebic"},
    "K auto, eBIC": {"n_blocks": "auto", "reweight": False, "select": "ebic"},
    "reweighted, eBIC": {"n_blocks": "auto", "reweight": True, "select": "ebic"},
    "reweighted, CV": {"n_blocks": "auto", "reweight": True, "select": "cv"},
    "reweighted, StARS": {"n_blocks": "auto", "reweight": True, "select": "stars"},
}


def scores(seed: int, kind: str, share: float, methods: tuple[str, ...]) -> list[float]:
    """Return F1 of every method on one data set."""
    truth = rs.simulate.random_model(M, EDGES, random_state=[seed, 1])
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N, random_state=[seed, 2])
    if kind == "Pareto":
        X = rs.simulate.contaminate_pareto(X, share, random_state=[seed, 3]).X
    elif kind == "other graph":
        X = rs.simulate.contaminate_other_graph(X, share, n_edges=EDGES, random_state=[seed, 3]).X
    result = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for method in methods:
            options = METHODS[method]
            if options is None:
                K = GraphicalLassoCV().fit(StandardScaler().fit_transform(X)).precision_
            else:
                K = rs.RobustGraph(**{"random_state": 0, **options}).fit(X).interaction_
            result.append(rs.metrics.f1_score(K, truth.interaction))
    return result


def main(
    n_sets: int = 20,
    settings: tuple[tuple[str, float], ...] = SETTINGS,
    methods: tuple[str, ...] = tuple(METHODS),
) -> dict[str, dict[str, float]]:
    labels = [kind if not share else f"{share:.0%} {kind}" for kind, share in settings]
    columns = []
    for kind, share in settings:
        sets = Parallel(n_jobs=-1)(delayed(scores)(seed, kind, share, methods) for seed in range(n_sets))
        columns.append(np.array(sets))
    print(f"{'F1, mean (standard error)':<32}" + "".join(f"{label:>17}" for label in labels))
    for k, name in enumerate(methods):
        cells = [(values[:, k].mean(), values[:, k].std(ddof=1) / np.sqrt(n_sets)) for values in columns]
        print(f"{name:<32}" + "".join(f"{f'{mean:.3f} ({error:.3f})':>17}" for mean, error in cells))
    lost = columns[0][:, 1] - columns[0][:, 0]
    error = lost.std(ddof=1) / np.sqrt(n_sets)
    print(f"lost on clean data against classic, eBIC: {lost.mean():.4f} ± {error:.4f} (standard error)")
    return {
        label: dict(zip(methods, values.mean(axis=0).tolist(), strict=True))
        for label, values in zip(labels, columns, strict=True)
    }


if __name__ == "__main__":
    main()
