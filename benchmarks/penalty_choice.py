"""F1 at the penalty that each rule chooses, beside the best on the path: square root, m = 30, n = 1000, 45 edges."""

import numpy as np
from joblib import Parallel, delayed

import robscore as rs

RULES = ("ebic", "cv", "stars")
SETTINGS = (("clean", "classic"), ("clean", "default"), ("5 % Pareto", "GMoM"), ("5 % Pareto", "default"))
OPTIONS = {"classic": {"n_blocks": 1, "reweight": False}, "GMoM": {"n_blocks": None, "reweight": False}, "default": {}}


def scores(seed: int, rows: str, method: str) -> list[float]:
    """F1 by rule, then the best on the path."""
    truth = rs.simulate.random_model(30, 45, random_state=seed)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed + 100)
    if rows != "clean":
        X = rs.simulate.contaminate_pareto(X, 0.05, random_state=seed + 200).X
    model = rs.RobustGraph("sqrt", select=RULES, random_state=0, **OPTIONS[method]).fit(X)
    on_path = np.array([rs.metrics.f1_score(K, truth.interaction) for K in model.path_.interactions])
    return [on_path[model.choices_[rule]] for rule in RULES] + [on_path.max()]


def main(n_sets: int = 10) -> dict[tuple[str, str], dict[str, float]]:
    print(f"{'rows':<14}{'method':<10}" + "".join(f"{name:>8}" for name in (*RULES, "best")))
    table = {}
    for rows, method in SETTINGS:
        mean = np.mean(Parallel(n_jobs=-1)(delayed(scores)(seed, rows, method) for seed in range(n_sets)), axis=0)
        print(f"{rows:<14}{method:<10}" + "".join(f"{value:>8.3f}" for value in mean))
        table[rows, method] = dict(zip((*RULES, "best"), mean.tolist(), strict=True))
    return table


if __name__ == "__main__":
    main()
