"""Whether code that was moved still gives the same bits: some ninety cases, recorded before and compared after.

``python -m benchmarks.same_bits record FILE [CASE ...]`` writes what every case gives: a SHA-256 of the bytes of every
array, table and text, and a few of its numbers. ``python -m benchmarks.same_bits compare FILE [CASE ...]`` runs the
cases again and says what differs. Everything is run on one thread, on data that are drawn with NumPy alone, through
public names only. Bits are equal on one machine with one set of libraries; elsewhere, record anew.
"""

import argparse
import functools
import hashlib
import json
import os
import pickle
import platform
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
os.environ.update(ONE_THREAD)  # read when NumPy is loaded

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402
from threadpoolctl import threadpool_info  # noqa: E402

import robscore as rs  # noqa: E402

KEPT = 48  # numbers of an array, and lines of a text, that are written for reading

Fields = dict[str, Any]
CASES: dict[str, Callable[[], Fields]] = {}


# --- data, all of NumPy's making


def real(n: int, m: int, seed: int = 0) -> np.ndarray:
    """A Gaussian chain: every column depends on the one before."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    for j in range(1, m):
        X[:, j] += 0.5 * X[:, j - 1]
    return X + np.arange(m) % 5


def positive(n: int, m: int, seed: int = 0) -> np.ndarray:
    """Gamma-like columns, neighbours of which share a factor."""
    rng = np.random.default_rng(seed)
    own, shared = rng.gamma(1.5, size=(n, m)), rng.gamma(2.0, size=(n, m))
    return own * (0.5 + shared / 4 + np.roll(shared, 1, axis=1) / 4) + 0.01


def spoilt(n: int, m: int, seed: int = 0, share: float = 0.05) -> np.ndarray:
    """The same, with Pareto rows among them."""
    rng = np.random.default_rng(seed + 1000)
    X = positive(n, m, seed)
    bad = rng.choice(n, round(share * n), replace=False)
    X[bad] = 10 + 5 * rng.pareto(1.0, size=(bad.size, m))
    return X


def compositions(n: int, m: int, seed: int = 0) -> np.ndarray:
    logs = 0.6 * real(n, m, seed) - 0.6 * (np.arange(m) % 5)
    return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)


def in_box(n: int, m: int, seed: int = 0) -> np.ndarray:
    return np.clip(np.tanh(real(n, m, seed) / 3) * 1.5 + 0.4, -0.99, 1.99)


def in_two_intervals(n: int, m: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1, size=(n, m)) + 2 * rng.integers(0, 2, size=(n, m))


def named(X: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"site {chr(97 + k)}" for k in range(X.shape[1])])


def tanh_pair(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.tanh(x) * np.tanh(y)


def tanh_first(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -np.tanh(x) / np.cosh(y) ** 2


def tanh_second(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 2 * np.tanh(x) * np.tanh(y) / np.cosh(y) ** 2


def minus(x: np.ndarray) -> np.ndarray:
    return -x


def minus_one(x: np.ndarray) -> np.ndarray:
    return -np.ones_like(x)


def half_square(x: np.ndarray) -> np.ndarray:
    return x**2 / 2


def itself(x: np.ndarray) -> np.ndarray:
    return x


def pairwise() -> rs.families.Pairwise:
    derivatives = {
        "pair": (tanh_first, tanh_second),
        "single": (minus_one, np.zeros_like),
        "self": (itself, np.ones_like),
    }
    return rs.families.Pairwise(tanh_pair, minus, t_self=half_square, derivatives=derivatives)


def statistics(x: np.ndarray) -> np.ndarray:
    return np.array([x[0], x[1], x[0] ** 2, x[1] ** 2, x[0] * x[1]])


def first_derivatives(X: np.ndarray) -> np.ndarray:
    x, y, one, none = X[:, 0], X[:, 1], np.ones(len(X)), np.zeros(len(X))
    return np.stack([np.stack([one, none, 2 * x, none, y], -1), np.stack([none, one, none, 2 * y, x], -1)], axis=1)


def second_derivatives(X: np.ndarray) -> np.ndarray:
    two, none = np.full(len(X), 2.0), np.zeros(len(X))
    return np.stack([np.stack([none, none, two, none, none], -1), np.stack([none, none, none, two, none], -1)], axis=1)


def circular(x: Any) -> Any:
    import jax.numpy as jnp

    return jnp.stack([jnp.cos(x[0]) * x[1], x[0] ** 2, x[1] ** 2, jnp.log(1 + x[0] ** 2 * x[1] ** 2), x[0]])


# --- what is told of a fit


def of_path(path: rs.Path | rs.StatisticPath) -> Fields:
    names = ("alphas", "alpha_max", "n_iter", "kkt", "converged")
    names += ("thetas",) if isinstance(path, rs.StatisticPath) else ("locations", "n_edges", "rule")
    fields = {f"path.{name}": getattr(path, name) for name in names}
    if isinstance(path, rs.Path):
        fields["path.interactions"] = np.asarray(path.interactions)
    return fields


def of_graph(graph: Any, name: str = "graph") -> Fields:
    return {
        f"{name}.interaction": graph.interaction,
        f"{name}.association": graph.association,
        f"{name}.n_edges": graph.n_edges,
        f"{name}.degree": json.dumps(graph.degree),
        f"{name}.summary": graph.summary(),
        f"{name}.edges": graph.edges(),
    }


def of_fit(model: Any, X: Any, *, rows: bool = False) -> Fields:
    """Everything public of a fit, and what it says of the rows; with ``rows`` the table of suspicious ones too."""
    fields: Fields = {"repr": repr(model)}
    for name in (
        "interaction_", "location_", "theta_", "row_weights_", "n_blocks_", "share_dropped_", "n_blocks_criterion_",
        "n_rows_used_", "n_features_in_", "feature_names_in_", "association_", "alpha_", "criterion_", "criteria_",
        "choices_", "n_iter_", "converged_", "rounding_",
    ):  # fmt: skip
        if hasattr(model, name):
            fields[name] = getattr(model, name)
    if isinstance(model, rs.RobustGraph):
        fields["summary"] = model.summary()
        fields["edges"] = model.edges()
        fields |= of_path(model.path_) | of_graph(model.graph_at(model.path_.alphas.size // 2), "graph_at")
    fields["row_losses"] = model.row_losses(X)
    fields["score"] = model.score(X)
    if rows:
        fields["suspicious_rows"] = model.suspicious_rows()
        some = X.iloc[::7] if isinstance(X, pd.DataFrame) else X[::7]
        fields["suspicious_rows of others"] = model.suspicious_rows(some, level=0.05)
    return fields


def graph(X: Any, *arguments: Any, rows: bool = False, **options: Any) -> Fields:
    return of_fit(rs.RobustGraph(*arguments, **{"alphas": 40, **options}).fit(X), X, rows=rows)


def plain(X: Any, *arguments: Any, rows: bool = False, **options: Any) -> Fields:
    return of_fit(rs.RobustScoreMatching(*arguments, **options).fit(X), X, rows=rows)


# --- the cases


def case(function: Callable[[], Fields]) -> Callable[[], Fields]:
    CASES[function.__name__.replace("_", " ")] = function
    return function


def _add(name: str, function: Callable[..., Fields], data: Callable[[], Any], *arguments: Any, **options: Any) -> None:
    def run() -> Fields:
        made = [given() if callable(given) else given for given in arguments]
        return function(data(), *made, **options)

    CASES[name] = run


F, B, D = rs.families, rs.boundary, rs.domains
P = functools.partial
small = {"alphas": 25}

_add("gaussian", graph, P(real, 300, 6), "gaussian", rows=True)
_add("sqrt", graph, P(positive, 300, 6), "sqrt", rows=True)
_add("gamma", graph, P(positive, 300, 5), "gamma", n_blocks=30)
_add("truncated gaussian", graph, P(positive, 300, 5), "truncated-gaussian", contamination=0.05)
_add("log-log", graph, P(positive, 300, 5), "log-log", rows=True)
_add("simplex", graph, P(compositions, 400, 5), "simplex", n_blocks=20)
_add("simplex reweighted", graph, P(compositions, 400, 4), "simplex", alphas=20)
_add("simplex with zero sums", graph, P(compositions, 400, 5), P(F.Simplex, zero_sums=True), n_blocks=20)
_add("simplex, rule and", graph, P(compositions, 400, 5), "simplex", n_blocks=1, rule="and")
_add("power 3/2 1/2", graph, P(positive, 300, 5), P(F.Power, 1.5, 0.5), n_blocks=30)
_add("power 0 1", graph, P(positive, 300, 5), P(F.Power, 0, 1), n_blocks=30, scale=None)
_add("pairwise", graph, P(real, 250, 4), pairwise, n_blocks=20)
_add("pairwise reweighted", graph, P(real, 250, 4), pairwise)
_add("capped boundary", graph, P(positive, 300, 5), lambda: F.SquareRoot(boundary=B.QuantileCappedPower(1.5, 0.8)))
_add("MCP boundary", graph, P(positive, 300, 5), lambda: F.Gamma(boundary=B.MCP(1.0, 1.5)), n_blocks=15)

_add("box", graph, P(in_box, 300, 5), lambda: F.TruncatedGaussian(domain=D.Box(-1.0, 2.0)))
_add("intervals", graph, P(in_two_intervals, 300, 5), lambda: F.SquareRoot(domain=D.Intervals([(0, 1), (2, 3)])))
_add(
    "inequality", graph, P(positive, 300, 4),
    lambda: F.SquareRoot(domain=D.NonNegative() & D.Inequality(1.0, "<=", 100.0)), n_blocks=30,
)  # fmt: skip
_add("ball", graph, P(real, 300, 4), lambda: F.Gaussian(domain=D.Inequality(1.0, ">=", 1e-3, power=2)), n_blocks=30)

_add("rule and", graph, P(spoilt, 400, 8), "sqrt", rule="and")
_add("rule or", graph, P(spoilt, 400, 8), "sqrt", rule="or", contamination=0.06)
_add("cross-validation", graph, P(spoilt, 300, 6), "sqrt", select="cv", **small)
_add("stars", graph, P(spoilt, 300, 6), "sqrt", select="stars", random_state=3, **small)
_add("several rules", graph, P(real, 300, 6), "gaussian", select=("cv", "ebic", "stars"), n_blocks=20, random_state=1)
_add("so many edges", graph, P(spoilt, 300, 8), "sqrt", n_edges=9)
_add("a given alpha", graph, P(spoilt, 300, 6), "sqrt", alpha=0.05)
_add("given alphas", graph, P(spoilt, 300, 6), "sqrt", alphas=[0.5, 0.2, 0.1, 0.03], n_blocks=50)
_add("max edges", graph, P(positive, 300, 10), "sqrt", max_edges=12)

_add("classic", graph, P(positive, 300, 6), "sqrt", n_blocks=1)
_add("blocks by the data", graph, P(spoilt, 300, 6), "sqrt", n_blocks="auto")
_add("contamination", graph, P(spoilt, 400, 6), "sqrt", contamination=0.07)
_add("shuffled", graph, P(spoilt, 300, 6), "sqrt", n_blocks=40, shuffle=True, random_state=2)
_add("partitions", graph, P(spoilt, 300, 6), "sqrt", n_blocks=40, n_partitions=4, random_state=2)
_add("blocks and reweighted", graph, P(spoilt, 300, 6), "sqrt", n_blocks=60, reweight=True)
_add("reweighted by default", graph, P(spoilt, 400, 8, share=0.1), "sqrt", rows=True)
_add("many bad rows", graph, P(spoilt, 400, 5, share=0.35), "sqrt")

_add("penalised diagonal", graph, P(real, 300, 6), "gaussian", penalize_diagonal=True, n_blocks=30)
_add("diagonal multiplier", graph, P(real, 40, 30), "gaussian", diagonal_multiplier=0.5, n_blocks=5, **small)
_add("penalised location", graph, P(spoilt, 300, 6), "sqrt", location_ratio=10.0)
_add(
    "location weights", graph, P(spoilt, 300, 4), "sqrt", location_ratio=2.0, location_weights=[1.0, 2.0, 0.0, 1.0],
    n_blocks=40,
)  # fmt: skip
_add("without location", graph, P(spoilt, 300, 6), "sqrt", fit_location=False)
_add("without scale", graph, P(positive, 300, 6), "sqrt", scale=None)
_add("loose", graph, P(real, 300, 6), "gaussian", tol=1e-2, max_iter=2)

_add("150 columns and more", graph, P(positive, 120, 160), "sqrt", n_blocks=30, n_edges=60, **small)
_add("150 columns, reweighted", graph, P(real, 200, 160), "gaussian", max_edges=200, alphas=12)
_add("150 columns, rule or", graph, P(positive, 120, 160), "sqrt", n_blocks=1, rule="or", alpha=0.4)
for storage in ("dense", "matrix-free", "float32"):
    _add(f"storage {storage}", graph, P(positive, 200, 40), "sqrt", n_blocks=30, storage=storage, max_edges=60)

_add("plain gaussian", plain, P(real, 300, 5), "gaussian", rows=True)
_add("plain sqrt", plain, P(spoilt, 300, 5), "sqrt", rows=True)
_add("plain gamma", plain, P(positive, 300, 5), "gamma", n_blocks="auto")
_add("plain truncated gaussian", plain, P(positive, 300, 5), "truncated-gaussian", n_blocks=1)
_add("plain log-log", plain, P(positive, 300, 5), "log-log", contamination=0.05, fit_location=False)
_add("plain simplex", plain, P(compositions, 400, 4), "simplex", n_blocks=20)
_add("plain simplex with zero sums", plain, P(compositions, 400, 4), P(F.Simplex, zero_sums=True), n_blocks=20)
_add("plain pairwise", plain, P(real, 250, 4), pairwise, n_blocks=20)
_add("plain partitions", plain, P(spoilt, 300, 5), "sqrt", n_blocks=40, n_partitions=3, random_state=5)
_add(
    "exponential family", plain, P(real, 300, 2),
    lambda: F.ExponentialFamily(statistics, derivatives=(first_derivatives, second_derivatives)), n_blocks=30,
)  # fmt: skip
_add("exponential family by JAX", plain, P(real, 200, 2), lambda: F.ExponentialFamily(circular), n_blocks=20)
U = F.univariate
_add("univariate normal", plain, P(real, 300, 1), U.Normal)
_add("univariate truncated normal", plain, P(positive, 300, 1), U.TruncatedNormal)
_add("univariate gamma", plain, P(spoilt, 300, 1), U.Gamma, n_blocks=40)
_add("univariate exponential", plain, P(positive, 300, 1), U.Exponential)
_add("univariate Weibull", plain, P(positive, 300, 1), P(U.Weibull, 2.5))


@case
def penalty_weights() -> Fields:
    X = named(spoilt(300, 6))
    a, b, c, d, e, f = X.columns
    W = rs.penalty_weights(X.columns, must_have=[(a, b)], forbidden=[(b, c)], groups={"g": [d, e, f]}, between=2.0)
    model = rs.RobustGraph(penalty_weights=W, alphas=40).fit(X)
    return {"weights": W} | of_fit(model, X, rows=True) | {"edge_intervals": model.edge_intervals()}


@case
def missing_cells() -> Fields:
    X = named(spoilt(300, 6))
    X.iloc[::17, 2] = np.nan
    X.iloc[5, 0] = np.nan
    return graph(X, "sqrt", missing="drop", rows=True) | {
        f"plain.{name}": value for name, value in plain(X, "sqrt", missing="drop", n_blocks=30).items()
    }


@case
def sorted_rows() -> Fields:
    """Blocks of sorted rows are warned about."""
    return graph(np.sort(positive(300, 5), axis=0), "sqrt", n_blocks=30)


@case
def rows_that_overflow() -> Fields:
    X = positive(300, 5)
    X[[7, 80]] = 1e300
    return graph(X, "sqrt")


@case
def errors() -> Fields:
    """The words of a few errors about the data and the arguments."""
    X, holed, negative = positive(100, 4), positive(100, 4), positive(100, 4)
    holed[3, 1], negative[5, 2] = np.nan, -1.0
    fields: Fields = {}
    for name, rows, options in (
        ("missing", holed, {}),
        ("negative", negative, {}),
        ("family", X, {"family": "sqare"}),
        ("edges", X, {"n_edges": 7}),
        ("rule", X, {"rule": "xor"}),
        ("select", X, {"select": "bic"}),
        ("blocks", X, {"n_blocks": 101}),
        ("both", X, {"alpha": 1.0, "n_edges": 2}),
        ("memory", X, {"max_memory": "1 kB"}),
        ("constant", np.ones((50, 3)), {}),
    ):
        try:
            rs.RobustGraph(**options).fit(rows)
        except Exception as error:  # whatever it is, it is what the user meets
            fields[name] = f"{type(error).__name__}: {error}"
    return fields


@case
def streamed_array() -> Fields:
    X = spoilt(30_000, 6)
    return graph(X, "sqrt", max_memory="1 MB", **small)


@case
def streamed_parquet() -> Fields:
    X = named(spoilt(30_000, 6))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        X.to_parquet(path, index=False, row_group_size=7000)
        model = rs.RobustGraph(n_blocks=1500, max_memory="1 MB", alphas=25).fit(path)
        by_default = rs.RobustGraph(max_memory="1 MB", alphas=25).fit(rs.ParquetRows(path))
        plain_one = rs.RobustScoreMatching("gamma", n_blocks=50, max_memory="1 MB").fit(path)
        fields = of_fit(model, path) | {"suspicious_rows": model.suspicious_rows(path)}
        return fields | {
            "default.interaction": by_default.interaction_,
            "default.row_weights": by_default.row_weights_,
            "default.summary": by_default.summary(),
            "default.suspicious_rows": by_default.suspicious_rows(),
            "default.edge_intervals": by_default.edge_intervals(),
            "plain.theta": plain_one.theta_,
        }


@case
def memory_map() -> Fields:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, spoilt(30_000, 6, seed=4))
        X = np.load(path, mmap_mode="r")
        model = rs.RobustGraph(contamination=0.06, max_memory="1 MB", alphas=25).fit(X)
        return of_fit(model, X) | {"edge_intervals": model.edge_intervals()}


@case
def dask_array() -> Fields:
    import dask
    import dask.array as da

    X = spoilt(3000, 6)
    with dask.config.set(scheduler="synchronous"):
        rows = da.from_array(X, chunks=(700, 4))
        model = rs.RobustGraph(n_blocks=200, alphas=25).fit(rows)
        by_default = rs.RobustGraph(alphas=25).fit(rows)
        return of_fit(model, rows) | {f"default.{name}": value for name, value in of_fit(by_default, rows).items()}


@case
def dask_data_frame() -> Fields:
    import dask
    import dask.dataframe as dd

    with dask.config.set(scheduler="synchronous"):
        rows = dd.from_pandas(named(spoilt(2000, 5)), npartitions=3)
        model = rs.RobustScoreMatching(contamination=0.06).fit(rows)
        return of_fit(model, rows)


@case
def polars_data_frame() -> Fields:
    import polars

    X = polars.from_pandas(named(spoilt(300, 5)))
    model = rs.RobustGraph(n_blocks=40, alphas=25).fit(X)
    return of_fit(model, X) | {
        "suspicious_rows": model.suspicious_rows().to_pandas(),
        "kind": type(model.edges()).__module__,
    }


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


# --- recording and comparing


def fields_of(name: str) -> dict[str, dict[str, Any]]:
    """What a case gives, each field by its hash and a few of its numbers; with the warnings, by their words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            given = CASES[name]()
        except Exception:  # part of the record: an error that goes away, or comes, is a difference
            given = {"error": traceback.format_exc().splitlines()[-1]}
    given["warnings"] = "\n".join(
        f"{each.category.__name__}: {each.message}" for each in caught if not _of_no_interest(each)
    )
    return {field: told for key, value in given.items() for field, told in fingerprints(key, value)}


