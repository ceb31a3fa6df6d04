"""Cases: missing and wrong cells, covariates, moderators, series, choice of the family, and very many rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import robscore as rs
from benchmarks.same_bits import Fields
from benchmarks.same_bits.data import compositions, named, positive, real, spoilt
from benchmarks.same_bits.fits import case
from benchmarks.same_bits.told import of_fit


def with_missing(X: np.ndarray, share: float = 0.08, seed: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = X.copy()
    X[rng.random(X.shape) < share] = np.nan
    return X


def with_wrong(X: np.ndarray, n_wrong: int = 12, seed: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = X.copy()
    X[rng.choice(len(X), n_wrong, replace=False), rng.integers(0, X.shape[1], n_wrong)] *= 10
    return X


def _all_of(name: str, fields: Fields) -> Fields:
    return {f"{name}.{key}": value for key, value in fields.items()}


def _of_cells(model: Any, X: np.ndarray) -> Fields:
    fields = of_fit(model, X, rows=True)
    for number, table in enumerate(model.imputations(2)):
        fields[f"imputation {number}"] = np.asarray(table)
    fields["cautions"] = "\n".join(model.cautions_)
    if isinstance(model, rs.RobustGraph):
        fields["intervals"] = model.edge_intervals()
        fields["predictability"] = model.predictability()
    return fields


@case
def missing_imputed() -> Fields:
    fields: Fields = {}
    for name, X in (
        ("gaussian", real(200, 5)),
        ("sqrt", spoilt(200, 5)),
        ("gamma", positive(200, 4)),
        ("log-log", positive(200, 4)),
        ("truncated-gaussian", positive(200, 4)),
    ):
        X = with_missing(X)
        model = rs.RobustGraph(name, missing="impute", alphas=20).fit(X)
        fields |= _all_of(name, _of_cells(model, X))
    X = with_missing(real(200, 4))
    fields |= _all_of("plain", of_fit(rs.RobustScoreMatching("gaussian", missing="impute").fit(X), X))
    X = with_missing(real(300, 5))
    model = rs.RobustGraph("gaussian", missing="impute", n_blocks=1, alphas=20).fit(X, sample_weight=np.arange(300) % 3)
    fields |= _all_of("weighted", of_fit(model, X))
    return fields | {"new rows": np.asarray(model.imputations(1, with_missing(real(50, 5, 3)))[0])}


@case
def wrong_cells() -> Fields:
    fields: Fields = {}
    for name, X in (("gaussian", with_wrong(real(200, 5))), ("sqrt", with_wrong(positive(200, 5)))):
        model = rs.RobustGraph(name, cells=True, alphas=20).fit(X)
        fields |= _all_of(name, _of_cells(model, X)) | {f"{name}.cells": model.suspicious_cells()}
    X = with_missing(with_wrong(real(250, 4)))
    model = rs.RobustGraph("gaussian", cells=True, missing="impute", alphas=20).fit(X)
    fields |= _all_of("both", _of_cells(model, X)) | {"both.cells": model.suspicious_cells()}
    with tempfile.TemporaryDirectory() as folder:
        rs.report.write_html(rs.report.record(model), Path(folder) / "page.html")
        fields["page"] = (Path(folder) / "page.html").read_text()
    return fields


@case
def missing_in_streams() -> Fields:
    X = with_missing(spoilt(6000, 6), 0.05)
    with tempfile.TemporaryDirectory() as folder:
        pd.DataFrame(X, columns=list("abcdef")).to_parquet(Path(folder) / "rows.parquet", row_group_size=1000)
        rows = rs.ParquetRows(Path(folder) / "rows.parquet")
        model = rs.RobustGraph("sqrt", missing="impute", alphas=15, max_memory="1 MB")
        try:
            return of_fit(model.fit(rows), X)
        except Exception as error:  # recorded too
            return {"refused": f"{type(error).__name__}: {error}"}


@case
def covariates() -> Fields:
    rng = np.random.default_rng(2)
    given = pd.DataFrame({"height": rng.normal(size=300), "side": rng.choice(["north", "south"], 300)})
    fields: Fields = {}
    for name, X in (("gaussian", real(300, 5)), ("sqrt", spoilt(300, 5))):
        model = rs.RobustGraph(name, alphas=20).fit(named(X), covariates=given)
        fields[f"{name}.interaction"], fields[f"{name}.effects_"] = model.interaction_, model.effects_
        fields[f"{name}.effects"] = model.effects()
        fields[f"{name}.intervals"] = model.edge_intervals()
        fields[f"{name}.losses"] = model.row_losses(named(X), covariates=given)
        fields[f"{name}.rows"] = model.suspicious_rows()
        fields[f"{name}.summary"] = model.summary()
        fields[f"{name}.check"] = str(model.check_fit())
    X = with_missing(real(300, 4))
    model = rs.RobustGraph("gaussian", missing="impute", alphas=15).fit(named(X), covariates=given)
    return fields | {"missing.effects": model.effects(), "missing.interaction": model.interaction_}


@case
def moderators() -> Fields:
    rng = np.random.default_rng(3)
    groups, number = pd.DataFrame({"group": rng.choice(list("uvw"), 450)}), pd.DataFrame({"age": rng.normal(size=450)})
    fields: Fields = {}
    for name, by, value in (("groups", groups, "v"), ("number", number, 1.0)):
        X = named(real(450, 4) * (1 + 0.3 * (groups["group"] == "u").to_numpy()[:, None]))
        model = rs.RobustGraph("gaussian", alphas=20).fit(X, moderators=by)
        fields[f"{name}.interaction"] = model.interaction_
        fields[f"{name}.differences"] = model.differences()
        fields[f"{name}.for value"] = model.interaction_for(value)
        fields[f"{name}.graph"] = model.graph_for(value).edges()
        fields[f"{name}.summary"] = model.summary()
        fields[f"{name}.moderations"] = model.moderations_
    return fields


@case
def series() -> Fields:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 3))
    for row in range(1, 500):
        X[row] += 0.5 * X[row - 1]
    data = rs.lagged(named(X))
    model = rs.RobustGraph("gaussian", alphas=20).fit(data.X, covariates=data.covariates)
    return {
        "interaction": model.interaction_,
        "autoregression": rs.autoregression(model),
        "effects": model.effects(block_size="auto"),
        "summary": rs.RobustGraph("gaussian", alphas=20).fit(X).summary(),
    }


@case
def choice_of_the_family() -> Fields:
    fields: Fields = {}
    for name, X in (
        ("real", real(300, 4)), ("positive", positive(300, 4)), ("shares", compositions(300, 4)),
        ("missing", with_missing(positive(300, 4))),
    ):  # fmt: skip
        model = rs.RobustGraph("auto", alphas=15, missing="impute" if name == "missing" else "raise").fit(X)
        fields[f"{name}.family"], fields[f"{name}.summary"] = str(model.family_), model.summary()
        fields[f"{name}.interaction"], fields[f"{name}.score"] = model.interaction_, model.score(X)
        fields[f"{name}.check"] = "" if name == "shares" else str(model.check_fit())
        fields[f"{name}.table"] = rs.compare_families(X)
    return fields


@case
def very_many_rows() -> Fields:
    fields: Fields = {}
    X = spoilt(60_000, 5)
    model = rs.RobustGraph("sqrt", alphas=15).fit(X)
    fields["interaction"], fields["summary"] = model.interaction_, model.summary()
    fields["error"] = model.sampled_.interaction_error
    model = rs.RobustGraph("gaussian", alphas=15, missing="impute").fit(with_missing(real(60_000, 4), 0.03))
    fields["missing.interaction"], fields["missing.summary"] = model.interaction_, model.summary()
    return fields


@case
def weighted_rows() -> Fields:
    weight = np.arange(400) % 4
    fields: Fields = {}
    for name, X in (("gaussian", real(400, 5)), ("sqrt", spoilt(400, 5))):
        model = rs.RobustGraph(name, alphas=20).fit(X, sample_weight=weight)
        fields |= _all_of(name, of_fit(model, X, rows=True))
        fields[f"{name}.intervals"] = model.edge_intervals()
    return fields
