"""Cases: fits of every family, with every option, from every source."""

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import robscore as rs
from benchmarks.same_bits import CASES, Fields
from benchmarks.same_bits.data import (
    circular,
    compositions,
    first_derivatives,
    in_box,
    in_two_intervals,
    named,
    pairwise,
    positive,
    real,
    second_derivatives,
    spoilt,
    statistics,
)
from benchmarks.same_bits.told import graph, of_fit, plain


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
_add("univariate gamma", plain, P(spoilt, 300, 1), U.UnivariateGamma, n_blocks=40)
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