def _of_no_interest(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, ResourceWarning | DeprecationWarning | FutureWarning)


def fingerprints(key: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Hash, kind and some numbers of a value; of tables and dictionaries, those of their parts."""
    if isinstance(value, pd.DataFrame):
        yield f"{key}.columns", _of_text(" ".join(map(str, value.columns)))
        for column in value.columns:
            yield from fingerprints(f"{key}.{column}", value[column].to_numpy())
    elif hasattr(value, "to_pandas"):
        yield from fingerprints(key, value.to_pandas())
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from fingerprints(f"{key}[{name}]", part)
    elif isinstance(value, str) or value is None:
        yield key, _of_text(str(value))
    else:
        array = np.asarray(value)
        yield key, _of_text(repr(array.tolist())) if array.dtype.kind in "OUT" else _of_array(array)


def _of_text(text: str) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text[:4000]}


def _of_array(array: np.ndarray) -> dict[str, Any]:
    flat = np.ascontiguousarray(array).ravel()
    some = flat[np.unique(np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int))] if flat.size else flat
    return {
        "sha256": hashlib.sha256(flat.tobytes()).hexdigest(),
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "some": some.tolist(),
    }


def surroundings() -> dict[str, Any]:
    """What bits depend on besides the code."""
    libraries = {module: sys.modules[module].__version__ for module in ("numpy", "scipy", "sklearn", "numba")}
    blas = sorted(
        {
            f"{info.get('architecture')} x{info['num_threads']}"
            for info in threadpool_info()
            if info["user_api"] == "blas"
        }
    )
    return {"python": platform.python_version(), **libraries, "linear algebra": ", ".join(blas)}


def run(names: list[str]) -> dict[str, Any]:
    """All fields of all cases."""
    found: dict[str, Any] = {}
    for number, name in enumerate(names, 1):
        start = time.perf_counter()
        found[name] = fields_of(name)
        print(f"{number:>3}/{len(names)}  {time.perf_counter() - start:6.1f} s  {name}", file=sys.stderr, flush=True)
    return {"surroundings": surroundings(), "cases": found}


def difference(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str | None:
    """How a field differs, in words; None where its bits are the same."""
    if old is None or new is None:
        return "was not there before" if old is None else "is gone"
    if all(old.get(part) == new.get(part) for part in ("sha256", "dtype", "shape")):
        return None
    if "text" in old and "text" in new:
        pairs = zip(old["text"].splitlines(), new["text"].splitlines(), strict=False)
        line = next((f"{a[:200]!r} became {b[:200]!r}" for a, b in pairs if a != b), "further on, or in length")
        return f"text: {line}"
    if "text" in old or "text" in new or old["shape"] != new["shape"] or old["dtype"] != new["dtype"]:
        kinds = [f"{each.get('dtype', 'text')} {each.get('shape', '')}" for each in (old, new)]
        return f"{kinds[0]} became {kinds[1]}"
    a, b = np.array(old["some"], dtype=float), np.array(new["some"], dtype=float)
    apart = np.abs(a - b)[~((a == b) | (np.isnan(a) & np.isnan(b)))]
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    if not apart.size:
        return f"equal in the {a.size} numbers kept, but not in all"
    return (
        f"up to {apart.max():.3g} apart in {apart.size} of the {a.size} numbers kept, the largest being {largest:.3g}"
    )


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """A line for every field that differs."""
    lines = []
    for name, fields in new["cases"].items():
        before = old["cases"].get(name)
        if before is None:
            lines.append(f"{name}: was not recorded")
            continue
        for field in dict.fromkeys([*before, *fields]):
            words = difference(before.get(field), fields.get(field))
            if words:
                lines.append(f"{name}: {field}: {words}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_bits", description=__doc__)
    parser.add_argument("action", choices=("record", "compare", "list"))
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="all of them by default")
    arguments = parser.parse_args()
    if arguments.action == "list":
        print("\n".join(CASES))
        return
    if arguments.file is None:
        parser.error("a FILE is needed")
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no case called {', '.join(sorted(unknown))}; `list` shows all")
    print(f"robscore from {Path(rs.__file__).parent}", file=sys.stderr)
    old = json.loads(arguments.file.read_text()) if arguments.action == "compare" else None
    new = run(arguments.cases or list(CASES))
    count = sum(map(len, new["cases"].values()))
    if old is None:
        arguments.file.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n")
        print(f"{len(new['cases'])} cases with {count} fields recorded")
        return
    if old["surroundings"] != new["surroundings"]:
        print(f"surroundings: {old['surroundings']} became {new['surroundings']}")
    lines = differences(old, new)
    print("\n".join([*lines, f"{len(new['cases'])} cases with {count} fields compared: {len(lines)} differ"]))
    sys.exit(bool(lines))


if __name__ == "__main__":
    main()
