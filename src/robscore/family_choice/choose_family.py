"""Which family: those that a table admits, compared by held-out loss; and the choice that ``family="auto"`` makes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robscore._tools.messages import About, Message, Remark, Setting, UsageError, in_a_list, quoted
from robscore._tools.numbers import evenly_spread
from robscore._tools.typing import AnyData
from robscore.families.column_kinds import ColumnKind, Word
from robscore.families.family import Family, get_family
from robscore.families.power import PowerFamily
from robscore.families.simplex import Simplex
from robscore.family_choice.common_loss import Coordinates, is_comparable
from robscore.family_choice.data_profile import MOST_ROWS, ConstantSum, DataProfile
from robscore.family_choice.held_out_loss import HeldOut, HoldOutDesign
from robscore.rows.input_data import open_rows, readable
from robscore.rows.row_source import ArrayRows, Rows
from robscore.rows.tables import as_table, default_names

FAMILIES = ("sqrt", "gamma", "truncated-gaussian", "log-log", "gaussian", "simplex")
WORSE = 3.0  # standard errors of the difference to the best, from which on a family is clearly worse
_FEWEST_ROWS = 20  # complete rows, to compare families
_FEW_NEGATIVE = 0.002  # share of values below zero that may be errors
_FEW_ZEROS = 0.03  # share of a column, up to which families that end at zero may be chosen
_NOT_MEASURED: dict[Word, str] = {
    "two values": "two values", "answers": "answers", "counts": "counts", "zeros": "one value in many rows",
}  # fmt: skip


@dataclass(frozen=True)
class Compared:
    """One line of the table that :func:`compare_families` returns."""

    name: str
    family: Family
    verdict: str
    reason: str = ""
    loss: float = np.nan
    difference: float = np.nan
    error: float = np.nan


def compare_families(X: AnyData, families: Sequence[str | Family] | None = None, *, random_state: int = 0) -> AnyData:
    """How well each family predicts held-out rows, under the same row and boundary weights for all.

    The loss is the score-matching loss with h_j = phi(x) min(d_j, 3)^2 on columns scaled by their medians, where the
    row weight phi is less for rows far from the middle, whatever the family; if data are below zero, h_j = phi. This is
    half the weighted Fisher divergence from the truth, up to a constant of the data, so losses of families can be
    compared. Fits have no penalty, and each row is held out of one. The in-sample optimism of the fits is taken off
    (the loss is the mean of those held out and fitted), so that a family is judged by how near it comes to the truth.

    Parameters
    ----------
    X : array-like or data frame of shape (n, m), or anything else that ``RobustGraph.fit`` accepts
        Incomplete rows are dropped; of more than 20,000 rows, 20,000 are drawn.
    families : sequence of str or Family, optional
        By default all named families.
    random_state : int, default 0
        Seed of the blocks that rows are held out in.

    Returns
    -------
    table with columns
        family (as ``family=`` takes it), loss, difference (from the best), error (the standard error of the
        difference, including that of the fits), verdict ("best"; "not told apart"; "worse", by more than three standard
        errors; "excluded", by the data), reason. Best first. On positive data a truncated Gaussian and a Gaussian have
        the same score, and share a line.

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
        found = compare(DataProfile.of(opened, random_state), FAMILIES if families is None else families, random_state)
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


def compare(profile: DataProfile, families: Sequence[str | Family], seed: int) -> list[Compared]:
    """Compare families on the rows of a profile; the lines of the table, best first."""
    if len(profile.sample) < _FEWEST_ROWS:
        raise UsageError(
            f"There are {len(profile.sample)} complete rows; comparing families takes at least {_FEWEST_ROWS}."
        )
    named = [(one if isinstance(one, str) else repr(one), get_family(one)) for one in families]
    if not named:
        raise UsageError("families is empty; name some, or leave it out.")
    excluded, admitted = [], []
    for name, family in named:
        reason = reason_to_exclude(family, profile)
        if reason:
            excluded.append(Compared(name, family, "excluded", reason))
        else:
            admitted.append((name, family))
    if not admitted:
        return excluded
    # Families with the same exponents have the same loss on these data, and share a line.
    alike: dict[tuple[float, float], list[tuple[str, PowerFamily]]] = defaultdict(list)
    for name, family in admitted:
        if not isinstance(family, PowerFamily):  # of a composition, which there is nothing to compare with
            return [*(Compared(*one, "best", "rows sum to a constant") for one in admitted), *excluded]
        alike[family.a, family.b].append((name, family))
    coordinates = Coordinates.of(profile.sample, is_real=profile.is_real)
    design = HoldOutDesign.of(coordinates(profile.sample), is_real=profile.is_real, seed=seed)
    found = []
    for (name, power_family), *others in alike.values():
        reason = "; ".join(f"{other} has the same score on these data" for other, _ in others)
        found.append((name, power_family, design.held_out(power_family), reason))
    return [*_with_verdicts(found), *excluded]


