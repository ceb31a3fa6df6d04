"""Whether ``check_fit`` keeps its level of 5 % at the true family, and how often it finds a wrong one.

8 columns, 1000 rows, locations of +-1/2, five shapes of graphs; 300 data sets per family at the truth, clean and with 5
% Pareto rows, and 40 for every wrong family. Rows are weighed as by default.
"""

import warnings

import numpy as np

import robscore as rs
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import POSITIVE, family_called, rows_with_locations

M, N = 8, 1000
FAMILIES = ("gaussian", *POSITIVE)


def measured(task: tuple[str, str, float, int]) -> float:
    """Return the p-value for one data set: rows of one family, checked as another."""
    truth, name, share, seed = task
    X = rows_with_locations(truth, M, N, seed)
    if share:
        shift = 0.0 if (X >= 0).all() else X.mean(axis=0) - X.std(axis=0)
        X = rs.simulate.contaminate_pareto(X - shift, share, random_state=seed).X + shift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return rs.RobustScoreMatching(family_called(name)).fit(X).check_fit().p_value
        except ValueError:  # so few rows are left that nothing can be checked
            return 0.0


def main(
    n_sets: int = 300, n_bad: int = 300, n_wrong: int = 40, families: tuple[str, ...] = FAMILIES
) -> dict[str, dict[str, float]]:
    tasks = [(name, name, 0.0, k) for name in families for k in range(n_sets)]
    tasks += [(name, name, 0.05, k) for name in families for k in range(n_bad)]
    positive = [name for name in families if name != "gaussian"]
    tasks += [(truth, name, 0.0, k) for truth in positive for name in positive if name != truth for k in range(n_wrong)]
    p_values = dict(zip(tasks, run_resumable("fit_checked", measured, tasks), strict=True))

    def rejected(truth: str, name: str, share: float, level: float = 0.05) -> float:
        found = [p for task, p in p_values.items() if task[:3] == (truth, name, share)]
        return float(np.mean(np.array(found) < level)) if found else np.nan

    header = f"{'truth':<20}{'5%':>7}{'0.1%':>7}{'bad':>7}   checked as" + "".join(f"{n:>20}" for n in positive)
    print(header)
    table = {}
    for truth in families:
        own = {
            "5%": rejected(truth, truth, 0.0), "0.1%": rejected(truth, truth, 0.0, 0.001),
            "bad": rejected(truth, truth, 0.05),
        }  # fmt: skip
        wrong = {name: rejected(truth, name, 0.0) for name in positive if name != truth and truth != "gaussian"}
        table[truth] = {**own, **wrong}
        cells = "".join(f"{wrong[name]:>20.0%}" if name in wrong else f"{'':>20}" for name in positive)
        print(f"{truth:<20}{own['5%']:>7.1%}{own['0.1%']:>7.1%}{own['bad']:>7.1%}   {'':<10}{cells}")
    means = [float(np.mean([row[name] for row in table.values()])) for name in ("5%", "bad")]
    print(f"On the mean of the families {means[0]:.1%}, with bad rows {means[1]:.1%}.")
    print(f"{n_sets} data sets per family, {n_bad} with bad rows, {n_wrong} for each wrong family.")
    return table


if __name__ == "__main__":
    main()
