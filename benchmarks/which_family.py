"""Whether the true family is found: best, or not told apart; clean rows and 5 % Pareto rows.

Five families with locations of +-1/2 (Power(3/2, 1/2) passed explicitly), 10 columns with 500 and 2000 rows, 30 columns
with 2000, ten data sets each. Then square-root rows without a location, which are rows of the gamma family too.
"""

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import NAMES, POSITIVE, family_called, rows_with_locations

SIZES = ((10, 500), (10, 2000), (30, 2000))
SHARES = (0.0, 0.05)
MOST = 2000


def measured(task: tuple[str, int, int, float, int]) -> dict[str, str]:
    """Return the verdict on every family for one data set."""
    name, m, n, share, seed = task
    X = (
        rows_with_locations("sqrt", m, MOST, seed, (0.0,))
        if name == "both"
        else rows_with_locations(name, m, MOST, seed)
    )
    X = X[:n]
    if share:
        X = rs.simulate.contaminate_pareto(X, share, random_state=seed).X
    table = rs.compare_families(X, [family_called(one) for one in POSITIVE])
    verdicts = dict(zip(table["family"], table["verdict"], strict=True))
    return {one: str(verdicts[NAMES[one]]) for one in POSITIVE}


def main(
    n_sets: int = 10, sizes: tuple[tuple[int, int], ...] = SIZES, shares: tuple[float, ...] = SHARES
) -> dict[tuple[str, int, int, float], dict[str, float]]:
    cells = [(name, m, n, share) for m, n in sizes for share in shares for name in (*POSITIVE, "both")]
    found = run_resumable("which_family", measured, [(*cell, k) for cell in cells for k in range(n_sets)])
    print(f"{'truth':<20}{'m':>4}{'n':>6}{'bad':>5}{'best':>7}{'kept':>7}  " + "".join(f"{n:>20}" for n in POSITIVE))
    table, kept_all = {}, []
    for k, cell in enumerate(cells):
        sets = found[k * n_sets : (k + 1) * n_sets]
        true = ("sqrt", "gamma") if cell[0] == "both" else (cell[0],)
        kept = [all(one[name] != "worse" for name in true) for one in sets]
        best = [any(one[name] == "best" for name in true) for one in sets]
        worse = {name: float(np.mean([one[name] == "worse" for one in sets])) for name in POSITIVE}
        table[cell] = {"best": float(np.mean(best)), "kept": float(np.mean(kept)), **worse}
        kept_all += kept
        name, m, n, share = cell
        print(
            f"{name:<20}{m:>4}{n:>6}{share:>5.0%}{np.mean(best):>7.0%}{np.mean(kept):>7.0%}  "
            + "".join(f"{value:>20.0%}" for value in worse.values())
        )
    print(
        f"kept: the true family is best or not told apart; over all {np.mean(kept_all):.1%}. Then the share of data "
        "sets in which each family is called worse. both: rows of the square-root and of the gamma family alike."
    )
    return table


if __name__ == "__main__":
    main()
