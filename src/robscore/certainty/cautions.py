"""What must a reader of a fit be careful about? One list for every interface, worst first.

Most cautions are found elsewhere and gathered here; those about the order of the rows are found here. Neighbouring rows
that resemble each other do not change the graph, but they carry less information than as many independent rows. For
columns that are first-order autoregressions with correlation rho, products of two columns have rho^2, and the variance
of a mean of products grows by (1 + rho^2) / (1 - rho^2); an interval of level 95 % then covers

    2 Phi(1.96 sqrt((1 - rho^2) / (1 + rho^2))) - 1:        82 % for rho = .6, 47 % for rho = .9
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from robscore._tools.messages import About, Caution, Message, Phrase, Remark, Setting, signed, worst_first
from robscore._tools.typing import Array
from robscore.certainty.check_fit import remarks_on_fit
from robscore.certainty.influence import find_time_blocks
from robscore.certainty.rows_left_out import remarks_on_left_out, rows_left_out
from robscore.certainty.straight_lines import remarks_on_straight_lines
from robscore.families.power import PowerFamily
from robscore.fitting.fit_result import Fit, GraphFit
from robscore.fitting.moderator_units import remarks_on_codes

_FEWEST_ROWS = 20  # fewer say too little of each other, or of anything else
_ROUNDING = 0.05  # rows: effective numbers of rows are sums of weights
_MANY_WRONG = 0.01  # share of the cells: fewer wrong ones change little, even if they were right
_CAUSES = {
    About.FEW_ROWS: "there are too few rows",
    About.GROUP: "rows that belong together were left out",
    About.LEFT_OUT: "so many rows are not described",
    About.MISFIT: "the family hardly fits",
    About.DEPENDENT_COLUMNS: "columns nearly determine each other",
    About.NOT_CONVERGED: "the fit did not converge",
}
_MOST_ORDERED_ROWS, _MOST_ORDERED_COLUMNS = 5000, 200  # that are looked at: it saves time
_FEWEST_ORDERED_ROWS = 50  # fewer say too little of their order
_LEAST_COVERAGE = 0.9  # of intervals of 95 %: less deserves a caution
_FAR = 20  # rows apart: rows that are still alike there are sorted, or drift
_LASTING = 0.2  # correlation of rows that far apart: more deserves a caution
_HARDLY = 0.1  # correlation of rows that may be taken for independent
_CLEAR = 4.0  # standard errors that a correlation must be away from zero


def cautions_of(fit: Fit, more: Sequence[Remark] = ()) -> list[Caution]:
    """The cautions of a fit, with others, worst first; none if all is well."""
    remarks = [
        *(remark for remark in fit.remarks if remark.kind != About.DIAGONAL),
        *remarks_on_left_out(rows_left_out(fit), fit.names),
        *more,
        *_remarks_on_size(fit),
        *remarks_on_fit(fit),
        *_remarks_on_strength(fit),
        *_remarks_on_copies(fit),
        *remarks_on_straight_lines(fit),
        *remarks_on_codes(fit.prepared.preparation.moderators),
    ]
    if any(remark.kind == About.MISFIT for remark in remarks):
        remarks += _remarks_on_wrong_cells(fit)
    if not any(remark.kind == About.SORTED for remark in remarks):
        remarks += remarks_on_order(fit)
    if any(remark.kind == About.GROUP for remark in remarks):  # it says the same as LEFT_OUT, and more
        remarks = [remark for remark in remarks if remark.kind != About.LEFT_OUT]
    symptoms = [remark for remark in remarks if remark.kind == About.STRENGTH]  # of which the diagonal is the reason
    symptoms = symptoms or [remark for remark in fit.remarks if remark.kind == About.DIAGONAL]
    others = _merged([remark for remark in remarks if remark not in symptoms])
    return worst_first([*others, *(_with_cause(symptom, remarks, fit) for symptom in symptoms)])


def _merged(remarks: list[Remark]) -> list[Remark]:
    """The table of kinds of columns below the caution that the family hardly fits, where both advise the same."""
    advice = Setting("family", "copula")
    by_kind = {remark.kind: remark for remark in remarks if advice in remark.message.parts}
    misfit, columns = by_kind.get(About.MISFIT), by_kind.get(About.COLUMNS)
    if misfit is None or columns is None:
        return remarks
    return [
        misfit.with_table(columns.table) if remark is misfit else remark for remark in remarks if remark is not columns
    ]


def _remarks_on_size(fit: Fit) -> list[Remark]:
    """The caution that there are effectively fewer rows than columns, or too few to judge anything."""
    effective, m = min(fit.weights.effective_rows), len(fit.names)
    if effective > max(m, _FEWEST_ROWS) - _ROUNDING:
        return []
    too_few = f"and it takes {_FEWEST_ROWS} to judge rows by each other"
    why = f"fewer than the {m} columns" if effective < m else too_few
    fewer: list[str | Setting] = [] if fit.weights.is_tapered else [", or fewer blocks (", Setting("n_blocks"), ")"]
    n = fit.prepared.rows.n_repeated
    start = f"The {n} rows say as much as {_below(effective, max(m, _FEWEST_ROWS))} rows of equal weight"
    words = Message(
        f"{start if round(effective) < n else f'There are only {n} rows'}, {why}: where no link was found there may "
        "still be one. Use more rows or fewer columns",
        *fewer,
        ".",
    )
    return [Remark(words, UserWarning, About.FEW_ROWS)]


def _remarks_on_strength(fit: Fit) -> list[Remark]:
    """The caution that associations are larger than any correlation could be."""
    if not (isinstance(fit, GraphFit) and isinstance(fit.prepared.preparation.family, PowerFamily)):
        return []
    i, j = fit.graph.strongest_first()
    strength = fit.graph.association[i, j]
    beyond = np.flatnonzero(np.abs(strength) > 1)
    if not beyond.size:
        return []
    k = int(beyond[0])  # pairs are listed by decreasing strength
    names = f"{fit.names[i[k]]!r} and {fit.names[j[k]]!r}"
    more = "" if beyond.size == 1 else f" (and {beyond.size - 1} more beyond 1)"
    words = (
        f"The association of {names} is {signed(float(strength[k]))}{more}, more than a correlation can be: the data "
        "hardly say how much these variables vary given the others. Do not go by its size."
    )
    return [Remark(words, UserWarning, About.STRENGTH)]


def _remarks_on_wrong_cells(fit: Fit) -> list[Remark]:
    """The caution that cells were called wrong by a family that hardly fits."""
    filling = fit.prepared.filling
    if filling is None or filling.suspects is None:
        return []
    wrong, frequency = filling.suspects.likely_wrong, fit.prepared.rows.frequency
    share = float(wrong.mean() if frequency is None else frequency @ wrong.mean(axis=1) / frequency.sum())
    if share < _MANY_WRONG:
        return []
    words = Message(
        f"{share:.1%} of the cells were called wrong, by a family that hardly fits: many of them may be right. Look at "
        "some before you correct them, try another ",
        Setting("family"),
        ", or compare with a fit that looks for none.",
    )
    return [Remark(words, UserWarning, About.MISFIT)]


def _below(value: float, limit: int) -> str:
    """A number with as many digits as it takes to be seen below a limit."""
    return f"{value:.0f}" if round(value) < limit else f"{value:.3g}"


def _remarks_on_copies(fit: Fit) -> list[Remark]:
    """The caution that rows are equal to others."""
    copies = 0 if fit.weighed.found is None else fit.weighed.found.copies
    if not copies:
        return []
    who, drop = ("1 row is equal to another", "it") if copies == 1 else (f"{copies} rows are equal to others", "them")
    words = f"{who} to the last digit: measured twice, filled in, or copied? Drop {drop} if so."
    return [Remark(words, UserWarning, About.COPIES)]


def _with_cause(symptom: Remark, remarks: list[Remark], fit: Fit) -> Remark:
    """The symptom with its cause, if that is known."""
    causes = [_CAUSES[remark.kind] for remark in sorted(remarks, key=lambda one: one.kind) if remark.kind in _CAUSES]
    phi = fit.weights.phi
    why: tuple[str | Setting, ...] = ()
    if causes:
        why = (f" This happens where {causes[0]}, as here.",)
    elif phi is None and fit.settings.blocks_unspecified:
        why = (" Bad rows cause this, and here they could not be told from good ones.",)
    elif phi is None:
        start = " Bad rows cause this, and here they were kept: have them left out by giving neither "
        why = (start, Setting("n_blocks"), " nor ", Setting("contamination"), ".")
    elif np.any(phi == 0):
        why = (" Bad rows that were not left out cause this.",)
    return Remark(Message(symptom.message, *why), UserWarning, symptom.kind) if why else symptom


def correlation_of_rows(X: Array, lag: int) -> float:
    """Mean over columns of the rank correlation of rows that are so far apart, X of shape (n, m)."""
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    squares = np.einsum("ij,ij->j", ranks, ranks)
    products = np.einsum("ij,ij->j", ranks[lag:], ranks[:-lag])
    return float(np.mean(products / np.where(squares > 0, squares, 1.0)))


def coverage(correlation: float) -> float:
    """What an interval of level 95 % covers where neighbouring rows have this correlation."""
    square = min(correlation**2, 1 - 1e-9)
    return float(2 * ndtr(1.96 * np.sqrt((1 - square) / (1 + square))) - 1)


def remarks_on_order(fit: Fit) -> list[Remark]:
    """The caution that neighbouring rows resemble each other; none for few rows."""
    rows = fit.prepared.rows
    n = min(rows.n_rows, _MOST_ORDERED_ROWS)
    if n < _FEWEST_ORDERED_ROWS:
        return []
    X = rows.take(np.arange(n))[:, : min(_MOST_ORDERED_COLUMNS, len(fit.names))]
    near, far = correlation_of_rows(X, 1), min(_FAR, n // 5)
    if near < _CLEAR / np.sqrt(n):
        return []
    if fit.n_given and find_time_blocks(fit, ~np.eye(len(fit.names), dtype=bool)).size == 1:
        return []  # given the covariates, such as the row before, nothing is left of it
    if correlation_of_rows(X, far) > max(_LASTING, _CLEAR / 2 / np.sqrt(n)):
        words = Message(
            f"The rows seem to be sorted or to drift: rows {far} apart still resemble each other (neighbours "
            f"correlate by {near:.2f}). Groups may be hidden in them, and intervals that treat rows as independent are "
            "too short: fit the groups separately, or remove the trend from the columns first."
        )
        return [Remark(words, UserWarning, About.SORTED)]
    if coverage(near) > _LEAST_COVERAGE:
        return []
    words = Message(
        f"Neighbouring rows resemble each other (correlation {near:.2f}), as in a time series, so they say less than "
        "as many independent rows: 95 % intervals that treat them as independent would contain the truth in about "
        f"{coverage(near):.0%} of cases. {_on_graph(fit)}",
        Phrase(
            "edge_intervals() allows for it; rs.lagged(X) gives each row the one before it as covariates.",
            f"To check, fit one row in {_rows_apart(near)} only.",
        ),
    )
    return [Remark(words, UserWarning, About.SERIES)]


def _rows_apart(correlation: float) -> int:
    """How far apart rows of a first-order autoregression are hardly correlated."""
    return int(np.ceil(np.log(_HARDLY) / np.log(min(correlation, 0.99))))


def _on_graph(fit: Fit) -> str:
    """What the dependence of the rows did to the graph."""
    if not isinstance(fit, GraphFit):
        return ""
    if fit.chosen.tau > 1:
        return f"The graph was chosen as if {fit.chosen.tau:.1f} rows were one. "
    return "The graph may have too many edges. "
