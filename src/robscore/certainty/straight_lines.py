"""Whether more rows have the same answer to every question than the fit expects.

A row of equal answers does not surprise a likelihood: where questions go together it is even likely. So such rows are
counted, and compared with how many the fit expects: the share of them among rows that are simulated from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from robscore._tools.messages import About, Message, Remark, first_few
from robscore._tools.typing import Array, BoolArray, IntArray
from robscore.families.copula import Margins
from robscore.fitting.fit_result import Fit
from robscore.fitting.latent_scale import latent_correlations


@dataclass(frozen=True)
class StraightLineRule:
    """When rows of equal answers are worth a caution.

    Attributes
    ----------
    fewest_questions : int, default 6
        With the same answers to choose from; of fewer, equal answers are ordinary.
    times : float, default 3
        As many rows as the fit expects must there be: where all questions ask nearly the same, real answers are equal
        somewhat more often than those of normal latent numbers.
    level : float, default 0.001
        Of a test that there are no more than the fit expects: few clean tables may get a caution.
    n_simulated : int, default 20000
        Rows.
    """

    fewest_questions: int = 6
    times: float = 3.0
    level: float = 0.001
    n_simulated: int = 20_000


def remarks_on_straight_lines(fit: Fit, rule: StraightLineRule | None = None) -> list[Remark]:
    """The caution that more rows have the same answer throughout than the fit expects; for the copula."""
    rule, margins, filling = rule or StraightLineRule(), fit.prepared.preparation.scaling, fit.prepared.filling
    if not isinstance(margins, Margins) or filling is None or fit.n_given:
        return []
    X = filling.given
    for questions in _questions_alike(margins, X):
        if questions.size < rule.fewest_questions:
            continue
        answers = X[:, questions]
        equal = np.flatnonzero(_are_equal(answers))
        n = int(np.count_nonzero(~np.isnan(answers).any(axis=1)))
        share = _expected_share(fit, margins, questions, rule)
        if equal.size > rule.times * share * n and binom.sf(equal.size - 1, n, share) < rule.level:
            return [_remark(equal, fit.used, questions.size, share * n)]
    return []


def _questions_alike(margins: Margins, X: Array) -> Iterator[IntArray]:
    """Columns of answers that have the same answers to choose from."""
    asked = [j for j, kind in enumerate(margins.kinds) if kind.word == "answers"]
    ends = {j: (float(np.nanmin(X[:, j])), float(np.nanmax(X[:, j]))) for j in asked}
    for end in dict.fromkeys(ends.values()):
        yield np.array([j for j in asked if ends[j] == end], dtype=np.intp)


def _are_equal(answers: Array) -> BoolArray:
    return np.asarray(np.all(answers == answers[:, :1], axis=1))


def _expected_share(fit: Fit, margins: Margins, questions: IntArray, rule: StraightLineRule) -> float:
    """The share of simulated rows whose answers are equal; half a row more, so that it is not 0."""
    root = np.linalg.cholesky(latent_correlations(fit.loss)[np.ix_(questions, questions)])
    noise = np.random.default_rng([fit.settings.seed, 6]).standard_normal((rule.n_simulated, questions.size))
    rows = margins.of_columns(questions).undo(noise @ root.T)
    return (float(np.count_nonzero(_are_equal(rows))) + 0.5) / (rule.n_simulated + 1)


def _remark(rows: IntArray, used: IntArray, n_questions: int, expected: float) -> Remark:
    named = first_few([str(row) for row in used[rows].tolist()])
    words = Message(
        f"{rows.size} rows give the same answer to all {n_questions} questions that have the same choice of answers, "
        f"where about {expected:.2g} would be expected: answered without reading? They were kept, since none of their "
        f"answers is unusual. Leave them out if nobody would answer so: rows {named}, counted from 0."
    )
    return Remark(words, UserWarning, About.COPIES)
