"""Cases: what is made of fits, and the pieces that they are made of."""

import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import robscore as rs
from benchmarks.same_bits import Fields
from benchmarks.same_bits.data import (
    compositions,
    first_derivatives,
    named,
    pairwise,
    real,
    second_derivatives,
    spoilt,
    statistics,
)
from benchmarks.same_bits.fits import case
from benchmarks.same_bits.told import of_fit, of_graph, of_path


@case
def edge_intervals() -> Fields:
    fields: Fields = {}
    for name, model, X in (
        ("reweighted", rs.RobustGraph(alphas=25), named(spoilt(400, 6))),
        ("blocks", rs.RobustGraph("gaussian", n_blocks=40, alphas=25), real(300, 6)),
        ("simplex", rs.RobustGraph("simplex", n_blocks=20, alphas=25), compositions(400, 5)),
        ("rule and", rs.RobustGraph("gaussian", n_blocks=20, rule="and", alphas=25), real(300, 6)),
    ):
        model.fit(X)
        for method in ("sandwich", "subsampling"):
            for estimate in ("full", "split"):
                fields[f"{name}, {method}, {estimate}"] = model.edge_intervals(method=method, estimate=estimate)
        fields[f"{name}, auto, in blocks"] = model.edge_intervals(level=0.9, fdr=0.2, block_size=5)
    return fields


def _of_stability(found: Any) -> Fields:
    names = ("names", "frequency", "positive", "mean_edges", "n_candidates", "n_done", "n_asked", "failures")
    fields = {name: getattr(found, name) for name in names}
    return fields | {"table": found.table(), "summary": found.summary(), "false": found.expected_false(0.9)}


@case
def edge_stability() -> Fields:
    X = named(spoilt(300, 6))
    model = rs.RobustGraph(alphas=20)
    bounded = rs.edge_stability(model, X, n_pairs=4, max_false=1.0, block_size=3, progress=False, random_state=1)
    own = rs.RobustGraph(n_blocks=40, alphas=20).fit(X).edge_stability(X, n_pairs=3, progress=False)
    return {f"bounded.{name}": value for name, value in _of_stability(bounded).items()} | _of_stability(own)


@case
def equality_test() -> Fields:
    A, C = named(spoilt(250, 5)), named(spoilt(200, 5, seed=9))
    fields: Fields = {}
    for name, model, size in (
        ("reweighted", rs.RobustGraph(alphas=20), 1),
        ("in blocks", rs.RobustGraph(n_blocks=30, alphas=20), 5),
    ):
        found = rs.equality_test(model, A, C, n_permutations=99, block_size=size)
        for part in ("p_value", "statistic", "null", "difference", "pair_p_values"):
            fields[f"{name}.{part}"] = getattr(found, part)
        fields |= {f"{name}.table": found.table(), f"{name}.summary": found.summary()}
    return fields


@case
def compare_graphs() -> Fields:
    X = named(spoilt(300, 6))
    classic, robust = rs.RobustGraph(n_blocks=1, n_edges=5).fit(X), rs.RobustGraph(n_edges=6).fit(X)
    found = rs.compare_graphs(classic, robust.graph_, labels=("classic", "robust"))
    return {"first": found.first, "second": found.second, "table": found.table(), "summary": found.summary()}


@case
def graph_files() -> Fields:
    model = rs.RobustGraph(n_edges=6).fit(named(spoilt(300, 6)))
    with tempfile.TemporaryDirectory() as folder:
        model.graph_.to_graphml(Path(folder) / "graph.graphml")
        return of_graph(model.graph_) | {"graphml": (Path(folder) / "graph.graphml").read_text()}


@case
def influence_of_rows() -> Fields:
    found = rs.RobustGraph(alphas=25).fit(spoilt(300, 5)).influence_of_rows()
    return {"on_pairs": found.on_pairs, "pairs": np.array(found.pairs)}


@case
def report() -> Fields:
    X = named(spoilt(300, 6))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = rs.RobustGraph(select=("ebic", "cv"), alphas=30).fit(X)
    classic = rs.RobustGraph(n_blocks=1, alphas=30).fit(X)
    places = np.stack([46 + np.arange(6) * 0.1, 8 + (np.arange(6) * 7 % 5) * 0.3], axis=1)
    record = rs.report.record(
        model, classic=classic, title="Rain", labels=[f"day {k}" for k in range(300)], coordinates=places,
        remarks=[str(each.message) for each in caught],
    )  # fmt: skip
    simple = rs.report.record(rs.RobustGraph("gaussian", n_blocks=1, alphas=30).fit(real(300, 5)))
    pages = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, what in (("full", record), ("simple", simple), ("model", classic)):
            rs.report.write_html(what, Path(folder) / "page.html")
            pages[f"page of {name}"] = (Path(folder) / "page.html").read_text()
    return {"full": record.to_json(), "simple": simple.to_json(), **pages}


