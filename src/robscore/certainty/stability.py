"""Which edges recur when half of the rows are left out.

Rows are split into two random halves, keeping blocks of neighbours together, and the graph is learnt from each; many
times. An edge that is found in at least a share t of the halves is called stable. If every half selects q of p pairs,
the expected number of stable edges that are false is at most

    q^2 / ((2 t - 1) p)

when no false edge is more likely to be selected than another, and the method is better than guessing (Meinshausen and
Bühlmann, 2010); with pairs of complementary halves, the same bounds the edges that are selected less often than at
random, whatever the method (Shah and Samworth, 2013).
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.base import clone

from robscore._tools.messages import ArgumentError
from robscore._tools.numbers import check_number, check_whole
from robscore._tools.progress import ProgressLine, announce
from robscore._tools.randomness import as_generator
from robscore._tools.repetitions import Store, run_all
from robscore._tools.typing import AnyArray, AnyData, Array, IntArray, RandomState
from robscore._version import __version__
from robscore.families.family import Family, has_margins, is_auto
from robscore.fitting.settings import GraphSettings
from robscore.rows.covariate_columns import names_of_columns, read_covariates, split_frame, with_moderators
from robscore.rows.input_data import read_limits, read_matrix, readable
from robscore.rows.partition import halves
from robscore.rows.row_source import ArrayRows
from robscore.rows.tables import Kind, as_table
from robscore.rows.worded_columns import Worded, in_codes

if TYPE_CHECKING:
    from robscore.estimators import RobustGraph

DEFAULT_THRESHOLD = 0.75  # between 0.6 and 0.9, where results hardly depend on it (Meinshausen and Bühlmann)


@dataclass(frozen=True, eq=False)
class EdgeStability:
    """How often every edge was found in halves of the rows.

    Attributes
    ----------
    names : column names
    frequency : array of shape (m, m)
        Share of halves in which the pair has an edge.
    positive : array of shape (m, m)
        Share of halves in which it has one with positive association.
    mean_edges : float
        Edges per half, on average, without those that are never penalised.
    n_candidates : int
        Pairs that can be selected: neither forbidden nor free of a penalty.
    n_done, n_asked : int
        Number of halves fitted, and requested.
    failures : tuple of str
        Why halves could not be fitted, one text each.
    threshold : float
        Where an edge counts as stable.
    """

    names: tuple[str, ...]
    frequency: Array
    positive: Array
    mean_edges: float
    n_candidates: int
    n_done: int
    n_asked: int
    failures: tuple[str, ...]
    threshold: float
    frame: str | None = None

    def expected_false(self, threshold: float | None = None) -> float:
        """Bound on the expected number of false edges among those found in at least a share ``threshold`` of halves."""
        t = self._threshold_or(threshold)
        return float(self.mean_edges**2 / ((2 * t - 1) * self.n_candidates)) if self.n_candidates else 0.0

    def _threshold_or(self, threshold: float | None) -> float:
        return self.threshold if threshold is None else _check_threshold(threshold)

    def table(self, threshold: float | None = None) -> AnyData:
        """All pairs that were ever found: source, target, frequency, positive, stable; most frequent first.

        ``positive`` is the share of the halves with the edge in which its association is positive.
        """
        t = self._threshold_or(threshold)
        i, j = np.nonzero(np.triu(self.frequency, k=1))
        order = np.argsort(-self.frequency[i, j], kind="stable")
        i, j = i[order], j[order]
        found = self.frequency[i, j]
        columns: dict[str, tuple[Kind, Any]] = {
            "source": (str, [self.names[k] for k in i]),
            "target": (str, [self.names[k] for k in j]),
            "frequency": (float, found),
            "positive": (float, self.positive[i, j] / found),
            "stable": (bool, found >= t),
        }
        return as_table(columns, self.frame)

    def n_stable(self, threshold: float | None = None) -> int:
        """Number of stable edges."""
        return int(np.count_nonzero(np.triu(self.frequency, k=1) >= self._threshold_or(threshold)))

    def summary(self, threshold: float | None = None) -> str:
        """What was found, in a line or two."""
        t = self._threshold_or(threshold)
        words = (
            f"{self.n_stable(t)} edges in at least {t:.0%} of {self.n_done} halves of the rows; of these at most "
            f"{self.expected_false(t):.2g} are expected to be false ({self.mean_edges:.1f} edges per half)"
        )
        if self.failures:
            words += f"\n{len(self.failures)} halves could not be fitted, the first because: {self.failures[0]}"
        if self.n_done + len(self.failures) < self.n_asked:
            words += f"\nstopped after {self.n_done + len(self.failures)} of {self.n_asked}"
        return words

    def __str__(self) -> str:
        return self.summary()


def edge_stability(
    model: RobustGraph,
    X: AnyData,
    *,
    n_pairs: int = 50,
    max_false: float | None = None,
    threshold: float = DEFAULT_THRESHOLD,
    block_size: int = 1,
    checkpoint: str | PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    random_state: RandomState = 0,
    covariates: AnyData | None = None,
    moderators: AnyData | None = None,
    lower: AnyData | None = None,
    upper: AnyData | None = None,
) -> EdgeStability:
    """How often every edge is found in random halves of the rows.

    Parameters
    ----------
    model : RobustGraph
        Its settings are used, and each half is fitted with them from scratch; a family that it does not name is chosen
        once, from all rows.
    X : array-like or data frame of shape (n, m)
    n_pairs : int, default 50
        Pairs of complementary halves: twice as many fits.
    max_false : float, optional
        Bound on the expected number of false stable edges. Then every half selects the first q edges of its path, with
        q as large as the bound allows; otherwise the model's own choice of the penalty counts.
    threshold : float, default 0.75
        Share of halves in which a stable edge is found.
    block_size : int, default 1
        Rows that stay together: more than one for a time series.
    checkpoint : path, optional
        A folder that keeps every finished half; an interrupted run resumes from there.
    n_jobs : int or None
        Processes; the result does not depend on it.
    progress : bool, default True
        Show a progress line on the terminal.
    random_state : int, Generator or None, default 0
    covariates, moderators : as in ``fit``, optional
        With moderators the edges are those that all rows have in common.
    lower, upper : limits of cells as in ``fit``, optional

    Returns
    -------
    EdgeStability
        An interruption (Ctrl-C) returns what is done so far, with a warning.

    Examples
    --------
    >>> import robscore as rs
    >>> truth = rs.simulate.random_model(6, 5, min_eigenvalue=0.5, random_state=0)
    >>> X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=400, random_state=1)
    >>> stability = rs.edge_stability(rs.RobustGraph(alphas=20), X, n_pairs=5, max_false=1.0)
    >>> stability.n_done, bool(stability.expected_false() <= 1)
    (10, True)
    """
    beside = {"covariates": covariates, "moderators": moderators, "lower": lower, "upper": upper}
    family = _family_of_all_rows(model, X, beside)
    X, given, moderating = _split(X, covariates, moderators)
    worded = in_codes(X) if has_margins(family) else Worded(X, {}, {})
    X = worded.frame
    has_limits = not (lower is None and upper is None)
    matrix, names = read_matrix(X, "X", missing="impute" if has_limits else model.missing)
    n, m = matrix.shape
    limits = read_limits(lower, upper, names, n) if has_limits else None
    given = None if given is None else read_covariates(given, n)
    check_whole("n_pairs", n_pairs, at_least=1)
    check_whole("block_size", block_size, at_least=1)
    _check_threshold(threshold)
    if n // block_size < 4:
        raise ValueError(
            f"X has {n} rows, in blocks of {block_size}: too few to be halved; at least 4 blocks are needed."
        )
    base = clone(model).set_params(n_jobs=1, verbose=0)
    settings = GraphSettings.of({**model.get_params(deep=False), "family": family})
    if family != "simplex":  # compositions are closed by "auto"
        base.set_params(family=family)
    if settings.family.has_margins:  # halves keep the kinds of columns that all rows show
        base.set_params(family=settings.family.knowing(matrix, names, worded.levels), kinds=None)
    weights = settings.pair_weights(m)[np.triu_indices(m, k=1)]
    n_free = int(np.count_nonzero(weights == 0))
    n_candidates = int(np.count_nonzero((weights > 0) & (weights < np.inf)))
    if max_false is not None:
        base.set_params(n_edges=n_free + _edges_for(max_false, threshold, n_candidates), alpha=None)
    rng = as_generator(random_state)
    parts = [half for _ in range(n_pairs) for half in halves(n, block_size, rng)]
    store = None if checkpoint is None else _store(checkpoint, base, matrix, (given, moderating), limits, parts)
    done = ((k, None if store is None else store.get(k)) for k in range(len(parts)))
    outcomes: dict[int, Any] = {k: found for k, found in done if found is not None}
    missing = [(k, half) for k, half in enumerate(parts) if k not in outcomes]
    with ProgressLine("edge stability", shown=progress, time_left=True) as line:
        try:
            for position, outcome in run_all(
                partial(_fit_half, base, (matrix, names, limits), (given, moderating)), missing, n_jobs
            ):
                outcomes[position] = outcome if store is None else store.put(position, outcome)
                line.update(len(outcomes), len(parts))
                announce("", len(outcomes), len(parts))
        except KeyboardInterrupt as stopped:
            is_plain = type(stopped) is KeyboardInterrupt  # a command that has to end raises a kind of its own
            if not is_plain or not any("edges" in outcome for outcome in outcomes.values()):
                raise
            kept = "" if store is None else " The same call resumes from there."
            warnings.warn(f"Stopped after {len(outcomes)} of {len(parts)} halves.{kept}", UserWarning, stacklevel=2)
    result = _gathered(outcomes, names, len(parts), threshold, readable(X).library, n_free, n_candidates)
    if max_false is not None and result.expected_false() > max_false * (1 + 1e-9):
        words = (
            f"Some halves could not be made to select so few edges: the bound is {result.expected_false():.2g} false "
            f"edges, not max_false={max_false!r}."
        )
        warnings.warn(words, UserWarning, stacklevel=2)
    return result


def _store(
    checkpoint: str | PathLike[str],
    base: RobustGraph,
    matrix: Array,
    beside: tuple[dict[str, AnyArray] | None, list[str] | None],
    limits: tuple[Array, Array] | None,
    parts: Sequence[IntArray],
) -> Store:
    """Where finished halves of exactly these rows, fits and halves are kept."""
    given, moderating = beside
    identity = {
        "version": __version__,
        "model": joblib.hash(base.get_params()),
        "rows": hashlib.sha256(np.ascontiguousarray(matrix).tobytes()).hexdigest(),
        "given": joblib.hash(given) if moderating is None else joblib.hash(beside),
        **({} if limits is None else {"limits": joblib.hash(limits)}),
        "halves": hashlib.sha256(np.concatenate(parts).tobytes()).hexdigest(),
    }
    return Store(Path(checkpoint), identity, "choose another checkpoint")


def _check_threshold(threshold: float) -> float:
    check_number("threshold", threshold)
    if not 0.5 < threshold <= 1:
        raise ArgumentError("threshold", threshold, "must lie above 0.5 and at most at 1: the share of halves.")
    return threshold


def _edges_for(max_false: float, threshold: float, n_candidates: int) -> int:
    """The largest q with q^2 / ((2 t - 1) p) at most max_false, p being the pairs that can be selected."""
    check_number("max_false", max_false)
    if not n_candidates:
        raise ValueError("No pair can be selected: there is one column, or penalty_weights leaves no choice.")
    q = int(np.sqrt(max(max_false, 0.0) * (2 * threshold - 1) * n_candidates))
    if q < 1:
        raise ArgumentError(
            "max_false", max_false, f"does not allow even one edge per half at threshold={threshold!r}; raise either."
        )
    return min(q, n_candidates)


def _family_of_all_rows(model: RobustGraph, X: AnyData, beside: dict[str, Any]) -> str | Family:
    """The family that halves are fitted with: what "auto" takes for all rows, so that they can be compared."""
    if not is_auto(model.family):
        return model.family
    fitted = model if hasattr(model, "family_") else clone(model).fit(X, **beside)
    family: str | Family = fitted.family_
    return family


def _split(
    X: AnyData, covariates: AnyData | None, moderators: AnyData | None
) -> tuple[AnyData, AnyData | None, list[str] | None]:
    """X without columns that are covariates by name, all covariates, and the names of those that moderate."""
    moderating: list[str] | None = None
    if moderators is not None:
        covariates, moderating = with_moderators(X, covariates, moderators)
    names = names_of_columns(covariates)
    if names is not None:
        X, covariates = split_frame(X, names)
    return X, covariates, moderating


def _fit_half(
    base: RobustGraph,
    table: tuple[Array, list[str], tuple[Array, Array] | None],
    beside: tuple[dict[str, AnyArray] | None, list[str] | None],
    rows: IntArray,
) -> dict[str, Any]:
    """Edges of one half with the sign of their association, or why there are none.

    ``table`` are all rows, the names of their columns, and limits of cells; ``beside`` are covariates, and the names
    of those that moderate. A column that is constant in this half, as one with a rare answer may be, has no edge in it.
    """
    (X, names, limits), (given, moderating) = table, beside
    half = X[rows]
    varying = np.flatnonzero(np.nanmin(half, axis=0, initial=np.inf) < np.nanmax(half, axis=0, initial=-np.inf))
    try:
        some = None if given is None else {name: values[rows] for name, values in given.items()}
        own = ArrayRows(half[:, varying], [names[k] for k in varying], whole=False)
        cells = np.ix_(rows, varying)
        lower, upper = (None, None) if limits is None else (side[cells] for side in limits)
        fitted = _of_columns(base, varying).fit(own, covariates=some, moderators=moderating, lower=lower, upper=upper)
        found = fitted.association_
    except (ValueError, np.linalg.LinAlgError) as error:
        return {"failed": str(error)}
    i, j = np.nonzero(np.triu(found, k=1))
    edges = zip(varying[i].tolist(), varying[j].tolist(), (found[i, j] > 0).tolist(), strict=True)
    return {"edges": [[a, b, int(is_positive)] for a, b, is_positive in edges]}


def _of_columns(base: RobustGraph, columns: IntArray) -> RobustGraph:
    """The model for some of the columns: weights of the penalty are those of these."""
    made = clone(base)
    if made.penalty_weights is not None:
        made.set_params(penalty_weights=np.asarray(made.penalty_weights)[np.ix_(columns, columns)])
    if made.location_weights is not None:
        made.set_params(location_weights=np.asarray(made.location_weights)[columns])
    return made


def _gathered(
    outcomes: dict[int, Any],
    names: Sequence[str],
    n_asked: int,
    threshold: float,
    frame: str | None,
    n_free: int,
    n_candidates: int,
) -> EdgeStability:
    """What all halves found, together; raise where none could be fitted."""
    failures = [f"half {k}: {outcomes[k]['failed']}" for k in sorted(outcomes) if "failed" in outcomes[k]]
    graphs = [outcomes[k]["edges"] for k in sorted(outcomes) if "edges" in outcomes[k]]
    if not graphs:
        raise ValueError(f"None of {len(outcomes)} halves could be fitted; the first: {failures[0]}")
    if failures:
        words = f"{len(failures)} of {len(outcomes)} halves could not be fitted; the first: {failures[0]}"
        warnings.warn(words, UserWarning, stacklevel=3)
    m = len(names)
    frequency, positive = np.zeros((m, m)), np.zeros((m, m))
    for edges in graphs:
        for i, j, sign in edges:
            for a, b in ((i, j), (j, i)):
                frequency[a, b] += 1
                positive[a, b] += sign
    return EdgeStability(
        tuple(names),
        frequency / len(graphs),
        positive / len(graphs),
        float(np.mean([max(len(edges) - n_free, 0) for edges in graphs])),
        n_candidates,
        len(graphs),
        n_asked,
        tuple(failures),
        threshold,
        frame,
    )
