"""What is left of the graph of Alpine rain once the season, and the month before, are known? 30 stations, square root.

Months 1911 to 1997 with a complete record, everything at its defaults. Edges of the rain as it is, given the season
(sine and cosine of the year), and given the rain of the month before as well; how many of the first graph's edges are
kept; as how many rows the months count; and how many effects of the month before are significant (false discovery rate
10 %). Needs the ECA&D file that ``robscore reproduce alps`` takes, in the folder that ROBSCORE_ECAD names; without it
the rain is simulated, with a season of its own and no memory.
"""

import os
import warnings
from pathlib import Path

import numpy as np

import robscore as rs
from robscore.paper.alps import STATIONS, YEARS

FOLDER = Path(os.environ.get("ROBSCORE_ECAD", "."))


def series(n_months: int | None) -> tuple[str, np.ndarray, np.ndarray]:
    """Return the source, the rain, shape (months, 30), and the month of the year of every row."""
    path = FOLDER / "ECA_blend_rr_alps30.zip"
    if path.exists():
        totals = rs.datasets.read_ecad(path, stations=STATIONS, years=YEARS, suspect="use", incomplete="nan")
        month = np.array([int(name[-2:]) for name in totals.months])
        return "ECA&D", totals.X[:n_months], month[:n_months]
    X = rs.datasets.simulated_alpine_rain(n_months or 1044).X
    month = np.arange(len(X)) % 12 + 1
    return "simulated", X * (1 + 0.5 * np.sin(2 * np.pi * month / 12))[:, None], month


def main(n_months: int | None = None) -> dict[str, dict[str, float]]:
    source, X, month = series(n_months)
    year = 2 * np.pi * month[1:] / 12
    season = {"sine": np.sin(year), "cosine": np.cos(year)}
    now, _ = rs.lagged(X)
    before = rs.lagged(np.sqrt(X)).covariates
    complete = ~np.isnan(np.column_stack([now, *before.values()])).any(axis=1)
    given = {"nothing": {}, "season": season, "season and past": {**season, **before}}
    table: dict[str, dict[str, float]] = {}
    plain = None
    print(f"{source} rain, {np.count_nonzero(complete)} months of {len(complete)}")
    print(f"{'given':<18}{'edges':>8}{'kept':>8}{'counted as':>12}{'effects':>10}{'of':>8}")
    for name, covariates in given.items():
        chosen = {key: values[complete] for key, values in covariates.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = rs.RobustGraph("sqrt").fit(now[complete], covariates=chosen or None)
            effects = model.effects(fdr=0.1) if chosen else None
        graph = model.graph_.adjacency
        plain = graph if plain is None else plain
        past = None if effects is None else np.array(["[-1]" in term for term in effects["covariate"]])
        table[name] = {
            "edges": model.graph_.n_edges,
            "kept": np.count_nonzero(graph & plain) / 2,
            "counted as": np.count_nonzero(complete) / model.fitted_.chosen.tau,
            "effects": 0 if past is None or effects is None else np.count_nonzero(effects["significant"][past]),
            "of": 0 if past is None else np.count_nonzero(past),
        }
        values = table[name].values()
        print(f"{name:<18}" + "".join(f"{value:>{w}.0f}" for value, w in zip(values, (8, 8, 12, 10, 8), strict=True)))
    return table


if __name__ == "__main__":
    main()
