"""Wrong cells: cells=True compared with the default, with the fit for which wrong cells are known, and with rivals.

Square root, n = 1000, random and star graphs: Pareto cells (3 x column median x (1 + Pareto(1)); on the real line that
many standard deviations above the median), cells exchanged within their column, bad rows alone, both, and clean. Then
Pareto cells for other families, on random graphs. F1 at the default choice, and the area under the ROC curve of the
path. Beside cells=True ("cells") the fit in which wrong cells and rows are given as missing ("known"), and one in which
the cells are missing that somebody calls wrong who knows the true parameters, the share and the density of wrong cells
("flags"). Rivals: cells beyond 3.5 median deviations set to the column median, and a classic fit ("medians"); normal
scores and a graphical lasso ("scores", only the area: it chooses no penalty). Last, decimal-point faults in the
breast-cancer table: how far associations move from those of the table as it is, over how far those of a classic fit
do; once at the chosen penalty, which may jump, and once for the same number of edges.
"""

import argparse
import warnings

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.covariance import graphical_lasso
from sklearn.metrics import f1_score

import robscore as rs
from benchmarks.missing_cells import model_of
from benchmarks.tools.oracle_flags import column_density, flags_by_truth, pareto_density
from benchmarks.tools.resumable import run_resumable
from benchmarks.unusual_cells import table_of
from robscore._tools.deviations import MAD

FAULTS = (
    ("clean", 0.0),
    ("Pareto", 0.02),
    ("Pareto", 0.05),
    ("Pareto", 0.1),
    ("exchanged", 0.02),
    ("exchanged", 0.05),
    ("exchanged", 0.1),
    ("rows", 0.05),
    ("rows", 0.2),
    ("both", 0.02),
)
FAMILIES = ("sqrt", "gamma", "truncated-gaussian", "log-log", "gaussian")
SHARES = (0.01, 0.02, 0.05)
WAYS = ("default", "cells", "known", "flags", "medians", "scores")
ROWS_OF_BOTH = 0.05  # bad rows, beside wrong cells
PENALTIES = 20  # of the graphical lasso
EDGES_OF_BOTH = 60  # at which associations are compared, too: there the choice of the penalty plays no part

Task = tuple[str, str, str, float, int, int]


