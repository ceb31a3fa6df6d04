"""Families compared: the held-out loss of each, and which are clearly worse than the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robscore._tools.messages import About, Message, Remark, Setting, UsageError, quoted
from robscore._tools.typing import AnyData
from robscore.families.family import Family, get_family
from robscore.families.power import PowerFamily
from robscore.families.simplex import Simplex
from robscore.family_choice.common_loss import Coordinates, is_comparable
from robscore.family_choice.data_profile import ConstantSum, DataProfile
from robscore.family_choice.held_out_loss import Design, HeldOut
from robscore.rows.input_data import open_rows, readable
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import as_table, default_names

FAMILIES = ("sqrt", "gamma", "truncated-gaussian", "log-log", "gaussian", "simplex")
WORSE = 3.0  # errors
_FEWEST_ROWS = 20
_FEW_NEGATIVE = 0.002  # of all values: that may be errors


@dataclass(frozen=True)
class Compared:
    """One line of the table."""

    name: str
    family: Family
    verdict: str
    reason: str = ""
    loss: float = np.nan
    difference: float = np.nan
    error: float = np.nan


def compare_families(X: AnyData, families: Sequence[str | Family] | None = None, *, random_state: int = 0) -> AnyData:
    """How well each family predicts held-out rows, under the same row and boundary weights for all.

    The loss is the score-matching loss with h_j = phi(x) min(d_j, 3)^2 on columns scaled by their medians, where phi
    lets rows far from the middle count less, whatever the family; if data are below zero, h_j = phi. This is half
    the weighted Fisher divergence from the truth, up to a constant of the data, so losses of families can be compared.
    Fits have no penalty, and each row is held out of one. What the fits themselves cost is taken off (the loss is the
    mean of those held out and fitted), so that a family is judged by how near it comes to the truth.

    Parameters
    ----------
    X : array-like or data frame of shape (n, m), or anything else that ``RobustGraph.fit`` accepts
        Incomplete rows are dropped; of more than 20,000 rows, 20,000 are drawn.
    families : sequence of str or Family, optional
        By default all named families.
    random_state : int, default 0
        Of the blocks that rows are held out in.

    Returns
    -------
    table with columns
        family (as ``family=`` takes it), loss, difference (from the best), error (of the difference, including the
        fits), verdict ("best"; "not told apart"; "worse", by more than three errors; "excluded", by the data),
        reason. Best first. On positive data a truncated Gaussian and a Gaussian have the same score, and share a line.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> X = np.exp(np.random.default_rng(0).normal(size=(500, 3)))
    >>> table = rs.compare_families(X)
    >>> str(table["family"][0]), str(table["verdict"][0])
    ('log-log', 'best')
    """
    opened = open_rows(X)
    library = None
    if opened is None:
        table = readable(X)
        opened, library = ArrayRows(np.asarray(table.values, dtype=float), table.names, whole=False), table.library
    with np.errstate(all="ignore"):
        found = compared(DataProfile.of(opened, random_state), FAMILIES if families is None else families, random_state)
    return as_table(
        {
            "family": (str, [one.name for one in found]),
            "loss": (float, [one.loss for one in found]),
            "difference": (float, [one.difference for one in found]),
            "error": (float, [one.error for one in found]),
            "verdict": (str, [one.verdict for one in found]),
            "reason": (str, [one.reason for one in found]),
        },
        library,
    )


def compared(table: DataProfile, families: Sequence[str | Family], seed: int) -> list[Compared]:
    """The lines of the table, best first."""
    if len(table.sample) < _FEWEST_ROWS:
        raise UsageError(
            f"There are {len(table.sample)} complete rows; comparing families takes at least {_FEWEST_ROWS}."
        )
    named = [(one if isinstance(one, str) else repr(one), get_family(one)) for one in families]
    if not named:
        raise UsageError("families is empty; name some, or leave it out.")
    lines, left = [], []
    for name, family in named:
        reason = excluded(family, table)
        if reason:
            lines.append(Compared(name, family, "excluded", reason))
        else:
            left.append((name, family))
    if not left:
        return lines
    if not all(isinstance(family, PowerFamily) for _, family in left):  # a composition: nothing to compare with
        return [*(Compared(name, family, "best", "rows sum to a constant") for name, family in left), *lines]
    coordinates = Coordinates.of(table.sample, is_real=table.is_real)
    design = Design.of(coordinates(table.sample), is_real=table.is_real, seed=seed)
    losses: dict[tuple[float, float], HeldOut] = {}
    first: dict[tuple[float, float], int] = {}
    told: list[tuple[str, Family, HeldOut, str]] = []
    for name, family in left:
        assert isinstance(family, PowerFamily)
        key = family.a, family.b
        if key in first:
            other = told[first[key]]
            same = f"{name} has the same score on these data"
            told[first[key]] = (*other[:3], f"{other[3]}; {same}" if other[3] else same)
            continue
        losses[key] = design.held_out(family)
        first[key] = len(told)
        told.append((name, family, losses[key], ""))
    return [*_judged(told), *lines]


def _judged(told: list[tuple[str, Family, HeldOut, str]]) -> list[Compared]:
    """Verdicts, best first."""
    told = sorted(told, key=lambda one: np.nan_to_num(one[2].loss, nan=np.inf))
    best = told[0][2]
    lines = []
    for name, family, held, reason in told:
        difference, error = held.difference(best)
        verdict = "best" if held is best else "worse" if difference > WORSE * error else "not told apart"
        lines.append(Compared(name, family, verdict, reason, held.loss, difference, error))
    return lines


def excluded(family: Family, table: DataProfile) -> str:
    """Why the data exclude a family, in words; empty where they do not."""
    if isinstance(family, Simplex):
        if table.is_real:
            return f"{int(table.negative.sum())} negative values"
        if table.whole is None:
            return "sums of rows are not constant"
        return _zeros(table) if table.zero.any() else ""
    if table.whole is not None:
        return f"rows sum to {table.whole.total:.6g}, so that columns determine each other"
    if family.domain.is_non_negative and table.is_real:
        return f"{int(table.negative.sum())} negative values"
    if family.domain.is_non_negative and table.lonely.any():
        count = np.count_nonzero(table.lonely)
        return f"{count} {'column' if count == 1 else 'columns'} without two different values above zero"
    if not is_comparable(family, is_real=table.is_real):
        return "not a power family on [0, inf), or on the real line, so its loss cannot be compared"
    assert isinstance(family, PowerFamily)
    if table.zero.any() and not table.is_real and min(family.a, family.b) == 0:
        return _zeros(table)
    return ""


def _zeros(table: DataProfile) -> str:
    count = np.count_nonzero(table.zero)
    return f"{int(table.zero.sum())} exact zeros, in {count} {'column' if count == 1 else 'columns'}"


@dataclass(frozen=True)
class FamilyChoice:
    """The family that ``family="auto"`` chose.

    Attributes
    ----------
    name : as ``family=`` takes it
    family : Family
    reason : str
    whole : what rows sum to, where they are to be closed to one; else None
    remarks : what there is to be careful about
    """

    name: str
    family: Family
    reason: str
    whole: ConstantSum | None = None
    remarks: tuple[Remark, ...] = ()


def choose_family(rows: Rows, seed: int, *, with_holes: bool = False) -> FamilyChoice:
    """By the domain first, of incomplete rows too where they are used ``with_holes``, then by the held-out loss."""
    table = DataProfile.of(rows, seed, with_holes=with_holes)
    if table.is_real:
        count = int(table.negative.sum())
        reason = f"chosen because {count} value{' is' if count == 1 else 's are'} below zero"
        return FamilyChoice("gaussian", get_family("gaussian"), reason, remarks=_remarks_on_few(table, rows))
    if table.whole is not None:
        reason = f"chosen because all rows sum to {table.whole.describe}"
        return FamilyChoice("simplex", get_family("simplex"), reason, None if table.whole.is_one else table.whole)
    if len(table.sample) and table.lonely.any():
        names = rows.names or default_names(rows.n_columns)
        which = [names[j] for j in np.flatnonzero(table.lonely)]
        reason = (
            f"chosen because {quoted(which)} {'has' if len(which) == 1 else 'have'} no two different values above zero"
        )
        return FamilyChoice("gaussian", get_family("gaussian"), reason)
    if len(table.sample) < _FEWEST_ROWS:
        return FamilyChoice(
            "sqrt", get_family("sqrt"), "chosen because there are too few complete rows to compare families"
        )
    lines = [one for one in compared(table, FAMILIES[:-2], seed) if one.verdict != "excluded"]
    best, others = lines[0], lines[1:]
    near = [one.name for one in others if one.verdict == "not told apart"]
    reason = f"best of {len(lines)} families by held-out loss"
    if near:
        reason += f"; the data cannot tell it from {' or '.join(filter(None, [', '.join(near[:-1]), near[-1]]))}"
    return FamilyChoice(best.name, best.family, reason)


def _remarks_on_few(table: DataProfile, rows: Rows) -> tuple[Remark, ...]:
    """The caution that so few values are below zero that they may be errors."""
    count = int(table.negative.sum())
    if count > _FEW_NEGATIVE * rows.n_rows * rows.n_columns:
        return ()
    names = rows.names or default_names(rows.n_columns)
    columns = quoted([names[j] for j in np.flatnonzero(table.negative)])
    who = f"Only {count} of {rows.n_rows * rows.n_columns} values {'is' if count == 1 else 'are'} below zero"
    words = Message(
        f"{who} (in {columns}): errors, or codes for missing values? All others could be of another family; drop "
        "these, or keep them with ",
        Setting("family", "gaussian"),
        ".",
    )
    return (Remark(words, UserWarning, About.MISFIT),)
