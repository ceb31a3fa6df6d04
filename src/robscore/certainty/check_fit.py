"""Does the family fit? Residuals by column and by pair that have mean zero if it does, and one test of all of them.

For a function k_j(x) that vanishes at the boundary, the Stein residual  r(k) = k_j d_j log p + d_j k_j  has mean zero
under p, whatever its parameters. With row weights phi(x) the same holds for phi k_j, with the derivative of phi in it.
Score matching without a penalty, node by node, sets the means of r(h_j v_j) to zero; other k are free to show what the
family misses. Their means at the estimate have

    r~(k) = r(k) - C H^-1 r(h v),      C = mean(phi k v'),   H = mean(phi h v v')

as influence of a row: what the estimated parameters take away is projected out. Functions here are bounded, so that
r~ has light tails: on the orthant with y = t / (1 + t), on the real line with y = logistic(t),

    k_j = y (1 - y) P(y) q,      P a Legendre polynomial on (0, 1),   q of the other columns or 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from scipy.special import expit, gammaincc, ndtr

from robscore._tools.messages import About, Message, Part, Phrase, Remark, Setting, UsageError, clipped, first_few
from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import AnyData, Array, IntArray
from robscore.cells.conditionals import conditionals, has_conditionals
from robscore.certainty.check_copula import BENDS, FEW_SIMULATED, N_SIMULATED, PairCheck, check_pairs
from robscore.certainty.edge_intervals import check_one_graph
from robscore.certainty.imputations import drawn_fits
from robscore.certainty.what_is_missed import CURVE, describe_misfit
from robscore.families.family import Parameters
from robscore.families.given_covariates import GivenCovariates
from robscore.families.power import PowerFamily
from robscore.family_choice.common_loss import CommonWeight, Coordinates, gradients_of_node, is_comparable
from robscore.fitting.fit_result import Fit
from robscore.rows.row_source import some_of
from robscore.rows.tables import Kind, as_table
from robscore.weighting.proper_parameters import proper

OWN = (0, 1, 2)  # degrees of P for the column itself
COUPLED = ((0, 1), (1, 1), (0, 2))  # degree of P, and power of the coupling
_WHY_NOT_LATENT = "Groups of rows, or a dependence that bends, may be why: no shape of the columns makes up for them."
_OTHER_FAMILIES = "rs.compare_families(X) says whether another fits better."
_ROWS_A_PARAMETER = 8  # rows for every parameter of a column, at least
_COMPLETIONS = 5  # of rows with missing cells, over which residuals are averaged
_CAUTION_LEVEL = 0.001  # every fit is checked for cautions, so that few of the good ones may be called bad
# These save time: cautions are to cost little beside the fit.
_MOST_ROWS, _MOST_NODES, _MOST_COLUMNS, _FEW_COMPLETIONS = 5000, 12, 150, 2
_MOST_COMPARED = 2000  # rows that simulated ones are compared with
_MOST_RANKED, _GRID_POINTS = 1000, 1000  # rows whose ranks are drawn, and points of the integral that gives them
_NUMBERS_OF_PAIRS = 2e7  # that are held for residuals of all pairs: it guards memory
_RIDGE = 1e-9  # relative, so that rounding leaves the Hessian positive definite


@dataclass(frozen=True)
class FitCheck:
    """What a check of a fit found; see :meth:`robscore.RobustGraph.check_fit`.

    Attributes
    ----------
    p_value : float
        Of the test that the family is right, for all columns at once.
    level : float
    columns : table
        column, shape and dependence (the largest z-score of each kind), p_value, misses (in words, where it is clear).
    pairs : table
        source, target, z, p_value; largest first.
    words : str
        The verdict, and what is missed and where.
    """

    p_value: float
    level: float
    columns: AnyData
    pairs: AnyData
    words: str

    @property
    def fits(self) -> bool:
        """Whether the test does not reject the family."""
        return self.p_value >= self.level

    @property
    def verdict(self) -> str:
        """The answer in one or two words."""
        return "fits" if self.fits else "does not fit"

    def __str__(self) -> str:
        return self.words


def z_scores(residuals: Array) -> Array:
    """z-scores of the means of residuals, which have shape (n, q)."""
    n = len(residuals)
    deviation = residuals.std(axis=0, ddof=1)
    return np.asarray(np.sqrt(n) * residuals.mean(axis=0) / np.where(deviation > 0, deviation, np.inf))


def joint_p_value(residuals: Array) -> float:
    """P-value of the test that all means are zero, from the sum Q of the squared z-scores.

    Q is a mixture of chi-squares by the correlations R of the residuals. Its upper tail follows from three moments
    (Hall, Buckley and Eagleson): (Q - c1) / sqrt(2 c2) is about (chi2_v - v) / sqrt(2 v), with v = c2^3 / c3^2 and
    c_k = tr R^k.
    """
    kept = residuals[:, residuals.std(axis=0) > 0]
    if not kept.size:
        return 1.0
    z = z_scores(kept)
    R = np.atleast_2d(np.corrcoef(kept.T))
    square = R @ R
    c1, c2, c3 = float(np.trace(R)), float(np.trace(square)), float(np.sum(square * R))
    v = c2**3 / c3**2
    x = v + (float(z @ z) - c1) * np.sqrt(v / c2)
    p_value = float(gammaincc(v / 2, max(x, 0.0) / 2))
    return p_value if np.isfinite(p_value) else 1.0  # numbers beyond all bounds say nothing


def rows_to_check(fits: list[Fit], most: int) -> IntArray:
    """Rows that count in every one of some fits, repeated by their frequency: all or some, spread over the data."""
    counted = reduce(partial(np.intersect1d, assume_unique=True), (fit.weights.counted for fit in fits))
    return evenly_spread(counted, most, some_of(fits[0].prepared.rows.frequency, counted))


def _n_rows_needed(fit: Fit) -> int:
    return _ROWS_A_PARAMETER * (len(fit.names) + 2 + fit.n_given)


def _completions_to_check(fit: Fit, n_completions: int, most: int) -> tuple[int, list[ResidualRows]]:
    """How many rows there are to check, and their completions; none where rows or family do not allow a check."""
    completed = drawn_fits(fit, n_completions)
    rows = rows_to_check(completed, most)
    if rows.size < _n_rows_needed(fit):
        return rows.size, []
    return rows.size, [checked for one in completed if (checked := ResidualRows.of(one, rows)) is not None]


def check_fit(fit: Fit, *, level: float) -> FitCheck:
    """The check of :meth:`robscore.RobustGraph.check_fit`."""
    check_one_graph(fit, "check_fit")
    m, names = len(fit.names), fit.names
    if _is_of_margins(fit):
        return _check_copula(fit, level)
    n_rows, completions = _completions_to_check(fit, _COMPLETIONS, max(_MOST_ROWS, 20 * m))
    _check_rows(fit, n_rows)
    if not completions:
        raise UsageError(
            f"{fit.prepared.preparation.family!r} cannot be checked: that needs a power family on [0, inf) or the "
            "real line; choose one with ",
            Setting("family"),
            ".",
        )
    some = max(500, int(_NUMBERS_OF_PAIRS / m**2))
    by_column, by_pair = [], np.zeros((min(some, completions[0].weight.phi.size), m, m))
    for j in range(m):
        try:
            by_column.append(_mean_of([checked.of_column(j) for checked in completions]))
            by_pair[:, j] = _mean_of([checked.at(j).of_pairs()[: len(by_pair)] for checked in completions])
        except np.linalg.LinAlgError:
            raise UsageError(
                f"Without a penalty the rows do not determine how column {names[j]!r} depends on the others; drop "
                "columns that others determine."
            ) from None
    p_value = joint_p_value(np.concatenate(by_column, axis=1))
    z = np.stack([z_scores(residuals) for residuals in by_column])
    p_columns = np.array([joint_p_value(residuals) for residuals in by_column])
    misses = [_misses(own, p * m, level) for own, p in zip(z, p_columns, strict=True)]
    columns: dict[str, tuple[Kind, Any]] = {
        "column": (str, names),
        "shape": (float, _largest(z[:, : len(OWN)])),
        "dependence": (float, _largest(z[:, len(OWN) :])),
        "p_value": (float, p_columns),
        "misses": (str, misses),
    }
    words = _describe(fit, p_value, level, misses, p_columns)
    return FitCheck(p_value, level, as_table(columns, fit.frame), _pairs(by_pair, names, fit.frame), words)


def _check_rows(fit: Fit, n_rows: int) -> None:
    if n_rows < _n_rows_needed(fit):
        raise UsageError(
            f"There are {n_rows} rows that count for {len(fit.names)} columns; checking a fit without a penalty takes "
            f"at least {_n_rows_needed(fit)}."
        )


def _is_of_margins(fit: Fit) -> bool:
    """Whether columns have margins of any shape, of which only how they go together can be checked."""
    return fit.prepared.preparation.has_margins and not fit.n_given


def _check_copula(fit: Fit, level: float) -> FitCheck:
    """The check where columns have margins of any shape."""
    m = len(fit.names)
    rows = rows_to_check([fit], max(_MOST_COMPARED, 20 * m))
    _check_rows(fit, rows.size)
    found = check_pairs(fit, rows, np.arange(m), N_SIMULATED)
    z = np.nan_to_num(found.z[[0, 2]])
    i, j = np.triu_indices(m, k=1)
    i, j = (side[np.isfinite(found.p_values[i, j])] for side in (i, j))
    order = np.argsort(found.p_values[i, j], kind="stable")
    i, j = i[order], j[order]
    clear = found.p_values[i, j] * i.size <= level
    pairs = list(zip(i.tolist(), j.tolist(), strict=True))
    missed = [found.misses(*pair) if is_clear else "" for pair, is_clear in zip(pairs, clear, strict=True)]
    of_column = [""] * m
    for (a, b), words in zip(pairs[::-1], missed[::-1], strict=True):
        of_column[a], of_column[b] = words or of_column[a], words or of_column[b]
    columns: dict[str, tuple[Kind, Any]] = {
        "column": (str, fit.names),
        "shape": (float, _largest(z[0])),
        "dependence": (float, _largest(z[1])),
        "p_value": (float, found.p_columns),
        "misses": (str, of_column),
    }
    of_pairs: dict[str, tuple[Kind, Any]] = {
        "source": (str, [fit.names[k] for k in i]),
        "target": (str, [fit.names[k] for k in j]),
        "z": (float, _largest(z[:, i, j].T)),
        "p_value": (float, found.p_values[i, j]),
    }
    words = _describe_pairs(fit, found, level, dict(zip(pairs, missed, strict=True)))
    return FitCheck(found.p_value, level, as_table(columns, fit.frame), as_table(of_pairs, fit.frame), words)


def _describe_pairs(fit: Fit, found: PairCheck, level: float, pairs: dict[tuple[int, int], str]) -> str:
    family, p_value = repr(fit.prepared.preparation.family), found.p_value
    if p_value >= level:
        return f"{family} fits, as far as the rows can tell (p = {p_value:.2g})."
    named = [
        f"{clipped(fit.names[a])} and {clipped(fit.names[b])} ({words})" for (a, b), words in pairs.items() if words
    ]
    where = f"It misses most: {first_few(named, '; ')}." if named else "No single pair stands out."
    if 2 * found.p_tails < level:
        often = "more" if found.tails > 0 else "less"
        where = f"Extreme values come together {often} often than in the model. {where}"
    return f"{family} does not fit (p = {p_value:.2g}). {where}"


def _mean_of(residuals: list[Array]) -> Array:
    """The mean of every row over its completions: what a residual is expected to be given the observed cells."""
    return residuals[0] if len(residuals) == 1 else np.mean(residuals, axis=0)


def _largest(z: Array) -> Array:
    """The entry of every row that is largest in size, with its sign."""
    return z[np.arange(len(z)), np.argmax(np.abs(z), axis=1)]


def _pairs(residuals: Array, names: Sequence[str], frame: str | None) -> AnyData:
    """z-scores of pairs: what the columns have in common beyond the model, both ways together."""
    m = len(names)
    i, j = np.triu_indices(m, k=1)
    z = z_scores(residuals[:, i, j] + residuals[:, j, i])
    order = np.argsort(-np.abs(z), kind="stable")
    columns: dict[str, tuple[Kind, Any]] = {
        "source": (str, [names[k] for k in i[order]]),
        "target": (str, [names[k] for k in j[order]]),
        "z": (float, z[order]),
        "p_value": (float, 2 * ndtr(-np.abs(z[order]))),
    }
    return as_table(columns, frame)


def _misses(z: Array, p_value: float, level: float) -> str:
    """What the family misses of a column; nothing if that is not clear among all columns."""
    if p_value > level:
        return ""
    own, others = np.abs(z[: len(OWN)]).max(), np.abs(z[len(OWN) :]).max()
    return "its distribution given the others" if own >= others else "how it depends on the others"


def _describe(fit: Fit, p_value: float, level: float, misses: list[str], p_columns: Array) -> str:
    family = repr(fit.prepared.preparation.family)
    if p_value >= level:
        return f"{family} fits, as far as the rows can tell (p = {p_value:.2g})."
    clear = [j for j in np.argsort(p_columns, kind="stable") if misses[j]]
    missed = first_few([f"{clipped(fit.names[j])} ({misses[j]})" for j in clear], "; ")
    where = f" It misses most: {missed}." if missed else " No single column stands out."
    advice = _WHY_NOT_LATENT if fit.settings.family.has_margins else _OTHER_FAMILIES
    return f"{family} does not fit (p = {p_value:.2g}).{where} {advice}"


def remarks_on_fit(fit: Fit) -> list[Remark]:
    """The caution that the family hardly fits, at a level of 0.1 %; none where that cannot be checked."""
    m = len(fit.names)
    if not fit.settings.family.is_pairwise or m > _MOST_COLUMNS or not fit.weights.is_tapered:
        return []
    worst = _worst_pairs(fit) if _is_of_margins(fit) else _worst_columns(fit)
    if worst is None:
        return []
    words = Message(
        f"The model hardly fits the data (p < {_CAUTION_LEVEL:g})",
        f", least of all {first_few(worst, '; ')}" if worst else "",
        ". Some links may only reflect what it misses. ",
        *_what_to_do(fit, worst),
    )
    return [Remark(words, UserWarning, About.MISFIT)]


def _what_to_do(fit: Fit, worst: list[str]) -> list[Part]:
    """The one action that would help, which is not what was tried."""
    if not fit.settings.family.has_margins:
        if worst and CURVE in worst[0]:  # which it is in any family
            return ["Fit the rows before and after the bend separately, or transform one of the columns."]
        return ["Take ", Setting("family", "copula"), ", which is for columns of any shape."]
    if any(BENDS in words for words in worst):
        return ["Fit the rows before and after the bend separately, or leave out one of the two columns."]
    groups = Phrase("moderators=", "--by")
    return ["There may be groups of rows: fit them separately, or name their column by ", groups, "."]


def describes_rows(fit: Fit) -> bool:
    """Whether the rows that count do not refute the family at a level of 0.1 %, and are enough to say so.

    Of weights of blocks, and of very many columns, nothing is said against the family.
    """
    is_checked = fit.weights.is_tapered or fit.weighed.n_blocks == 1
    if not is_checked or len(fit.names) > _MOST_COLUMNS:
        return True
    return rows_to_check([fit], _MOST_ROWS).size >= _n_rows_needed(fit) and _worst_columns(fit) is None


def _worst_columns(fit: Fit) -> list[str] | None:
    """The columns that the family misses most, and how; None where the test does not refute it, or cannot be made."""
    m = len(fit.names)
    _, completions = _completions_to_check(fit, _FEW_COMPLETIONS, max(_MOST_ROWS, 10 * m))
    if not completions:
        return None
    nodes = _some_columns(m)
    try:
        by_column = [_mean_of([checked.of_column(int(j)) for checked in completions]) for j in nodes]
    except np.linalg.LinAlgError:  # nothing is determined without a penalty
        return None
    if joint_p_value(np.concatenate(by_column, axis=1)) >= _CAUTION_LEVEL:
        return None
    p_columns = [joint_p_value(residuals) for residuals in by_column]
    least = np.argsort(p_columns, kind="stable")[:3]
    return describe_misfit(fit, np.array([nodes[k] for k in least if p_columns[k] < _CAUTION_LEVEL / m], dtype=np.intp))


def _worst_pairs(fit: Fit) -> list[str] | None:
    """The same of a copula, of which pairs can be missed."""
    nodes, rows = _some_columns(len(fit.names)), rows_to_check([fit], _MOST_COMPARED)
    if rows.size < _n_rows_needed(fit):
        return None
    found = check_pairs(fit, rows, nodes, FEW_SIMULATED)
    if found.p_value >= _CAUTION_LEVEL:
        return None
    p_values = np.where(np.tri(nodes.size, k=0, dtype=bool), np.nan, found.p_values)
    order = np.argsort(p_values, axis=None, kind="stable")[:3]
    clear = [divmod(int(k), nodes.size) for k in order if p_values.flat[k] * nodes.size**2 / 2 < _CAUTION_LEVEL]
    told: dict[str, list[str]] = {}
    for pair in clear:
        told.setdefault(found.misses(*pair), []).append(" and ".join(clipped(fit.names[int(nodes[k])]) for k in pair))
    return [f"{', '.join(pairs)} ({words})" for words, pairs in told.items()]


def _some_columns(m: int) -> IntArray:
    return np.unique(np.linspace(0, m - 1, min(m, _MOST_NODES)).round().astype(int))


@dataclass(frozen=True)
class ResidualRows:
    """Complete rows of a fit, in the coordinates and with the weights that residuals are computed with.

    Attributes
    ----------
    family : PowerFamily
    weight : CommonWeight
        With the row weights of the fit; H and H1 are those of the estimate.
    slope : array of shape (n, m)
        t_j d_j phi, or d_j phi on the real line.
    """

    family: PowerFamily
    weight: CommonWeight
    slope: Array

    @classmethod
    def of(cls, fit: Fit, rows: IntArray) -> ResidualRows | None:
        """The checked of some rows of a fit, by ascending positions; None where the family has no such residuals."""
        family = fit.prepared.preparation.scaled_family
        X, c = fit.prepared.rows.take(rows), None
        if type(family) is GivenCovariates:
            c = X[:, family.own_columns(X.shape[1]) :]
            family, X = family.base, X[:, : -family.n_given]
        is_real = not family.domain.is_non_negative and bool((X < 0).any())
        if not is_comparable(family, is_real=is_real):
            return None
        assert isinstance(family, PowerFamily)
        coordinates = Coordinates.of(X, is_real=is_real)
        t = coordinates(X)
        if not is_real and min(family.a, family.b) == 0 and not t.all():
            return None
        phi, slope = np.ones(len(t)), np.zeros_like(t)
        weights = fit.weights
        if weights.phi is not None and weights.slopes is not None:
            phi, bend = weights.phi[rows], weights.slopes[rows]
            if bend.any():
                # A taper is a function of -log p under the pilot fit, so its derivative has that of log p in it.
                slope = -bend[:, None] * _slopes(family, coordinates, t, c, weights.parameters)
        counted = phi > 0
        weight = CommonWeight.weighted(t[counted], phi[counted], slope[counted], is_real=is_real)
        return cls(family, weight if c is None else replace(weight, c=c[counted]), slope[counted])

    def some(self, rows: slice) -> ResidualRows:
        """The checked of some of the rows."""
        return ResidualRows(self.family, self.weight.ordered(rows), self.slope[rows])

    def at(self, j: int) -> Node:
        """The estimate of node j without a penalty, from all rows of the checked."""
        m = self.weight.t.shape[1]
        V, W = self.weight.gradients(self.family, j, np.arange(m))
        H, H1 = self.weight.H[:, j, None], self.weight.H1[:, j, None]
        gamma = (H * V).T @ V
        hessian = gamma + np.diag(_RIDGE * np.maximum(np.diagonal(gamma), 1e-300))
        z = np.linalg.solve(hessian, -np.sum(H1 * V + H * W, axis=0))
        slopes = V @ z
        return Node(self, j, V, slopes, (H * slopes[:, None] + H1) * V + H * W, hessian, z)

    def of_column(self, j: int) -> Array:
        """Residuals of a column itself, and of how the others pull at it, shape (n, 6).

        How they pull is taken from the fit to the other half of the rows: a fit follows its own rows too closely.
        """
        n = len(self.weight.t)
        whole, one = self.at(j), np.ones((n, 1))
        found = np.zeros((n, len(OWN) + len(COUPLED)))
        for column, degree in enumerate(OWN):
            found[:, column] = whole.residuals(degree, one)[:, 0]
        halves = slice(0, None, 2), slice(1, None, 2)
        nodes = [self.some(half).at(j) for half in halves]
        for half, here, other in zip(halves, nodes, nodes[::-1], strict=True):
            pull = other.pull(here.checked.weight.t)
            for column, (degree, power) in enumerate(COUPLED, start=len(OWN)):
                found[half, column] = here.residuals(degree, pull[power - 1][:, None])[:, 0]
        return found


def _slopes(family: PowerFamily, coordinates: Coordinates, t: Array, c: Array | None, given: Parameters) -> Array:
    """t_j d_j log p of rows, or d_j log p on the real line, at parameters of their columns as given, shape (n, m)."""
    m = t.shape[1]
    (K, eta), found = given, np.empty_like(t)
    if c is not None:
        eta = eta[:, 0] + c @ eta[:, 1:].T
    K, eta = coordinates.parameters(family, (K, eta))
    for j in range(m):
        V, _ = gradients_of_node(family, t, j, np.arange(m), is_real=coordinates.is_real)
        found[:, j] = V @ np.append(K[:, j], eta[j]) if c is None else V[:, :m] @ K[:, j] + V[:, m] * eta[:, j]
    return found


@dataclass(frozen=True)
class Node:
    """One column given the others.

    Attributes
    ----------
    checked : ResidualRows
    j : int
    V : array of shape (n, m + 1), or with q covariates (n, m + 1 + q); likewise below
    slopes : array of shape (n,)
        t_j d_j log p at the estimate, or d_j log p on the real line.
    psi : array of shape (n, m + 1)
        What rows add to the estimating equations.
    hessian : array of shape (m + 1, m + 1)
        Their derivative, a sum over rows.
    z : array of shape (m + 1,)
        The estimate.
    """

    checked: ResidualRows
    j: int
    V: Array
    slopes: Array
    psi: Array
    hessian: Array
    z: Array

    def residuals(self, degree: int, others: Array) -> Array:
        """r~ of k_j = y (1 - y) P(y) q for functions q of the other columns, shape (n, f), in that shape."""
        weight = self.checked.weight
        t = weight.t[:, self.j]
        y = expit(t) if weight.is_real else t / (1 + t)
        P, D = _legendre(y, degree)
        base = y * (1 - y)
        change = (1 - 2 * y) * P + base * D
        if weight.is_real:  # k, and its derivative
            k, derivative = base * P, change * base
        else:  # k / t, and the derivative of k
            k, derivative = (1 - y) ** 2 * P, change * (1 - y) ** 2
        plain = weight.phi * (k * self.slopes + derivative) + self.checked.slope[:, self.j] * k
        weighted = (weight.phi * k)[:, None] * others
        taken = np.linalg.solve(self.hessian, self.V.T @ weighted)
        left = weighted - weight.H[:, self.j, None] * (self.V @ taken)
        return np.asarray(plain[:, None] * others - self.psi @ taken + left * self.leverage[:, None])

    @cached_property
    def leverage(self) -> Array:
        """V' H^-1 r(h v), shape (n,): how much the estimate without a row would change the row's slope.

        With it residuals are as at an estimate that has not seen the row; else its mean would be off by one over n.
        """
        return np.einsum("ij,ij->i", self.V, np.linalg.solve(self.hessian, self.psi.T).T)

    def pull(self, t: Array) -> tuple[Array, Array]:
        """How the others of rows t, shape (n, m), pull at this column: a bounded number, and its centred square."""
        a, others = self.checked.family.a, self.z[: t.shape[1]].copy()
        others[self.j] = 0.0
        coupling = (t**a if a else np.log(t)) @ others
        away = coupling - np.median(coupling)
        spread = float(np.median(np.abs(away)))
        q = np.tanh(away / (1.5 * spread)) if spread > 0 else np.zeros(len(t))
        return q, q**2 - np.mean(q**2)

    def of_pairs(self) -> Array:
        """Residuals of the column with each of the others, shape (n, m)."""
        t = self.checked.weight.t
        bounded = np.tanh(t) if self.checked.weight.is_real else (t - 1) / (t + 1)
        return self.residuals(0, bounded)


def _legendre(y: Array, degree: int) -> tuple[Array, Array]:
    """P(2 y - 1) and its derivative in y."""
    polynomial = np.polynomial.Legendre.basis(degree)
    return np.asarray(polynomial(2 * y - 1)), np.asarray(2 * polynomial.deriv()(2 * y - 1))


def conditional_ranks(fit: Fit, columns: IntArray) -> Array:
    """F(x_j | the others) of rows that count, at most 1000, and some columns, shape (n, k)."""
    family = fit.prepared.preparation.scaled_family
    if family.n_given or not has_conditionals(family):
        raise UsageError(
            f"{fit.prepared.preparation.family!r} cannot be checked column by column: that needs a family on [0, inf) "
            "or the real line, without covariates; choose one with ",
            Setting("family"),
            ".",
        )
    X = fit.prepared.rows.take(rows_to_check([fit], _MOST_RANKED))
    parameters = proper(family, fit.loss, fit.unshrunk)
    return conditionals(family, X, parameters, X[:, columns], columns, np.ones(len(X), dtype=bool), _GRID_POINTS).share
