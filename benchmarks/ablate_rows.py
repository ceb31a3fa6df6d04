"""Every number of the row rule halved, doubled and taken out: what each is worth.

A line for every change of `RowRule`; shares that cannot be doubled are moved towards their ends.
What is printed is the difference to the rule as it is, which the first line shows:

- bad rows: area under the ROC curve lost to the fit without the bad rows, five families of 20
  columns and five kinds of damage (1000 rows, one data set each), in thousandths;
- clean rows: weight lost by clean rows, five families of 200 rows, in thousandths;
- same answer: edges that differ after other orders of rows and columns and noise of the last bit,
  on scikit-learn's tables, in all;
- halves, as they are / with bad rows: mean error over that of the classic fit (see `real_halves`),
  every fifth table that is for choosing, with Pareto rows and rows moved by six deviations, in per
  cent;
- rain: edges of the clean Alpine rain that are kept with 5 % Pareto months, in thousandths (needs
  the file of `alpine_months`).

A star marks a change that moves a column by more than .005 (halves: 2 %, same answer: 3 edges).
Results are stored: a run that was stopped goes on where it was.
"""

import argparse
import dataclasses
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks import alpine_months, bad_rows, real_halves, sensitivity
from benchmarks.tools import public_tables
from benchmarks.tools.resumable import run_resumable
from benchmarks.tools.simulated import SHAPES, model_and_rows
from robscore.paper.alps import MONTHS, STATIONS, YEARS

M = 20
DAMAGES = ("20% Pareto", "15% at 4 sd", "10% half zero", "5% one unit", "10% permuted")
EVERY_TABLE = 5  # of those for choosing
RAIN_SEEDS = 4
COLUMNS = {
    "bad rows": (1000.0, 5.0),
    "clean rows": (1000.0, 5.0),
    "same answer": (1.0, 3.0),
    "halves as they are": (100.0, 2.0),
    "halves, bad rows": (100.0, 2.0),
    "rain": (1000.0, 5.0),
}  # fmt: skip - how they are scaled, and from where on there is a star

Rule = dict[str, Any]
_SHARES = {
    "central": ({"central": 0.55}, {"central": 0.85}),
    "shrinkage": ({"shrinkage": 0.05}, {"shrinkage": 0.2}),
    "largest_cluster": ({"largest_cluster": 0.2}, {"largest_cluster": 0.49}),
    "bulk": ({"bulk": (0.05, 0.6)}, {"bulk": (0.1, 0.5)}),
    "shoulder": ({"shoulder": 0.65}, {"shoulder": 0.8}),
    "heaviest": ({"heaviest": 1.5}, {"heaviest": 6.0}),
    "doubt": ({"doubt": 1.75}, {"doubt": 4.9}),
    "certainty": ({"certainty": 3.6}, {"certainty": 10.0}),
    "most": ({"most": 0.2}, {"most": 0.8}),
    "fits": ({"fits": 2}, {"fits": 8}),
}
_WITHOUT = {
    "clusters": {"largest_cluster": 0.0},
    "shrinkage": {"shrinkage": 0.0},
    "the heavier tail": {"heaviest": 1.0},
    "rising doubt": {"doubt": 3.5, "certainty": 3.5001},
    "margin": {"margin": 0.0},
    "overfit": {"overfit": 0.0},
    "width of the taper": {"width": 0.0},
    "bands": {"band": 0.0},
    "a second fit": {"fits": 1},
    "looking for single rows": {"alone": 1e-300},
}


def changes() -> dict[str, Rule]:
    """Give the changes of the rule by what they are called; guards of time are left out."""
    found: dict[str, Rule] = {"as it is": {}}
    for field in dataclasses.fields(rs.RowRule):
        if field.name == "most_rows":
            continue
        default = field.default
        less, more = _SHARES.get(field.name) or ({field.name: default / 2}, {field.name: default * 2})
        if isinstance(default, int):
            less, more = ({name: max(int(value), 1) for name, value in one.items()} for one in (less, more))
        for one in (less, more):
            found[", ".join(f"{name} {value}" for name, value in one.items())] = one
    return {**found, **{f"without {name}": one for name, one in _WITHOUT.items()}}


def one(task: tuple[str, Any, Rule]) -> float | None:
    """Return what a column shows of one case under a rule; None where a case is absent."""
    column, case, rule = task
    own = rs.RowRule(**{name: tuple(value) if isinstance(value, list) else value for name, value in rule.items()})
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return _OF_COLUMN[column](case, own)


def _bad_rows(case: tuple[str, str], rule: rs.RowRule) -> float:
    family, damage = case
    truth, X, bad = bad_rows.damaged(family, SHAPES[0], M, 0, damage)
    return _without_bad_rows(family, damage, bad.tobytes()) - bad_rows.area(family, X, truth, reweight=rule)[0]


