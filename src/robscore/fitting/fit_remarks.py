"""Remarks on a fit: columns that nearly determine each other, and what did not converge or settle."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from robscore._tools.messages import About, Message, Remark, Setting, quoted
from robscore._tools.typing import Array, IntArray
from robscore.elements import PairwiseElements
from robscore.families.family import Parameters
from robscore.fitting.choose import Chosen
from robscore.fitting.moderator_units import remarks_on_density
from robscore.fitting.prepare import Prepared
from robscore.fitting.weigh import Weighed
from robscore.graph import association
from robscore.losses.quadratic import QuadraticLoss
from robscore.rows.row_source import some_of
from robscore.solvers.path import convergence_message
from robscore.weighting.row_weights import RowWeights, squared_total

_DETERMINED = 0.99  # share of a column's variance that the others explain
_ROWS_A_COLUMN = 3  # with fewer, columns seem to explain each other
_MOST_ROWS = 5_000


def nearly_dependent(elements: PairwiseElements, weights: RowWeights) -> IntArray:
    """Columns whose variance the others explain nearly all of, by linear regression over the rows that count."""
    counted = np.flatnonzero(weights.gamma_weights)
    if counted.size > _MOST_ROWS:
        counted = counted[np.linspace(0, counted.size - 1, _MOST_ROWS).astype(np.intp)]
    share = weights.gamma_weights[counted] / weights.gamma_weights[counted].sum()
    n_rows = 1.0 / squared_total(share, some_of(weights.frequency, counted))
    if n_rows < _ROWS_A_COLUMN * elements.n_columns:
        return np.zeros(0, dtype=np.intp)
    values = elements.subset(counted).columns()
    left = _unexplained((values - share @ values) * np.sqrt(share)[:, None])
    # As many rows as columns would explain everything: what is left is stretched by the degrees of freedom.
    return np.flatnonzero(left * n_rows / (n_rows - elements.n_columns) < 1 - _DETERMINED)


def _unexplained(centred: Array) -> Array:
    """Share of every column's variance that the others leave, shape (m,)."""
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    scaled = centred / np.where(norms > 0, norms, 1.0)
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    return 1.0 / np.sum(vectors**2 / np.maximum(values, np.finfo(float).eps * len(values)), axis=1)


def remarks_on_dependence(columns: IntArray, names: list[str], n_edges: int) -> list[Remark]:
    """The caution about nearly dependent columns, once; where there is no edge, they may be why."""
    if not columns.size:
        return []
    listed = quoted([names[j] for j in columns])
    who = f"Columns {listed} are" if columns.size > 1 else f"Column {listed} is"
    words = Message(
        f"{who} determined by others to more than {_DETERMINED:.0%}, so the data hardly say which of them are linked: "
        "drop or combine some, forbid their links with ",
        Setting("penalty_weights"),
        ", or steady the fit with ",
        Setting("diagonal_multiplier", 0.01),
        "." if n_edges else ". This may be why no link was found.",
    )
    return [Remark(words, UserWarning, About.DEPENDENT_COLUMNS)]


def remarks_on_graph(
    prepared: Prepared,
    elements: PairwiseElements,
    weighed: Weighed,
    loss: QuadraticLoss,
    chosen: Chosen,
    scaled: Parameters,
    given: Parameters,
) -> list[Remark]:
    """All remarks on a penalised fit, with parameters on the scaled and on the given columns."""
    preparation = prepared.preparation
    is_whole = loss.gamma_last is not None  # parts of a whole always determine each other
    dependent = np.zeros(0, dtype=np.intp) if is_whole else nearly_dependent(elements, weighed.weights)
    return [
        *weighed.remarks,
        *remarks_on_dependence(dependent, preparation.names, int(chosen.path.n_edges[chosen.position])),
        *chosen.remarks,
        *remarks_on_convergence(chosen),
        *remarks_on_filling(prepared),
        *association(preparation.family.common(given[0]))[1],
        *remarks_on_density(preparation.scaled_family, prepared.rows, scaled),
    ]


def remarks_on_convergence(chosen: Chosen) -> list[Remark]:
    """The caution that penalties of the path did not converge."""
    if chosen.path.converged.all():
        return []
    converged = chosen.path.converged[chosen.position]
    first = "The graph shown has converged. On the path to it, " if converged else "The fit did NOT converge: "
    kind = About.OTHER if converged else About.NOT_CONVERGED
    return [Remark(Message(first, convergence_message(chosen.path)), ConvergenceWarning, kind)]


def remarks_on_filling(prepared: Prepared) -> list[Remark]:
    """The caution that the filling of cells did not settle."""
    filling = prepared.filling
    if filling is None or filling.converged:
        return []
    words = (
        f"Filling in cells did not settle: the parameters still moved by {filling.change:.1%} after {filling.rounds} "
        "rounds. Many cells of some columns are missing or wrong; drop these columns, or trust small differences less."
    )
    return [Remark(words, ConvergenceWarning, About.NOT_CONVERGED)]