def spoilt(
    X: np.ndarray, fault: str, share: float, seed: int, *, on_line: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with wrong cells, and which these are; all of those of bad rows."""
    if fault == "both":
        Y, wrong = spoilt(X, "Pareto", share, seed, on_line=on_line)
        spoilt_rows, in_bad = spoilt(X, "rows", ROWS_OF_BOTH, seed)
        return np.where(in_bad, spoilt_rows, Y), wrong | in_bad
    if fault == "rows":
        spoilt_rows, bad = rs.simulate.contaminate_pareto(X, share, random_state=seed)
        return spoilt_rows, np.isin(np.arange(len(X)), bad)[:, None] & np.ones(X.shape, dtype=bool)
    rng = np.random.default_rng([seed, 1])
    wrong = rng.random(X.shape) < share
    if fault == "Pareto":
        middle = np.median(X, axis=0)
        times = 3 * (1 + rng.pareto(1.0, size=X.shape))
        return np.where(wrong, middle + times * X.std(axis=0) if on_line else times * middle, X), wrong
    Y = X.copy()
    if fault == "exchanged":
        for j in range(X.shape[1]):
            rows = np.flatnonzero(wrong[:, j])
            Y[rows, j] = X[rng.permutation(rows), j]
    return Y, wrong & (fault != "clean")


def normal_scores(Y: np.ndarray) -> np.ndarray:
    """Return every column as normal quantiles of its ranks, shape (n, m)."""
    return np.asarray(ndtri((rankdata(Y, axis=0) - 0.5) / len(Y)))


def lasso_path(correlation: np.ndarray) -> np.ndarray:
    """Return the precisions of a graphical lasso, shape (penalties, m, m)."""
    largest = np.abs(correlation - np.eye(len(correlation))).max()
    return np.stack(
        [graphical_lasso(correlation, alpha=alpha)[1] for alpha in largest * np.geomspace(1, 0.02, PENALTIES)]
    )


def one(task: Task) -> dict[str, float]:
    """Return F1 and area of every way; shares of wrong cells that are flagged, and of good ones."""
    family, graph, fault, share, m, seed = task
    truth = model_of(graph, m, seed)
    X = rs.simulate.sample(family, truth.interaction, truth.location, n_rows=1000, random_state=seed + 100)
    Y, wrong = spoilt(X, fault, share, seed, on_line=family == "gaussian")
    away = np.abs(Y - np.median(Y, axis=0)) / (MAD * np.median(np.abs(Y - np.median(Y, axis=0)), axis=0))
    cells = rs.RobustGraph(family, cells=True).fit(Y)
    fits = {
        "default": rs.RobustGraph(family).fit(Y),
        "cells": cells,
        "medians": rs.RobustGraph(family, n_blocks=1).fit(np.where(away > 3.5, np.median(Y, axis=0), Y)),
    }
    good = ~wrong.all(axis=1)
    if wrong.any():
        fits["known"] = rs.RobustGraph(family, missing="impute").fit(np.where(wrong, np.nan, Y)[good])
    if fault in ("Pareto", "exchanged"):
        log_q = column_density(X) if fault == "exchanged" else pareto_density(X, on_line=family == "gaussian")
        flags = flags_by_truth(rs.families.get_family(family), truth, Y, log_q, share, seed)
        fits["flags"] = rs.RobustGraph(family, missing="impute").fit(np.where(flags, np.nan, Y))
    pairs = np.triu_indices(m, k=1)
    found = {
        "area scores": rs.metrics.auc(
            rs.metrics.roc_curve(lasso_path(np.corrcoef(normal_scores(Y).T)), truth.adjacency)
        )
    }
    for name, fit in fits.items():
        found[f"f1 {name}"] = float(f1_score(truth.adjacency[pairs], fit.graph_.adjacency[pairs]))
        found[f"area {name}"] = rs.metrics.auc(rs.metrics.roc_curve(fit.path_, truth.adjacency))
    flagged = cells.fitted_.prepared.filling.suspects.likely_wrong
    scattered = wrong & good[:, None]
    found["found"] = float(flagged[scattered].mean()) if scattered.any() else np.nan
    found["false"] = float(flagged[~wrong].mean())
    return found


def moved(task: tuple[float, int]) -> list[float]:
    """Return how far decimal-point faults move associations: classic and cells=True, by default and for 60 edges."""
    share, seed = task
    X = table_of("breast cancer")
    rng = np.random.default_rng(seed)
    Y = np.where(rng.random(X.shape) < share, X * np.where(rng.random(X.shape) < 0.5, 10.0, 0.1), X)
    distances = []
    for edges in (None, EDGES_OF_BOTH):
        for more in ({"n_blocks": 1}, {"cells": True}):
            model = rs.RobustGraph("log-log", n_edges=edges, **more)
            before, after = (model.fit(rows).graph_.association for rows in (X, Y))
            distances.append(float(np.linalg.norm(after - before)))
    return distances


def _cell_of_table(means: dict[str, float], way: str) -> str:
    if f"area {way}" not in means:
        return f"{'':>14}"
    f1 = f"{means[f'f1 {way}']:.3f}" if f"f1 {way}" in means else ""
    return f"{f1} ({means[f'area {way}']:.3f})".rjust(14)


def main(
    n_sets: int = 10,
    faults: tuple[tuple[str, float], ...] = FAULTS,
    graphs: tuple[str, ...] = ("random", "hub"),
    m: int = 30,
    families: tuple[str, ...] = FAMILIES,
    columns: tuple[int, ...] = (20, 50),
    shares: tuple[float, ...] = SHARES,
    decimals: tuple[float, ...] = (0.02, 0.05),
) -> dict[tuple[str, str, str, float, int], dict[str, float]]:
    """Print F1 (area) of every way, by family, graph and fault; and what decimal-point faults move."""
    settings = [("sqrt", graph, fault, share, m) for graph in graphs for fault, share in faults]
    settings += [(family, "random", "Pareto", share, k) for family in families for k in columns for share in shares]
    print(f"{'':<40}" + "".join(f"{way:>14}" for way in WAYS) + "   found, false", flush=True)
    table = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for setting in settings:
            rows = run_resumable(
                "wrong_cells-" + "-".join(map(str, setting)), one, [(*setting, k) for k in range(n_sets)]
            )
            means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
            table[setting] = means
            family, graph, fault, share, k = setting
            print(
                f"{family:<19}{graph:<7}{k:>3} {fault + f' {share:.0%}':<10}"
                + "".join(_cell_of_table(means, way) for way in WAYS)
                + f"   {means['found']:.2f}, {means['false']:.4f}",
                flush=True,
            )
        for share in decimals:
            distances = run_resumable(f"wrong_cells-decimals-{share}", moved, [(share, seed) for seed in range(n_sets)])
            for (classic, cells), edges in zip(
                np.mean(distances, axis=0).reshape(2, 2), ("chosen", EDGES_OF_BOTH), strict=True
            ):
                print(
                    f"decimal points in {share:.0%} of the cells, {edges} edges: associations move {cells:.2f}, "
                    f"classic {classic:.2f}, ratio {cells / classic:.2f}",
                    flush=True,
                )
    print(f"{n_sets} data sets each")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--size", type=int, default=30, help="columns, of the table of faults")
    parser.add_argument("--graphs", nargs="*", default=("random", "hub"), help="of that table")
    parser.add_argument(
        "--decimals", type=float, nargs="*", default=(0.02, 0.05), help="shares of decimal-point faults"
    )
    parser.add_argument("--columns", type=int, nargs="*", default=(20, 50), help="of the table of families")
    parser.add_argument("--shares", type=float, nargs="*", default=SHARES, help="of wrong cells, in that table")
    parser.add_argument("--families", nargs="*", default=FAMILIES)
    parser.add_argument("--faults", nargs="*", default=None, help="of the square root: by name, all shares")
    arguments = parser.parse_args()
    main(
        arguments.sets,
        faults=tuple(fault for fault in FAULTS if arguments.faults is None or fault[0] in arguments.faults),
        graphs=tuple(arguments.graphs),
        m=arguments.size,
        decimals=tuple(arguments.decimals),
        families=tuple(arguments.families),
        columns=tuple(arguments.columns),
        shares=tuple(arguments.shares),
    )
