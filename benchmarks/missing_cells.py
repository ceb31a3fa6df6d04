"""Missing cells: filled in, beside full data, rows left out, and column medians; square-root model.

Without a penalty (m = 8, n = 2000): squared error of all parameters over that of full data. With the default choice
(m = 30, n = 1000, random and star graphs): F1, and that of as many complete rows as pairs are there. And how often 95 %
intervals cover (m = 8, n = 1000, 20 % missing), clean and with 5 % bad rows.
"""

import warnings

import numpy as np
from sklearn.metrics import f1_score

import robscore as rs
from benchmarks.kept import run_kept

SHARES = (0.1, 0.2, 0.4)
GRAPHS = ("random", "hub")


def model_of(graph: str, m: int, seed: int) -> rs.simulate.Model:
    """Edges of ±U(.5, 1), eta from {0, ±.5}, least eigenvalue .3: 3 m / 2 edges, or three hubs."""
    if graph == "random":
        return rs.simulate.random_model(m, 3 * m // 2, min_eigenvalue=0.3, random_state=seed)
    return rs.simulate.shaped_model("hub", m, min_eigenvalue=0.3, random_state=seed)


def data(truth: rs.simulate.Model, n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Full rows, and the same with a share of the cells missing completely at random."""
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=n, random_state=seed + 100)
    return X, np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


def squared_errors(task: tuple[float, int]) -> list[float]:
    """Of full data, of filled in cells, and of complete rows alone."""
    share, seed = task
    truth = rs.simulate.random_model(8, 10, min_eigenvalue=0.3, random_state=seed)
    X, holed = data(truth, 2000, share, seed)
    errors = []
    for rows, missing in ((X, "raise"), (holed, "impute"), (holed, "drop")):
        fit = rs.RobustScoreMatching("sqrt", n_blocks=1, missing=missing).fit(rows)
        upper = np.triu_indices(8)
        off = (fit.interaction_ - truth.interaction)[upper]
        errors.append(float(np.sum(off**2) + np.sum((fit.location_ - truth.location) ** 2)))
    return errors


def f1_scores(task: tuple[str, float, int]) -> list[float]:
    """Of full data, of as many complete rows as pairs are there, of filled in cells, and of column medians."""
    graph, share, seed = task
    truth = model_of(graph, 30, seed)
    X, holed = data(truth, 1000, share, seed)
    medians = np.where(np.isnan(holed), np.nanmedian(holed, axis=0), holed)
    fits = [
        rs.RobustGraph("sqrt").fit(X),
        rs.RobustGraph("sqrt").fit(X[: round((1 - share) ** 2 * 1000)]),
        rs.RobustGraph("sqrt", missing="impute").fit(holed),
        rs.RobustGraph("sqrt", n_blocks=1).fit(medians),
    ]
    pairs = np.triu_indices(30, k=1)
    return [float(f1_score(truth.adjacency[pairs], fit.graph_.adjacency[pairs])) for fit in fits]


def covered(task: tuple[float, int]) -> float:
    """Share of the pairs whose interval covers the truth, at 20 % missing, with a share of bad rows."""
    bad, seed = task
    truth = rs.simulate.random_model(8, 10, min_eigenvalue=0.3, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed + 100)
    if bad:
        X, _ = rs.simulate.contaminate_pareto(X, bad, random_state=seed)
    holed = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
    table = rs.RobustGraph("sqrt", missing="impute").fit(holed).edge_intervals()
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
            rows = run_kept(f"missing_cells-error-{share}", squared_errors, [(share, seed) for seed in range(n_sets)])
            full, filled, dropped = np.sum(rows, axis=0)
            found[f"error {share}"] = float(filled / full)
            print(f"{share:>8.0%}{filled / full:>12.2f}{dropped / full:>15.2f}", flush=True)
        print(
            f"{'graph':<8}{'missing':>8}{'full':>8}{'as many rows':>14}{'filled in':>11}{'medians':>9}   F1", flush=True
        )
        for graph in graphs:
            for share in shares:
                tasks = [(graph, share, seed) for seed in range(n_sets)]
                means = np.mean(run_kept(f"missing_cells-f1-{graph}-{share}", f1_scores, tasks), axis=0)
                found[f"f1 {graph} {share}"] = float(means[2])
                print(
                    f"{graph:<8}{share:>8.0%}{means[0]:>8.3f}{means[1]:>14.3f}{means[2]:>11.3f}{means[3]:>9.3f}",
                    flush=True,
                )
        for bad in (0.0, 0.05):
            if n_intervals:
                shares_covered = run_kept(
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
