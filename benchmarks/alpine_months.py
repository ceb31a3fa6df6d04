"""Real rain at 30 Alpine stations with Pareto months mixed in: what is kept of the clean graph, 45 edges, 20 runs.

Needs the ECA&D file that ``robscore reproduce alps`` takes, in the folder that ROBSCORE_ECAD names.
"""

import os
import warnings
from pathlib import Path

import numpy as np

import robscore as rs
from robscore.paper.alps import MONTHS, STATIONS, YEARS

EDGES = 45
SHARES = (0.05, 0.1, 0.2)
FOLDER = Path(os.environ.get("ROBSCORE_ECAD", "."))


def fitted(X: np.ndarray, **options: object) -> rs.RobustGraph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rs.RobustGraph("sqrt", n_edges=EDGES, **options).fit(X)


def measured(X: np.ndarray, share: float, seed: int) -> dict[str, float]:
    """Return the shares of the clean edges kept, and rows that are flagged and count in full."""
    clean = fitted(X, n_blocks=1).graph_.adjacency
    dirty, bad = rs.simulate.contaminate_pareto(X, share, random_state=[seed, 5])
    model, oracle = fitted(dirty), fitted(np.delete(X, bad, axis=0), n_blocks=1)
    weights = model.row_weights_[:, 0]
    table = model.suspicious_rows()
    flagged = np.asarray(table["row"])[np.asarray(table["flagged"])]
    return {
        "kept": float(model.graph_.adjacency[clean].mean()),
        "kept without bad rows": float(oracle.graph_.adjacency[clean].mean()),
        "bad in full": float(np.mean(weights[bad] >= weights.max() * (1 - 1e-9))),
        "flagged in full": float(np.sum(weights[flagged] >= weights.max() * (1 - 1e-9))),
    }


def main(n_runs: int = 20, shares: tuple[float, ...] = SHARES) -> dict[float, dict[str, float]]:
    path = FOLDER / "ECA_blend_rr_alps30.zip"
    if not path.exists():
        print(f"skipped: {path.name} is not in the folder that ROBSCORE_ECAD names")
        return {}
    X = rs.datasets.read_ecad(path, stations=STATIONS, years=YEARS, months=MONTHS, suspect="use").X
    table = {}
    for share in shares:
        runs = [measured(X, share, seed) for seed in range(n_runs)]
        table[share] = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
        if share == shares[0]:
            print(f"{'bad':<6}" + "".join(f"{name:>24}" for name in table[share]))
        print(f"{share:<6.0%}" + "".join(f"{value:>24.3f}" for value in table[share].values()), flush=True)
    print("bad in full: share of the bad months that count in full; flagged in full: flagged months that do, per run.")
    return table


if __name__ == "__main__":
    main()
