"""Area under the ROC curve when the contamination is not known: square root, m = 100, n = 1000, 500 edges, 10 sets.

Bad rows are Pareto draws or rows of ordinary size from another graph; the oracle drops exactly the bad rows.
"""

import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

import robscore as rs

N, M, EDGES = 1000, 100, 500
SETTINGS = (
    ("clean", 0.0),
    ("Pareto", 0.05),
    ("Pareto", 0.1),
    ("Pareto", 0.2),
    ("other graph", 0.05),
    ("other graph", 0.1),
)


def areas(seed: int, kind: str, share: float, m: int = M, n_edges: int = EDGES) -> dict[str, float]:
    """Return the areas of one data set by method, and how well bad rows are found by their score."""
    truth = rs.simulate.random_model(m, n_edges, random_state=[seed, 1])
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N, random_state=[seed, 2])
    bad = np.array([], dtype=int)
    if kind == "Pareto":
        X, bad = rs.simulate.contaminate_pareto(X, share, random_state=[seed, 3])
    elif kind == "other graph":
        X, bad = rs.simulate.contaminate_other_graph(X, share, n_edges=n_edges, random_state=[seed, 3])

    def fitted(X: np.ndarray, **options: object) -> rs.RobustGraph:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # penalties at the dense end that do not converge
            return rs.RobustGraph("sqrt", scale=None, tol=1e-4, max_iter=200, **options).fit(X)

    def area(model: rs.RobustGraph) -> float:
        return rs.metrics.auc(rs.metrics.roc_curve(model.path_, truth.interaction))

    with threadpool_limits(1):
        reweighted = fitted(X, n_blocks="auto", reweight=True)
        table = reweighted.suspicious_rows()
        result = {
            "classic": area(fitted(X, n_blocks=1, reweight=False)),
            "4 eps n": area(fitted(X, n_blocks=rs.n_blocks_for(N, share), reweight=False)),
            "auto": area(fitted(X, n_blocks="auto", reweight=False)),
            "reweight": area(reweighted),
            "oracle": area(fitted(np.delete(X, bad, axis=0), n_blocks=1, reweight=False)),
            "flagged": float(np.mean(table["flagged"])),
        }
    if bad.size:
        score = np.empty(N)
        score[table["row"]] = table["score"]
        result["rows"] = float(roc_auc_score(np.isin(np.arange(N), bad), score))
    return result


def main(n_sets: int = 10, m: int = M, n_edges: int = EDGES, settings: tuple = SETTINGS) -> dict:
    names = ("classic", "4 eps n", "auto", "reweight", "oracle", "rows", "flagged")
    print(f"{'bad rows':<18}" + "".join(f"{name:>10}" for name in names))
    table = {}
    for kind, share in settings:
        sets = Parallel(n_jobs=-1)(delayed(areas)(seed, kind, share, m, n_edges) for seed in range(n_sets))
        mean = {name: float(np.mean([one[name] for one in sets])) for name in sets[0]}
        label = kind if not share else f"{share:.0%} {kind}"
        print(f"{label:<18}" + "".join(f"{mean[name]:>10.4f}" if name in mean else f"{'':>10}" for name in names))
        table[kind, share] = mean
    print("rows: area under the ROC curve for telling bad rows by their score; flagged: share of all rows flagged.")
    return table


if __name__ == "__main__":
    main()
