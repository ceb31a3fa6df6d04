"""Known structure by column names: required edges, forbidden edges, groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting, first_few
from robscore._tools.numbers import check_number
from robscore._tools.typing import Array
from robscore.rows.tables import check_unique


def penalty_weights(
    names: Sequence[str],
    *,
    must_have: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    groups: Mapping[str, Iterable[str]] | None = None,
    within: float = 1.0,
    between: float = 1.0,
) -> Array:
    """Make weights for ``RobustGraph(penalty_weights=...)`` from what is known.

    Parameters
    ----------
    names : the columns, in order; for a data frame ``X.columns``
    must_have : pairs of names
        Their edges are not penalised, so they are in every graph.
    forbidden : pairs of names
        Their edges are in no graph.
    groups : dict from a group's name to its columns, optional
        Columns that belong together; a column in no group is a group of its own.
    within, between : float, default 1
        Weight of the penalty on pairs within a group, and between groups: 2 makes it harder for them to enter, 0 leaves
        them free, ``inf`` forbids them.

    Returns
    -------
    array of shape (m, m)

    Examples
    --------
    >>> import robscore as rs
    >>> rs.penalty_weights(["a", "b", "c"], must_have=[("a", "b")], forbidden=[("b", "c")]).tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, inf], [1.0, inf, 1.0]]
    """
    columns = [str(name) for name in names]
    position = {name: k for k, name in enumerate(columns)}
    check_unique("names", columns)
    m = len(columns)
    W = np.ones((m, m))
    if groups is not None:
        of = np.arange(m) + len(groups)
        for number, (group, members) in enumerate(groups.items()):
            if isinstance(members, str):
                raise TypeError(f"groups[{group!r}] must be a list of names, not the text {members!r}.")
            for name in members:
                k = _find(name, position, f"groups[{group!r}]")
                if of[k] < len(groups):
                    raise ValueError(f"groups: {name!r} is in {list(groups)[of[k]]!r} and in {group!r}; choose one.")
                of[k] = number
        same = of[:, None] == of
        for name, value in (("within", within), ("between", between)):
            if value != np.inf:
                check_number(name, value, at_least=0.0)
        W = np.where(same, within, between).astype(float)
        np.fill_diagonal(W, 1.0)
    elif (within, between) != (1.0, 1.0):
        problem = Message("and ", Setting("between", between), " apply to groups only; give groups=.")
        raise ArgumentError("within", within, problem)
    chosen: dict[tuple[int, int], str] = {}
    for argument, pairs, value in (("must_have", must_have, 0.0), ("forbidden", forbidden, np.inf)):
        for pair in pairs:
            i, j = _pair(pair, position, argument)
            if chosen.setdefault((i, j), argument) != argument:
                raise ValueError(f"{columns[i]!r} – {columns[j]!r} is in must_have and in forbidden; choose one.")
            W[i, j] = W[j, i] = value
    return W


def _pair(pair: object, position: dict[str, int], argument: str) -> tuple[int, int]:
    """Return the positions of a pair of names, the smaller first; raise where it is none."""
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise TypeError(f"{argument} must hold pairs of names such as ('a', 'b'); got {pair!r}.")
    i, j = sorted(_find(name, position, argument) for name in pair)
    if i == j:
        raise ValueError(f"{argument}: {pair!r} is a column with itself, which is not an edge.")
    return i, j


def _find(name: object, position: dict[str, int], argument: str) -> int:
    """Return the position of a column by its name; raise where there is none."""
    if str(name) not in position:
        raise ValueError(f"{argument}: there is no column {name!r}; the columns are {first_few(list(position))}.")
    return position[str(name)]