def _with_verdicts(found: list[tuple[str, PowerFamily, HeldOut, str]]) -> list[Compared]:
    """Lines with verdicts, best first."""
    found = sorted(found, key=lambda one: np.nan_to_num(one[2].loss, nan=np.inf))
    best = found[0][2]
    lines = []
    for name, family, held, reason in found:
        difference, error = held.difference(best)
        verdict = "best" if held is best else "worse" if difference > WORSE * error else "not told apart"
        lines.append(Compared(name, family, verdict, reason, held.loss, difference, error))
    return lines


def reason_to_exclude(family: Family, profile: DataProfile) -> str:
    """Say why the data exclude a family; empty where they do not."""
    if isinstance(family, Simplex):
        if profile.is_real:
            return f"{int(profile.negative.sum())} negative values"
        if profile.constant_sum is None:
            return "sums of rows are not constant"
        return _zeros(profile) if profile.zero.any() else ""
    if profile.constant_sum is not None:
        return f"rows sum to {profile.constant_sum.total:.6g}, so that columns determine each other"
    if family.domain.is_non_negative and profile.is_real:
        return f"{int(profile.negative.sum())} negative values"
    if family.domain.is_non_negative and profile.without_two_values.any():
        count = np.count_nonzero(profile.without_two_values)
        return f"{count} {'column' if count == 1 else 'columns'} without two different values above zero"
    if not is_comparable(family, is_real=profile.is_real):
        return "not a power family on [0, inf), or on the real line, so its loss cannot be compared"
    assert isinstance(family, PowerFamily)
    if profile.zero.any() and not profile.is_real and min(family.a, family.b) == 0:
        return _zeros(profile)
    return ""


def _zeros(profile: DataProfile) -> str:
    count = np.count_nonzero(profile.zero)
    return f"{int(profile.zero.sum())} exact zeros, in {count} {'column' if count == 1 else 'columns'}"


@dataclass(frozen=True)
class FamilyChoice:
    """The family that ``family="auto"`` chose.

    Attributes
    ----------
    name : as ``family=`` takes it
    family : Family
    reason : str
    constant_sum : ConstantSum or None
        What rows sum to, where they are to be divided so that they sum to one.
    remarks : cautions
    others : those that the data cannot tell from each other, where that is why none of them was chosen
    by_data : whether the data chose it, and it must describe them
    """

    name: str
    family: Family
    reason: str
    constant_sum: ConstantSum | None = None
    remarks: tuple[Remark, ...] = ()
    others: tuple[str, ...] = ()
    by_data: bool = False


