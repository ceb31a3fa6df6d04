"""Whether a fit of one half of a public table agrees with the other half, as it is and with bad rows in it.

The tables of `real_tables`, complete rows, cut at random into halves A and B of at most 1000 rows.
The associations of the copula on A, without a penalty, are compared with those of B where all rows
count ("classic"): the root of the sum of squared differences, over that of classic on A as it is.
In 5 % of the rows of A, in columns of more than ten values: Pareto values from three medians
upwards; all of the cells, of any column, from other rows; six deviations up or down; one column ten
times too large; one column stuck at a value.

"Without bad rows" is classic on the rows that were not touched: nobody who looks for bad rows can
be expected to do better, and a twentieth of the rows less moves some tables by more than a tenth.

Printed for every damage and variant: mean and median over tables, in how many tables it is above
1.1, in how many bad rows could not be looked for, and the mean share of rows that lose all weight.
Tables whose name has an even CRC-32 are "for choosing" a rule; the others, "for checking" it, are
left alone until one is chosen (`--choosing`).

Results are stored: a run that was stopped goes on where it was.
"""

import argparse
import warnings
import zlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools import public_tables
from benchmarks.tools.resumable import run_resumable

SHARE = 0.05
DAMAGES = ("as they are", "Pareto", "exchanged cells", "six deviations", "one column x 10", "a stuck column")
WITHOUT = "n_blocks=1, rows='good'"
VARIANTS = {"classic": "n_blocks=1", "without bad rows": WITHOUT, "default": ""}
MOST_ROWS, ROWS_A_COLUMN = 1000, 5
_MANY_VALUES = 10
_ABOVE = 1.1