@case
def command_line() -> Fields:
    X = named(spoilt(300, 6))
    X.insert(0, "day", pd.date_range("2020-01-01", periods=300).strftime("%Y-%m-%d"))
    fields: Fields = {}
    with tempfile.TemporaryDirectory() as folder:
        X.to_csv(Path(folder) / "rain.csv", index=False)
        runs = {
            "plain": ["fit", "rain.csv", "--out", "plain"],
            "chosen": [
                "fit", "rain.csv", "--out", "chosen", "--select", "stars", "--shuffle", "--seed", "7", "--n-blocks",
                "40", "--exclude", "site f", "--set", "alphas=30", "--set", "location_ratio=10",
            ],
            "again": ["fit", "--from", "chosen/model.json", "--out", "again"],
            "fewer": ["fit", "--from", "plain/model.json", "--out", "fewer", "--edges", "3"],
            "wrong": ["fit", "rain.csv", "--alpha", "-1"],
            "dates": ["fit", "rain.csv", "--columns", "day"],
        }  # fmt: skip
        for name, arguments in runs.items():
            done = subprocess.run(
                [sys.executable, "-m", "robscore", *arguments], cwd=folder, capture_output=True, text=True, check=False,
                env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100"},
            )  # fmt: skip
            fields[f"{name}: exit code"] = done.returncode
            fields[f"{name}: stdout"], fields[f"{name}: stderr"] = done.stdout, done.stderr
            for path in sorted((Path(folder) / name).glob("*")):
                fields[f"{name}: {path.name}"] = path.read_text()
        spellings = {folder, str(Path(folder).resolve())}
        for key, value in fields.items():
            for spelling in spellings:
                fields[key] = value = value.replace(spelling, "FOLDER") if isinstance(value, str) else value
    return fields


@case
def pickles() -> Fields:
    fields: Fields = {}
    X = named(spoilt(300, 5))
    for name, model in (
        ("graph", rs.RobustGraph(alphas=25)),
        ("blocks", rs.RobustGraph("gamma", n_blocks=30, rule="or", alphas=25)),
        ("plain", rs.RobustScoreMatching("log-log")),
        ("pairwise", rs.RobustGraph(pairwise(), n_blocks=30, alphas=10)),
    ):
        again = pickle.loads(pickle.dumps(model.fit(X)))
        fields |= {f"{name}.{key}": value for key, value in of_fit(again, X).items()}
        if name != "pairwise":
            fields[f"{name}.suspicious_rows"] = again.suspicious_rows()
        if name == "graph":
            fields["graph.edge_intervals"] = again.edge_intervals()
    return fields


@case
def paths_of_losses() -> Fields:
    """The arrows one by one: elements, weights, loss, path."""
    fields: Fields = {}
    for name, X in (("sqrt", spoilt(300, 5)), ("gaussian", real(300, 5)), ("simplex", compositions(300, 5))):
        elements = rs.score_elements(name, X)
        weights = rs.robust_weights(elements, 40)
        loss = elements.average(*weights)
        fields |= {f"{name}.gamma_weights": weights[0], f"{name}.g_weights": weights[1]}
        fields |= {f"{name}.gamma": loss.gamma, f"{name}.g": loss.g}
        for rule in ("symmetric", "or"):
            found = of_path(rs.solve_path(loss, 20, rule=rule))
            fields |= {f"{name}.{rule}.{key}": value for key, value in found.items()}
    return fields


@case
def path_of_statistics() -> Fields:
    family = rs.families.ExponentialFamily(statistics, derivatives=(first_derivatives, second_derivatives))
    elements = rs.score_elements(family, real(300, 2))
    return of_path(rs.solve_path(elements.average(*rs.robust_weights(elements, 30)), 20))


@case
def medians() -> Fields:
    X = spoilt(300, 5)
    weights = np.random.default_rng(0).random(300)
    unweighted, weighted = rs.geometric_median(X), rs.geometric_median(X, weights)
    fields = {"unweighted": unweighted, "weighted": weighted, "of means": rs.median_of_means(X, 30)}
    return {name: repr(value) for name, value in fields.items()} | {"blocks": rs.n_blocks_for(1000, 0.05)}


@case
def samplers() -> Fields:
    truth = rs.simulate.random_model(5, 5, random_state=1)
    K, eta = truth.interaction, truth.location
    fields = {"interaction": K, "location": eta}
    for name in ("gaussian", "sqrt", "log-log"):
        fields[name] = rs.simulate.sample(name, K, eta, n_rows=200, random_state=2)
    for name, family in (
        ("gamma", "gamma"),
        ("truncated gaussian", "truncated-gaussian"),
        ("box", rs.families.TruncatedGaussian(domain=rs.domains.Box(-1.0, 2.0))),
        ("simplex", "simplex"),
    ):
        fields[name] = rs.simulate.sample(family, K, np.full(5, 0.3), n_rows=60, burn_in=40, random_state=2)
    X = fields["sqrt"]
    fields["pareto"], fields["bad rows"] = rs.simulate.contaminate_pareto(X, 0.1, random_state=3)
    fields["other graph"], _ = rs.simulate.contaminate_other_graph(fields["gaussian"], 0.1, n_edges=4, random_state=3)
    return fields
