"""What is told of a fit."""

import json
from typing import Any

import numpy as np
import pandas as pd

import robscore as rs
from benchmarks.same_bits import Fields


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