def choose_family(
    rows: Rows,
    seed: int,
    *,
    with_missing: bool = False,
    with_copula: bool = True,
    levels: Mapping[str, tuple[str, ...]] | None = None,
) -> FamilyChoice:
    """Choose by the kinds of columns, then by the domain, then by the held-out loss.

    The copula is for columns that are not measurements, and where no family is told apart from the others. That the
    chosen one describes the rows is seen only from its fit.

    Parameters
    ----------
    rows : Rows
    seed : int
    with_missing : bool
        Whether incomplete rows are used too, and have a say in the domain.
    with_copula : bool
        Whether the other settings of a fit allow it.
    levels : by column, the words that the numbers 0, 1, ... stand for
    """
    profile = DataProfile.of(rows, seed, with_missing=with_missing)
    few = _remarks_on_few(profile, rows)
    if with_copula and profile.constant_sum is None:
        why = _why_no_family(rows, profile, levels or {})
        if why:
            return copula_because(why, few)
    if profile.is_real:
        count = int(profile.negative.sum())
        reason = f"chosen because {count} value{' is' if count == 1 else 's are'} below zero"
        return FamilyChoice("gaussian", get_family("gaussian"), reason, remarks=few, by_data=True)
    if profile.constant_sum is not None:
        reason = f"chosen because all rows sum to {profile.constant_sum.describe}"
        return FamilyChoice(
            "simplex", get_family("simplex"), reason, None if profile.constant_sum.is_one else profile.constant_sum
        )
    if len(profile.sample) and profile.without_two_values.any():
        names = rows.names or default_names(rows.n_columns)
        which = [names[j] for j in np.flatnonzero(profile.without_two_values)]
        reason = (
            f"chosen because {quoted(which)} {'has' if len(which) == 1 else 'have'} no two different values above zero"
        )
        return FamilyChoice("gaussian", get_family("gaussian"), reason)
    if len(profile.sample) < _FEWEST_ROWS:
        return FamilyChoice(
            "sqrt", get_family("sqrt"), "chosen because there are too few complete rows to compare families"
        )
    lines = [one for one in compare(profile, FAMILIES[:-2], seed) if one.verdict != "excluded"]
    best, others = lines[0], lines[1:]
    near = [one.name for one in others if one.verdict == "not told apart"]
    reason = f"best of {len(lines)} families by held-out loss"
    if near and with_copula:
        alike = (best.name, *near)
        return replace(copula_because(f"the data cannot tell {in_a_list(alike, 'and')} apart"), others=alike)
    if near:
        reason += f"; the data cannot tell it from {in_a_list(near, 'or')}"
    return FamilyChoice(best.name, best.family, reason, by_data=True)


def copula_because(why: str, remarks: tuple[Remark, ...] = ()) -> FamilyChoice:
    """Choose the copula, for a reason."""
    return FamilyChoice("copula", get_family("copula"), f"chosen because {why}", remarks=remarks)


def _why_no_family(rows: Rows, profile: DataProfile, levels: Mapping[str, tuple[str, ...]]) -> str:
    """Say why columns are not all measurements that a family could describe; empty where they may be."""
    if len(profile.sample) < _FEWEST_ROWS:
        return "there are too few complete rows to compare families"
    names = rows.names or default_names(rows.n_columns)
    looked_at = rows.take(evenly_spread(np.arange(rows.n_rows), MOST_ROWS, rows.frequency))
    found: dict[str, list[str]] = defaultdict(list)
    for name, column in zip(names, looked_at.T, strict=True):
        word = ColumnKind.of(column[np.isfinite(column)], levels=levels.get(name, ())).word
        if word in _NOT_MEASURED:
            found[_NOT_MEASURED[word]].append(name)
    if found:
        return "; ".join(
            f"{quoted(which)} {'holds' if len(which) == 1 else 'hold'} {what}" for what, which in found.items()
        )
    zeros = [name for name, share in zip(names, profile.share_of_zeros, strict=True) if share > _FEW_ZEROS]
    if zeros and not profile.is_real:
        return f"more than {_FEW_ZEROS:.0%} of {quoted(zeros)} are zero"
    return ""


def _remarks_on_few(profile: DataProfile, rows: Rows) -> tuple[Remark, ...]:
    """Caution that so few values are below zero that they may be errors."""
    count = int(profile.negative.sum())
    n_values = rows.n_repeated * rows.n_columns
    if not 0 < count <= _FEW_NEGATIVE * n_values:
        return ()
    names = rows.names or default_names(rows.n_columns)
    columns = quoted([names[j] for j in np.flatnonzero(profile.negative)])
    who = f"Only {count} of {n_values} values {'is' if count == 1 else 'are'} below zero"
    words = Message(
        f"{who} (in {columns}): errors, or codes for missing values? Without them the data are positive, and "
        "other families are possible. Remove them, or keep them with ",
        Setting("family", "gaussian"),
        ".",
    )
    return (Remark(words, UserWarning, About.MISFIT),)
