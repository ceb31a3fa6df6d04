"""How much data it takes: graphs learnt from simulated rows, compared with the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore import metrics
from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import check_whole
from robscore._tools.progress import ProgressLine
from robscore._tools.randomness import as_generator
from robscore._tools.repetitions import run_all
from robscore._tools.typing import AnyData, Array, IntArray, RandomState
from robscore.families import Family, get_family
from robscore.families.copula import Margins
from robscore.rows.tables import Kind, as_table
from robscore.simulate.contaminate import contaminate_other_graph, contaminate_pareto
from robscore.simulate.models import AnyMargins, Model, read_margins, sample

if TYPE_CHECKING:
    from robscore.estimators import RobustGraph

BadRows = str | Callable[[Array, float, np.random.Generator], Array]


def power(
    truth: Model,
    n_rows: Sequence[int] | int,
    *,
    family: str | Family = "sqrt",
    margins: AnyMargins | None = None,
    contamination: float = 0.0,
    bad_rows: BadRows = "pareto",
    model: RobustGraph | None = None,
    n_repeats: int = 20,
    n_jobs: int | None = None,
    progress: bool = True,
    random_state: RandomState = 0,
) -> AnyData:
    """Say what to expect of a graph learnt from n rows, for several n.

    Parameters
    ----------
    truth : Model
        Interaction and location that rows are drawn with; see :func:`random_model`.
    n_rows : sequence of int, or one
    family : str or Family, default "sqrt"
        What rows are drawn from, and fitted with unless ``model`` says otherwise.
    margins : for ``family="copula"``, optional
        What columns look like: shares of categories, for each column or all, or a pilot study's fit, as
        :func:`draw` takes them. The location of the truth plays no part then.
    contamination : float, default 0
        Share of bad rows.
    bad_rows : {"pareto", "other graph"} or callable, default "pareto"
        ``bad_rows(X, share, rng)`` gives the contaminated data.
    model : RobustGraph, optional
        How graphs are learnt; by default ``RobustGraph(family)``.
    n_repeats : int, default 20
        Data sets for every n.
    n_jobs : int or None
        Processes; the result does not depend on it.
    progress : bool, default True
    random_state : int, Generator or None, default 0

    Returns
    -------
    table with columns
        n_rows; f1, tpr (share of true edges found), fdr (share of found edges that are false) and edges, all means over
        the data sets; f1_error, the standard error of the mean; failed, how many data sets could not be fitted.

    Examples
    --------
    >>> import robscore as rs
    >>> truth = rs.simulate.random_model(5, 4, min_eigenvalue=0.5, random_state=0)
    >>> table = rs.simulate.power(truth, [100, 800], n_repeats=4)
    >>> bool(table["f1"][1] > table["f1"][0])
    True

    How many people to ask, where everybody gives five answers from 1 to 4:

    >>> shares = [0.4, 0.3, 0.2, 0.1]
    >>> table = rs.simulate.power(truth, [100, 800], family="copula", margins=shares, n_repeats=4)
    >>> bool(table["f1"][1] > table["f1"][0])
    True
    """
    from robscore.estimators import RobustGraph

    sizes = [int(n_rows)] if isinstance(n_rows, int | np.integer) else list(n_rows)
    for n in sizes:
        check_whole("n_rows", n, at_least=4)
    if not sizes:
        raise ArgumentError("n_rows", [], "must hold at least one number of rows.")
    check_whole("n_repeats", n_repeats, at_least=1)
    if isinstance(bad_rows, str) and bad_rows not in ("pareto", "other graph"):
        raise ArgumentError("bad_rows", bad_rows, "is not known; use 'pareto', 'other graph' or a function.")
    chosen = RobustGraph(family) if model is None else model
    columns_like = read_margins(margins, len(truth.interaction))
    seeds = as_generator(random_state).integers(2**62, size=(len(sizes), n_repeats))
    tasks = [(n, int(seed)) for n, row in zip(sizes, seeds, strict=True) for seed in row]
    work = partial(_learn_one, truth, family, columns_like, contamination, bad_rows, chosen)
    outcomes: dict[int, Any] = {}
    with ProgressLine("power", shown=progress, time_left=True) as line:
        for position, outcome in run_all(work, list(enumerate(tasks)), n_jobs):
            outcomes[position] = outcome
            line.update(len(outcomes), len(tasks))
    reasons = [outcomes[k] if isinstance(outcomes[k], str) else "" for k in range(len(tasks))]
    nothing = (np.nan,) * 4
    rows = [nothing if reason else outcomes[k] for k, reason in enumerate(reasons)]
    found = np.array(rows).reshape(len(sizes), n_repeats, 4)
    failed: IntArray = np.array([bool(reason) for reason in reasons]).reshape(len(sizes), n_repeats).sum(axis=1)
    if (failed == n_repeats).any():
        first = int(np.argmax(failed == n_repeats))
        raise ValueError(f"No data set of {sizes[first]} rows could be fitted: {reasons[first * n_repeats]}")
    f1, tpr, fdr, edges = np.moveaxis(np.nanmean(found, axis=1), 1, 0)
    done = n_repeats - failed
    spread = np.where(done > 1, np.nanstd(found[:, :, 0], axis=1) / np.sqrt(np.maximum(done - 1, 1)), np.nan)
    columns: dict[str, tuple[Kind, Any]] = {
        "n_rows": (int, sizes),
        "f1": (float, f1),
        "f1_error": (float, spread),
        "tpr": (float, tpr),
        "fdr": (float, fdr),
        "edges": (float, edges),
        "failed": (int, failed),
    }
    return as_table(columns, None)


def _learn_one(
    truth: Model,
    family: str | Family,
    margins: Margins | None,
    contamination: float,
    bad_rows: BadRows,
    model: RobustGraph,
    task: tuple[int, int],
) -> tuple[float, float, float, float] | str:
    """Return F1, true positive rate, false discovery rate and edges of one data set; or why it could not be fitted."""
    from sklearn.base import clone

    n, seed = task
    rng = np.random.default_rng(seed)
    location = None if get_family(family).has_margins else truth.location
    X = sample(family, truth.interaction, location, n_rows=n, margins=margins, random_state=rng)
    if contamination:
        if callable(bad_rows):
            X = bad_rows(X, contamination, rng)
        elif bad_rows == "pareto":
            X = contaminate_pareto(X, contamination, random_state=rng).X
        else:
            n_edges = int(np.count_nonzero(truth.adjacency)) // 2
            X = contaminate_other_graph(X, contamination, n_edges=n_edges, random_state=rng).X
    try:
        K = clone(model).fit(X).interaction_
    except (ValueError, np.linalg.LinAlgError) as error:
        return str(error)
    found, true = metrics.edge_vector(K), metrics.edge_vector(truth.interaction)
    tpr = float((found & true).sum() / true.sum()) if true.any() else np.nan
    return (
        metrics.f1_score(K, truth.interaction),
        tpr,
        metrics.false_discovery_rate(K, truth.interaction),
        float(found.sum()),
    )