@cache
def halves(name: str, split: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return two halves of the complete rows of a table; None where there are few, or columns do not vary in one."""
    frame = public_tables.public_tables()[name].dropna()
    X = frame.to_numpy()[np.random.default_rng([split, 2]).permutation(len(frame))]
    half = min(len(X) // 2, MOST_ROWS)
    A, B = X[:half], X[half : 2 * half]
    if half < public_tables.FEWEST_ROWS // 2:
        return None
    varies = np.array([min(_values(A[:, j]), _values(B[:, j])) > 1 for j in range(X.shape[1])])
    is_enough = np.count_nonzero(varies) >= public_tables.FEWEST_COLUMNS and half >= ROWS_A_COLUMN * varies.sum()
    return (A[:, varies], B[:, varies]) if is_enough else None


def _values(column: np.ndarray) -> int:
    return np.unique(column).size


def damaged(X: np.ndarray, damage: str, split: int) -> np.ndarray | None:
    """Return rows X, shape (n, m), of which a share is bad; None if no column has many values."""
    rng = np.random.default_rng([split, zlib.crc32(damage.encode())])
    rows = rng.choice(len(X), max(round(SHARE * len(X)), 1), replace=False)
    many = np.flatnonzero([_values(column) > _MANY_VALUES for column in X.T])
    Y = X.copy()
    if damage == "as they are":
        return Y
    if damage == "exchanged cells":
        Y[rows] = X[rng.integers(len(X), size=(rows.size, X.shape[1])), np.arange(X.shape[1])]
        return Y
    if not many.size:
        return None
    at = np.ix_(rows, many)
    if damage == "Pareto":
        typical = np.array([np.median(np.abs(column[column != 0])) for column in X[:, many].T])
        Y[at] = 3 * typical * (1 + rng.pareto(1.0, size=(rows.size, many.size)))
    elif damage == "six deviations":
        Y[at] += 6 * X[:, many].std(axis=0) * rng.choice([-1.0, 1.0], size=(rows.size, many.size))
    else:
        j = rng.choice(many)
        Y[rows, j] = 10 * X[rows, j] if damage == "one column x 10" else X[rows[0], j]
    whole = (np.round(X) == X).all(axis=0)
    return np.where(whole, np.round(Y), Y)


def fitted(X: np.ndarray, variant: str) -> tuple[np.ndarray, rs.RobustScoreMatching]:
    """Return the associations of a variant, given as keyword arguments in Python, and the fit."""
    return associations(X, **eval(f"dict({variant})", {"rs": rs}))  # written by who runs this


def associations(X: np.ndarray, **options: Any) -> tuple[np.ndarray, rs.RobustScoreMatching]:
    """Return the associations of a fit without a penalty, by default of the copula, and the fit."""
    model = rs.RobustScoreMatching(**{"family": "copula", "random_state": 0, **options}).fit(X)
    size = np.sqrt(model.interaction_.diagonal())
    return -model.interaction_ / np.multiply.outer(size, size), model


@cache
def reference(name: str, split: int) -> np.ndarray:
    """Return the associations of half B where all rows count."""
    found = halves(name, split)
    assert found is not None
    return fitted(found[1], VARIANTS["classic"])[0]


def one(task: tuple[str, int, str, str]) -> dict[str, Any]:
    """Return how far a variant on A is from the reference on B, or the words of an error."""
    name, split, damage, variant = task
    found = halves(name, split)
    A = None if found is None else damaged(found[0], damage, split)
    if A is None:
        return {"skipped": True}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        try:
            aim = reference(name, split)
            if variant == WITHOUT:
                association, model = fitted(A[(found[0] == A).all(axis=1)], VARIANTS["classic"])
            else:
                association, model = fitted(A, variant)
        except ValueError as error:
            return {"words": str(error)}
    pairs = np.triu_indices(A.shape[1], k=1)
    return {
        "error": float(np.linalg.norm((association - aim)[pairs])),
        "judged": "n_blocks" in variant or model.fitted_.weighed.found is not None,
        "dropped": float(np.mean(model.row_weights_ == 0)),
    }


def main(
    variants: dict[str, str] = VARIANTS,
    damages: Sequence[str] = DAMAGES,
    names: Sequence[str] | None = None,
    n_splits: int = 1,
    *,
    only_choosing: bool = False,
) -> dict[tuple[str, str, str], dict[str, float]]:
    """Print a block for each purpose of the tables, with a line for every damage and variant; the numbers by these."""
    if reason := public_tables.absent():
        print(f"skipped: {reason}")
        return {}
    asked = list(public_tables.public_tables()) if names is None else list(names)
    variants = {"classic": VARIANTS["classic"], **variants}
    found = {}
    for purpose in ("for choosing", "for checking")[: 1 if only_choosing else 2]:
        own = [name for name in asked if public_tables.is_for_choosing(name) == (purpose == "for choosing")]
        cases = [(name, split) for name in own for split in range(n_splits)]
        lines = [(damage, variant) for damage in damages for variant in variants.values()]
        tasks = [(*case, *line) for case in cases for line in [("as they are", variants["classic"]), *lines]]
        outcomes = dict(zip(tasks, run_resumable("real_halves", one, tasks), strict=True))
        print(
            f"{f'{purpose}, {len(own)} tables':<48}tables    mean  median   > {_ABOVE}  not judged  dropped", flush=True
        )
        for damage in damages:
            for label, variant in variants.items():
                ours = [outcomes[*case, damage, variant] for case in cases]
                bases = [outcomes[*case, "as they are", variants["classic"]] for case in cases]
                numbers = _numbers(ours, bases)
                found[purpose, damage, label] = numbers
                print(
                    f"{damage:<18}{label:<30}{numbers['tables']:>6.0f}{numbers['mean']:>8.2f}{numbers['median']:>8.2f}"
                    f"{numbers['above']:>8.0f}{numbers['not judged']:>12.0f}{numbers['dropped']:>9.1%}",
                    flush=True,
                )
        failed = {task: one["words"] for task, one in outcomes.items() if "words" in one}
        for (name, _, damage, _), words in failed.items():
            print(f"  {name}, {damage}: {words}", flush=True)
        print(flush=True)
    print(f"Tables cut in {n_splits} way{'s' * (n_splits > 1)} each.", flush=True)
    return found


def _numbers(ours: Sequence[dict[str, Any]], bases: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return what a line shows, of the tables where both fits came to an end."""
    pairs = [(own, base) for own, base in zip(ours, bases, strict=True) if "error" in own and "error" in base]
    if not pairs:
        return dict.fromkeys(("tables", "above", "not judged"), 0) | dict.fromkeys(
            ("mean", "median", "dropped"), np.nan
        )
    ratio = np.array([own["error"] / base["error"] for own, base in pairs])
    return {
        "tables": len(pairs),
        "mean": float(ratio.mean()),
        "median": float(np.median(ratio)),
        "above": int(np.count_nonzero(ratio > _ABOVE)),
        "not judged": sum(not own["judged"] for own, _ in pairs),
        "dropped": float(np.mean([own["dropped"] for own, _ in pairs])),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choosing", action="store_true", help="only the tables that a rule may be chosen by")
    parser.add_argument(
        "--variant", nargs=2, action="append", default=[], metavar=("LABEL", "OPTIONS"),
        help="a further fit: options of RobustScoreMatching as Python, as 'family=rs.families.GaussianCopula()'",
    )  # fmt: skip
    parser.add_argument("--damages", nargs="*", default=DAMAGES, choices=DAMAGES)
    parser.add_argument("--tables", nargs="*", help="by name; by default all")
    parser.add_argument("--splits", type=int, default=1, help="ways to cut each table")
    given = parser.parse_args()
    main({**VARIANTS, **dict(given.variant)}, given.damages, given.tables, given.splits, only_choosing=given.choosing)
