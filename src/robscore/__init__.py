"""robscore: sparse graphs, and the parameters of any exponential family, from data with bad rows."""

from __future__ import annotations

import importlib

from robscore._version import __version__

TYPE_CHECKING = False  # as type checkers know it; loading typing for it would be most of the time that this takes
if TYPE_CHECKING:
    from typing import Any

    from robscore import (
        boundary,
        datasets,
        domains,
        families,
        medians,
        metrics,
        plot,
        report,
        selection,
        simulate,
        theory,
    )
    from robscore.cells.cell_rule import CellRule
    from robscore.certainty.same_graph import compare_graphs, equality_test
    from robscore.certainty.stability import edge_stability
    from robscore.estimators import RobustGraph, RobustScoreMatching
    from robscore.families.family import score_elements
    from robscore.families.identifiability import check_identifiable
    from robscore.family_choice import compare_families
    from robscore.log_ratios import mclr
    from robscore.medians import geometric_median, median_of_means, n_blocks_for
    from robscore.reading import read_table
    from robscore.rows import ArrowRows, ParquetRows
    from robscore.series import autoregression, lagged
    from robscore.solvers.path import Path, StatisticPath, solve_path
    from robscore.structure import penalty_weights
    from robscore.weighting.block_weights import robust_weights
    from robscore.weighting.row_rule import RowRule

# Public names and where they live; loaded on first use, so that `robscore --help` is quick.
_HOMES = {
    "ArrowRows": "rows",
    "CellRule": "cells.cell_rule",
    "ParquetRows": "rows",
    "Path": "solvers.path",
    "RobustGraph": "estimators",
    "RobustScoreMatching": "estimators",
    "RowRule": "weighting.row_rule",
    "StatisticPath": "solvers.path",
    "autoregression": "series",
    "check_identifiable": "families.identifiability",
    "compare_families": "family_choice",
    "compare_graphs": "certainty.same_graph",
    "edge_stability": "certainty.stability",
    "equality_test": "certainty.same_graph",
    "geometric_median": "medians",
    "lagged": "series",
    "mclr": "log_ratios",
    "median_of_means": "medians",
    "n_blocks_for": "medians",
    "penalty_weights": "structure",
    "read_table": "reading",
    "robust_weights": "weighting.block_weights",
    "score_elements": "families",
    "solve_path": "solvers.path",
}
_MODULES = (
    "boundary",
    "datasets",
    "domains",
    "families",
    "medians",
    "metrics",
    "plot",
    "report",
    "selection",
    "simulate",
    "theory",
)

__all__ = [
    "ArrowRows",
    "CellRule",
    "ParquetRows",
    "Path",
    "RobustGraph",
    "RobustScoreMatching",
    "RowRule",
    "StatisticPath",
    "__version__",
    "autoregression",
    "boundary",
    "check_identifiable",
    "compare_families",
    "compare_graphs",
    "datasets",
    "domains",
    "edge_stability",
    "equality_test",
    "families",
    "geometric_median",
    "lagged",
    "mclr",
    "median_of_means",
    "medians",
    "metrics",
    "n_blocks_for",
    "penalty_weights",
    "plot",
    "read_table",
    "report",
    "robust_weights",
    "score_elements",
    "selection",
    "simulate",
    "solve_path",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(f"robscore.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"robscore.{name}")
    else:
        raise AttributeError(f"module 'robscore' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
