"""Missing cells: filled in, compared with full data, rows left out, and column medians; square-root model.

Without a penalty (m = 8, n = 2000): squared error of all parameters over that of full data. With the default choice
(m = 30, n = 1000, random and star graphs): F1 and the AUC of the path, and those of as many complete rows as pairs are
observed. The bias where large values of one column hide its neighbour: missing at random, but not completely. And how
often 95 % intervals cover (m = 8, n = 1000, 20 % missing), clean and with 5 % bad rows.

Results are stored: a run that was stopped goes on where it was.
"""

import warnings

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

import robscore as rs
from benchmarks.tools.resumable import run_resumable

SHARES = (0.1, 0.2, 0.4)
GRAPHS = ("random", "hub")


def model_of(graph: str, m: int, seed: int) -> rs.simulate.Model:
    """Return a model with 3 m / 2 edges or three hubs: edges ±U(.5, 1), eta from {0, ±.5}, least eigenvalue .3."""
    if graph == "random":
        return rs.simulate.random_model(m, 3 * m // 2, min_eigenvalue=0.3, random_state=seed)
    return rs.simulate.shaped_model("hub", m, min_eigenvalue=0.3, random_state=seed)


def data(truth: rs.simulate.Model, n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return full rows, and the same with a share of the cells missing completely at random."""
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 100)
    return X, np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def squared_errors(task: tuple[float, int]) -> list[float]:
    """Return the squared errors of full data, of filled in cells, and of complete rows alone."""
    share, seed = task
    truth = rs.simulate.random_model(8, 10, min_eigenvalue=0.3, random_state=seed)
    X, incomplete = data(truth, 2000, share, seed)
    errors = []
    for rows, missing in ((X, "raise"), (incomplete, "impute"), (incomplete, "drop")):
        fit = rs.RobustScoreMatching("sqrt", n_blocks=1, missing=missing).fit(rows)
        upper = np.triu_indices(8)
        off = (fit.interaction_ - truth.interaction)[upper]
        errors.append(float(np.sum(off**2) + np.sum((fit.location_ - truth.location) ** 2)))
    return errors


def hidden(task: tuple[int]) -> list[list[float]]:
    """Return errors of K_kj and K_kk, of full data, of filled in cells, and of complete rows alone.

    The neighbour j of column k is missing where column k has one of its largest 30 % of values.
    """
    (seed,) = task
    truth = rs.simulate.random_model(8, 10, min_eigenvalue=0.3, random_state=seed)
    X, _ = data(truth, 2000, 0.0, seed)
    k, j = (int(end) for end in np.argwhere(np.triu(truth.adjacency, k=1))[0])
    incomplete = X.copy()
    incomplete[X[:, k] > np.quantile(X[:, k], 0.7), j] = np.nan
    errors = []
    for rows, missing in ((X, "raise"), (incomplete, "impute"), (incomplete, "drop")):
        fit = rs.RobustScoreMatching("sqrt", n_blocks=1, missing=missing).fit(rows)
        off = fit.interaction_ - truth.interaction
        errors.append([float(off[k, j]), float(off[k, k])])
    return errors


def path_auc(fit: rs.RobustGraph, truth: rs.simulate.Model) -> float:
    """Return the area under the ROC curve of the order in which pairs enter the path."""
    m = len(truth.adjacency)
    entered = np.zeros((m, m))
    for k, alpha in enumerate(fit.path_.alphas):
        entered = np.where((entered == 0) & (np.asarray(fit.path_.interactions[k]) != 0), alpha, entered)
    pairs = np.triu_indices(m, k=1)
    return float(roc_auc_score(truth.adjacency[pairs], entered[pairs]))


def f1_scores(task: tuple[str, float, int]) -> list[list[float]]:
    """Return F1 and AUC of full data, as many complete rows as pairs are observed, filled in cells, and medians."""
    graph, share, seed = task
    truth = model_of(graph, 30, seed)
    X, incomplete = data(truth, 1000, share, seed)
    medians = np.where(np.isnan(incomplete), np.nanmedian(incomplete, axis=0), incomplete)
    fits = [
        rs.RobustGraph("sqrt").fit(X),
        rs.RobustGraph("sqrt").fit(X[: round((1 - share) ** 2 * 1000)]),
        rs.RobustGraph("sqrt", missing="impute").fit(incomplete),
        rs.RobustGraph("sqrt", n_blocks=1).fit(medians),
    ]
    pairs = np.triu_indices(30, k=1)
    f1 = [float(f1_score(truth.adjacency[pairs], fit.graph_.adjacency[pairs])) for fit in fits]
    return [f1, [path_auc(fit, truth) for fit in fits]]


def covered(task: tuple[float, int]) -> float:
    """Return the share of the pairs whose interval covers the truth, at 20 % missing, with a share of bad rows."""
    bad, seed = task
    truth = rs.simulate.random_model(8, 10, min_eigenvalue=0.3, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed + 100)
    if bad:
        X, _ = rs.simulate.contaminate_pareto(X, bad, random_state=seed)
    incomplete = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
    table = rs.RobustGraph("sqrt", missing="impute").fit(incomplete).edge_intervals()
    at = [[int(name[1:]) for name in table[end]] for end in ("source", "target")]
    K = truth.interaction[at[0], at[1]]
    return float(np.mean((table["interaction_low"] <= K) & (table["interaction_high"] >= K)))


def main(
    n_sets: int = 10,
    n_intervals: int = 200,
    shares: tuple[float, ...] = SHARES,
    graphs: tuple[str, ...] = GRAPHS,
) -> dict[str, float]:
    """Print the three tables; what was found, by what it is."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(
            f"{'missing':>8}{'filled in':>12}{'rows left out':>15}   squared error over that of full data", flush=True
        )
        for share in shares:
            rows = run_resumable(
                f"missing_cells-error-{share}", squared_errors, [(share, seed) for seed in range(n_sets)]
            )
            full, filled, dropped = np.sum(rows, axis=0)
            found[f"error {share}"] = float(filled / full)
            print(f"{share:>8.0%}{filled / full:>12.2f}{dropped / full:>15.2f}", flush=True)
        print(
            f"{'graph':<8}{'missing':>8}{'full':>14}{'as many rows':>14}{'filled in':>14}{'medians':>14}   F1 (AUC)",
            flush=True,
        )
        for graph in graphs:
            for share in shares:
                tasks = [(graph, share, seed) for seed in range(n_sets)]
                f1, auc = np.mean(run_resumable(f"missing_cells-f1-{graph}-{share}", f1_scores, tasks), axis=0)
                found[f"f1 {graph} {share}"], found[f"auc {graph} {share}"] = float(f1[2]), float(auc[2])
                both = "".join(f"{f'{one:.2f} ({other:.3f})':>14}" for one, other in zip(f1, auc, strict=True))
                print(f"{graph:<8}{share:>8.0%}{both}", flush=True)
        errors = np.array(run_resumable("missing_cells-hidden", hidden, [(seed,) for seed in range(n_sets)]))
        print("large values hide the neighbour: mean error (and standard error) of K_kj, and of K_kk", flush=True)
        for name, own in zip(("full", "filled in", "rows left out"), np.moveaxis(errors, 1, 0), strict=True):
            found[f"bias {name}"] = float(own[:, 0].mean())
            spread = own.std(axis=0, ddof=1) / np.sqrt(len(own)) if len(own) > 1 else np.full(2, np.nan)
            pairs = "".join(
                f"{f'{mean:+.2f} ({error:.2f})':>16}" for mean, error in zip(own.mean(axis=0), spread, strict=True)
            )
            print(f"{name:<14}{pairs}", flush=True)
        for bad in (0.0, 0.05):
            if n_intervals:
                shares_covered = run_resumable(
                    f"missing_cells-covered-{bad}", covered, [(bad, seed) for seed in range(n_intervals)]
                )
                found[f"covered {bad}"] = float(np.mean(shares_covered))
                print(
                    f"95 % intervals, {bad:.0%} bad rows: {found[f'covered {bad}']:.1%} of {n_intervals} x 28 pairs",
                    flush=True,
                )
    return found


if __name__ == "__main__":
    main()
