"""Tables of mixed columns: the copula beside fits that know the latent numbers or ignore the kinds.

24 columns, a sixth each log-normal, of two values, of five answers, zero below a limit, Poisson
counts of mean 3, and t with 2 degrees of freedom; each is a function of a latent normal number,
with 30 edges between these (75 between 60 columns). Rows are clean, or 5 % of them are bad in one
of five ways: Pareto values from three medians upwards in the numeric columns, every cell from
another row, every latent number moved six deviations up or down, the same answer to all questions
("straight lines"), copies of one row. Straight lines are good rows in all but four columns, and a
row of cells from other rows has no unusual value: neither can be told row by row.

"latent rows" knows the latent numbers of the good rows, "without them" is the copula on the good
rows alone. F1 is that of the method's own choice, "area" that under the ROC curve along its path,
"lost" the share of good rows that lose all weight, "time" that of the fit by one core, over that
of the Gaussian on as many latent rows. Slope and error (root mean square) compare associations
without a penalty with the true latent ones; "nulls" is how often a true null is rejected at 5 %,
"covered" how often a 95 % interval of an association holds the truth. Values that rows share say
less than latent numbers, at any number of rows: below a table of clean rows is what the error of
all associations must be over that of latent rows, near independence, by the efficiencies of the
columns, and at the true associations of a data set, by the information in the rows. A fit that
makes use of a sparse graph can be below it.

Missing cells: 20 % anywhere, or where a complete column of the row is large (36 %; else 4 %). Wrong
cells: 2 % have the latent number 3 (1 + Pareto), which "latent rows" with cells=True see as such.
Chains: eight columns in a row, of which the lowest values are recorded as zero.

Results are stored: a run that was stopped goes on where it was.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools import least_error, mixed_columns
from benchmarks.tools.least_error import error_over_latent
from benchmarks.tools.measure import clocked
from benchmarks.tools.mixed_columns import DAMAGES, KINDS, SHARE, bound, columns_of, mixed_table, normal_scores
from benchmarks.tools.resumable import run_resumable

COLUMNS = {"F1": 3, "area": 3, "lost": 4, "time": 1, "slope": 2, "error": 3, "nulls": 3, "covered": 3}
WRONG_COLUMNS = {"F1": 3, "area": 3, "AUROC": 3, "false": 4, **dict.fromkeys(KINDS, 2)}
MISSING, WRONG, LARGEST = 0.2, 0.02, 30.0
ZEROS, CHAIN, CHAIN_ROWS = (0.2, 0.4, 0.6), 8, 1000
# By question: (rows, columns, data sets) of its tables. Thinned where a fit takes long.
SIZES: dict[str, tuple[tuple[int, int, int], ...]] = {
    "clean": ((500, 24, 10), (1500, 24, 10), (5000, 24, 10), (500, 60, 4), (1500, 60, 4), (5000, 60, 2)),
    "kinds": ((1500, 24, 3),),
    "bad": ((500, 24, 4), (1500, 24, 6)),
    "missing": ((1500, 24, 4),),
    "wrong": ((1500, 24, 3),),
    "chains": ((CHAIN_ROWS, CHAIN, 10),),
}
MOST_AT_TRUTH = 30  # columns: the information in rows is a matrix of pairs by pairs
Outcome: TypeAlias = dict[str, Any]  # by method: values of the columns, or the words of an error


def compared(table: Any, fits: dict[str, tuple[str, np.ndarray, dict[str, Any]]]) -> Outcome:
    """Return the COLUMNS of every fit, given as family, rows and options."""
    found: Outcome = {}
    unit, _ = clocked(partial(rs.RobustGraph("gaussian", random_state=0).fit, table.latent), time.process_time)
    for name, (family, rows, options) in fits.items():
        model = rs.RobustGraph(family, random_state=0, **options)
        try:
            seconds, _ = clocked(partial(model.fit, rows), time.process_time)
            is_bad = table.bad if len(rows) == len(table.bad) else np.zeros(len(rows), dtype=bool)
            found[name] = measures(model, table.association, is_bad, seconds / unit)
        except ValueError as error:
            found[name] = str(error)
    return found


def measures(model: rs.RobustGraph, association: np.ndarray, bad: np.ndarray, duration: float) -> list[float]:
    """Return the COLUMNS of a fit, where associations are the true ones, shape (m, m)."""
    table = model.edge_intervals()
    position = {name: k for k, name in enumerate(model.graph_.names)}
    i, j = (np.array([position[name] for name in table[end]]) for end in ("source", "target"))
    true = association[i, j]
    found, low, high = (np.asarray(table[name]) for name in ("association", "association_low", "association_high"))
    return [
        *graph_measures(model, association),
        float(np.mean(model.row_weights_[~bad] == 0)),
        duration,
        float(found @ true / (true @ true)),
        float(np.sqrt(np.mean((found - true) ** 2))),
        float(np.mean(np.asarray(table["p_value"])[true == 0] < 0.05)),
        float(np.mean((low <= true) & (true <= high))),
    ]


def graph_measures(model: rs.RobustGraph, association: np.ndarray) -> list[float]:
    """Return F1 of the choice, and the area under the ROC curve of the path."""
    truth = association != 0
    return [rs.metrics.f1_score(model.interaction_, truth), rs.metrics.auc(rs.metrics.roc_curve(model.path_, truth))]


def clean(n: int, m: int, only: str, seed: int) -> Outcome:
    """Return the COLUMNS of every method on clean rows, of all kinds or one alone."""
    table = mixed_table(n, m, seed, only=only or None)
    return compared(
        table,
        {
            "copula": ("copula", table.X, {}),
            "auto": ("auto", table.X, {}),
            "normal scores": ("gaussian", normal_scores(table.X), {}),
            "latent rows": ("gaussian", table.latent, {}),
        },
    )


def bad(n: int, m: int, damage: str, seed: int) -> Outcome:
    """Return the COLUMNS of every method on rows of which some are bad."""
    table = mixed_table(n, m, seed, damage)
    return compared(
        table,
        {
            "copula": ("copula", table.X, {}),
            "copula, n_blocks=1": ("copula", table.X, {"n_blocks": 1}),
            "copula, without them": ("copula", table.X[~table.bad], {}),
            "auto": ("auto", table.X, {}),
            "latent rows": ("gaussian", table.latent[~table.bad], {}),
        },
    )


def missing(n: int, m: int, where: str, seed: int) -> Outcome:
    """Return the COLUMNS of the copula on rows with missing cells, and on the same rows without."""
    table, rng = mixed_table(n, m, seed), np.random.default_rng([seed, n, 1])
    share = np.full((n, m), MISSING)
    if where == "by a complete column":
        deciding = table.latent[:, np.arange(m) % len(KINDS)]  # the first column of each kind is complete
        share = np.where(deciding > 0, 1.8 * MISSING, 0.2 * MISSING)
        share[:, : len(KINDS)] = 0
    incomplete = rng.random((n, m)) < share
    options = {"missing": "impute"}
    return compared(
        table,
        {
            "copula": ("copula", np.where(incomplete, np.nan, table.X), options),
            "copula, nothing missing": ("copula", table.X, {}),
            "latent rows": ("gaussian", np.where(incomplete, np.nan, table.latent), options),
        },
    )


def wrong(n: int, m: int, _: str, seed: int) -> Outcome:
    """Return the WRONG_COLUMNS of cells=True: the copula, the Gaussian on latent rows with the same wrong cells."""
    table, rng = mixed_table(n, m, seed), np.random.default_rng([seed, n, 2])
    is_wrong = rng.random((n, m)) < WRONG
    moved = np.minimum(3 * (1 + rng.pareto(1.0, size=(n, m))), LARGEST)
    Z = np.where(is_wrong, moved, table.latent)
    of_kind = {kind: np.isin(table.kinds, kind) for kind in KINDS}
    found: Outcome = {}
    for name, family, rows in (("copula", "copula", columns_of(Z, table.kinds)), ("latent rows", "gaussian", Z)):
        model = rs.RobustGraph(family, cells=True, random_state=0)
        try:
            suspects = model.fit(rows).fitted_.prepared.filling.suspects
            flagged = suspects.likely_wrong
            found[name] = [
                *graph_measures(model, table.association),
                float(roc_auc_score(is_wrong.ravel(), suspects.probability.ravel())),
                float(flagged[~is_wrong].mean()),
                *(float(flagged[:, own][is_wrong[:, own]].mean()) for own in of_kind.values()),
            ]
        except ValueError as error:
            found[name] = str(error)
    return found


def chains(n: int, m: int, zeros: str, seed: int) -> Outcome:
    """Return how many links of a chain are found, and how many others, where the lowest values of columns are zeros."""
    truth = rs.simulate.shaped_model("chain", m, random_state=seed)
    covariance = np.linalg.inv(truth.interaction)
    Z = np.random.default_rng([seed, n]).multivariate_normal(np.zeros(m), covariance, size=n)
    X = np.maximum(Z - np.quantile(Z, float(zeros), axis=0), 0.0)
    found: Outcome = {}
    for name, family, rows in (("copula", "copula", X), ("auto", "auto", X), ("latent rows", "gaussian", Z)):
        graph = rs.RobustGraph(family, random_state=0).fit(rows).graph_.adjacency
        found[name] = [np.count_nonzero(graph & truth.adjacency) / 2, np.count_nonzero(graph & ~truth.adjacency) / 2]
    return found


WORK: dict[str, Callable[[int, int, str, int], Outcome]] = {
    "clean": clean,
    "kinds": clean,
    "bad": bad,
    "missing": missing,
    "wrong": wrong,
    "chains": chains,
}
VARIANTS: dict[str, tuple[str, ...]] = {
    "clean": ("",),
    "kinds": KINDS,
    "bad": DAMAGES,
    "missing": ("anywhere", "by a complete column"),
    "wrong": ("",),
    "chains": tuple(map(str, ZEROS)),
}
HEADINGS = {
    "clean": "clean",
    "kinds": "clean, all columns {}",
    "bad": f"{SHARE:.0%} bad: {{}}",
    "missing": f"{MISSING:.0%} missing {{}}",
    "wrong": f"{WRONG:.0%} of the cells wrong",
}


def outcome(task: tuple[str, int, int, str, int]) -> Outcome:
    """Return what a question finds on one data set, on one thread."""
    question, *about = task
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for family in ("copula", "gaussian"):
            rs.RobustGraph(family).fit(np.random.default_rng(0).normal(size=(100, 4)).round(1))  # compiles, or loads
        return WORK[question](*about)


def means_of(outcomes: Sequence[Outcome], method: str) -> list[float] | str:
    """Return the means over data sets, or the words of an error."""
    own = [one[method] for one in outcomes]
    words = [one for one in own if isinstance(one, str)]
    return words[0] if words else np.mean(own, axis=0).tolist()


def printed(heading: str, columns: dict[str, int], rows: dict[str, list[float] | str]) -> None:
    """Print a table with a line for each method; the words of errors in place of numbers."""
    print(f"{heading:<44}" + "".join(f"{name:>{max(9, len(name) + 2)}}" for name in columns), flush=True)
    for method, values in rows.items():
        if isinstance(values, str):
            print(f"{method:<44}  skipped: {values}", flush=True)
            continue
        cells = (
            f"{'-' if np.isnan(value) else format(value, f'.{digits}f'):>{max(9, len(name) + 2)}}"
            for value, (name, digits) in zip(values, columns.items(), strict=True)
        )
        print(f"{method:<44}" + "".join(cells), flush=True)


def main(
    questions: Sequence[str] = tuple(WORK),
    sizes: dict[str, tuple[tuple[int, int, int], ...]] = SIZES,
    variants: dict[str, tuple[str, ...]] = VARIANTS,
) -> dict[tuple[str, int, int, str], dict[str, Any]]:
    """Print a table for every question, size and variant; means by these and by method."""
    found: dict[tuple[str, int, int, str], dict[str, Any]] = {}
    for question in questions:
        settings = [(n, m, variant, n_sets) for n, m, n_sets in sizes[question] for variant in variants[question]]
        tasks = [(question, n, m, variant, seed) for n, m, variant, n_sets in settings for seed in range(n_sets)]
        outcomes = iter(run_resumable(f"mixed_tables-{question}", outcome, tasks))
        if question == "chains":
            print(f"Chains of {CHAIN} columns         true links, least; others, most", flush=True)
        for n, m, variant, n_sets in settings:
            own = [next(outcomes) for _ in range(n_sets)]
            rows = {method: means_of(own, method) for method in own[0]}
            found[question, n, m, variant] = rows
            if question == "chains":
                _print_chains(variant, own, rows)
                continue
            heading = f"{n} x {m}, {HEADINGS[question].format(variant)}"
            printed(heading, WRONG_COLUMNS if question == "wrong" else COLUMNS, rows)
            if question in ("clean", "kinds"):
                _print_bound(m, variant, rows)
            print(f"Means of {n_sets} data sets.\n", flush=True)
    return found


def least_at_truth(task: tuple[int, str, int]) -> float:
    """Return the least error over that of latent rows, at the truth of one data set."""
    m, only, seed = task
    return error_over_latent(m, seed, only or None)


def _print_bound(m: int, only: str, rows: dict[str, Any]) -> None:
    """Print how large the copula's error is over that of latent rows, and how small it can be."""
    kinds = [only or KINDS[j % len(KINDS)] for j in range(m)]
    at = list(COLUMNS).index("error")
    if not isinstance(rows["copula"], str):
        print(f"Error over that of latent rows: {rows['copula'][at] / rows['latent rows'][at]:.2f}; ", end="")
    words = f"bound near independence: {bound(kinds):.2f}"
    if m <= MOST_AT_TRUTH:
        sources = [Path(module.__file__) for module in (least_error, mixed_columns)]
        tasks = [(m, only, seed) for seed in range(2)]
        least = run_resumable("mixed_tables-bound", least_at_truth, tasks, sources=sources)
        words += f", at the truth: {np.mean(least):.2f}"
    print(f"{words}.", flush=True)


def _print_chains(zeros: str, own: Sequence[Outcome], rows: dict[str, Any]) -> None:
    for method in rows:
        true, false = np.array([one[method] for one in own]).T
        print(
            f"{float(zeros):.0%} zeros, {method:<18}{true.mean():>12.1f}{true.min():>7.0f}"
            f"{false.mean():>8.1f}{false.max():>6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", nargs="*", default=tuple(WORK), choices=tuple(WORK))
    parser.add_argument("--sets", type=int, help="data sets of every table, at most")
    parser.add_argument("--rows", type=int, nargs="*", help="of tables, where not all numbers of rows are wanted")
    given = parser.parse_args()
    main(
        given.questions,
        {
            question: tuple(
                (n, m, min(n_sets, given.sets or n_sets))
                for n, m, n_sets in sizes
                if given.rows is None or n in given.rows
            )
            for question, sizes in SIZES.items()
        },
    )