@cache
def _without_bad_rows(family: str, damage: str, bad: bytes) -> float:
    truth, X, _ = bad_rows.damaged(family, SHAPES[0], M, 0, damage)
    kept = np.delete(X, np.frombuffer(bad, dtype=np.intp), axis=0)
    return bad_rows.area(family, kept, truth, n_blocks=1)[0]


def _clean_rows(case: tuple[str, int], rule: rs.RowRule) -> float:
    family, number = case
    _, X = model_and_rows(family, SHAPES[number], M, 200, number)
    weights = rs.RobustGraph(family, n_edges=M, alphas=10, reweight=rule).fit(X).row_weights_[:, 0]
    return 1 - float(np.mean(weights / weights.max()))


def _same_answer(case: tuple[str, str], rule: rs.RowRule) -> float:
    name, family = case
    X = sensitivity.rows_of(name, family)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    noisy = X * (1 + 1e-15 * rng.normal(size=X.shape))
    graphs = [rs.RobustGraph(family, reweight=rule).fit(each).graph_.adjacency for each in (X, noisy[rows][:, columns])]
    return int((graphs[0][np.ix_(columns, columns)] != graphs[1]).sum()) // 2


def _halves(case: tuple[str, str], rule: rs.RowRule) -> float | None:
    name, damage = case
    found = real_halves.halves(name, 0)
    A = None if found is None else real_halves.damaged(found[0], damage, 0)
    if found is None or A is None:
        return None
    aim, pairs = real_halves.reference(name, 0), np.triu_indices(A.shape[1], k=1)
    try:
        errors = [
            np.linalg.norm((real_halves.associations(X, **options)[0] - aim)[pairs])
            for X, options in ((found[0], {"n_blocks": 1}), (A, {"reweight": rule}))
        ]
    except ValueError:
        return None
    return float(errors[1] / errors[0])


def _rain(seed: int, rule: rs.RowRule) -> float | None:
    path = alpine_months.FOLDER / "ECA_blend_rr_alps30.zip"
    if not path.exists():
        return None
    X = rs.datasets.read_ecad(path, stations=STATIONS, years=YEARS, months=MONTHS, suspect="use").X
    clean = alpine_months.fitted(X, n_blocks=1).graph_.adjacency
    dirty = rs.simulate.contaminate_pareto(X, 0.05, random_state=[seed, 5]).X
    return float(alpine_months.fitted(dirty, reweight=rule).graph_.adjacency[clean].mean())


_OF_COLUMN = {
    "bad rows": _bad_rows, "clean rows": _clean_rows, "same answer": _same_answer, "halves as they are": _halves,
    "halves, bad rows": _halves, "rain": _rain,
}  # fmt: skip


def cases(every_table: int = EVERY_TABLE) -> dict[str, list[Any]]:
    """Return the cases of every column."""
    tables = (
        [] if public_tables.absent() else [n for n in public_tables.public_tables() if public_tables.is_for_choosing(n)]
    )
    families = bad_rows.FAMILIES
    return {
        "bad rows": [(family, damage) for family in families for damage in DAMAGES],
        "clean rows": [(family, number) for family in families for number in range(2)],
        "same answer": [(name, family) for name in ("wine", "diabetes", "breast cancer") for family in families[:2]],
        "halves as they are": [(name, "as they are") for name in tables[::every_table]],
        "halves, bad rows": [(n, damage) for n in tables[::every_table] for damage in ("Pareto", "six deviations")],
        "rain": list(range(RAIN_SEEDS)),
    }


def main(names: Sequence[str] | None = None, columns: Sequence[str] = tuple(COLUMNS)) -> dict[str, dict[str, float]]:
    """Print a line for every change of the rule; the means by change and column."""
    rules = {name: rule for name, rule in changes().items() if names is None or name in ("as it is", *names)}
    of_column = cases()
    tasks = [(column, case, rule) for rule in rules.values() for column in columns for case in of_column[column]]
    found = iter(run_resumable("ablate_rows", one, tasks))
    table: dict[str, dict[str, float]] = {}
    print(f"{'':<28}" + "".join(f"{name:>20}" for name in columns), flush=True)
    for name in rules:
        own = table[name] = {}
        for column in columns:
            values = [value for _ in of_column[column] if (value := next(found)) is not None]
            mean = np.sum if column == "same answer" else np.mean
            own[column] = COLUMNS[column][0] * float(mean(values)) if values else np.nan
        base = table["as it is"]
        cells = []
        for column in columns:
            moved = own[column] - (base[column] if name != "as it is" else 0.0)
            star = " *" if name != "as it is" and abs(moved) > COLUMNS[column][1] else "  "
            cells.append(f"{moved:>18.1f}{star}" if np.isfinite(moved) else f"{'':>20}")
        print(f"{name:<28}" + "".join(cells), flush=True)
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", help="changes by their names")
    main(parser.parse_args().only)
