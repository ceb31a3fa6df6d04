"""Values that may be codes for missing ones, such as -999: repeated, and far from all others of their column."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from robscore._tools.remarks import About, Remark
from robscore._tools.typing import Array
from robscore._tools.words import Phrase, Words, quoted

_REPEATED = 3  # times in a column, to be suspected there alone
_FEWEST_OTHERS = 5  # different values, to have a range
_MOST_CODES = 3  # in one column, one beyond the other


class Code(NamedTuple):
    """A value of a column, how many rows have it, and between which values all others lie."""

    column: int
    value: float
    n_rows: int
    low: float
    high: float


def remarks_on_codes(X: Array, names: list[str], n_rows: int) -> list[Remark]:
    """Cautions about values that may be codes in the rows X, shape (n, m), of so many: one for every value."""
    by_value: dict[float, list[Code]] = defaultdict(list)
    for code in codes(X):
        by_value[code.value].append(code)
    looked_at = "" if len(X) == n_rows else f" of the {len(X)} looked at"
    remarks = []
    for value, (first, *more) in by_value.items():
        also = f", and so {'has' if len(more) == 1 else 'have'} {quoted([names[code.column] for code in more])}"
        words = Words(
            f"Column {quoted([names[first.column]])} has the value {value:.15g} in {first.n_rows} "
            f"{'row' if first.n_rows == 1 else 'rows'}{looked_at}, far from all others ({first.low:.6g} to "
            f"{first.high:.6g}){also if more else ''}: a code for missing values? ",
            Phrase("Replace it by NaN", f"Read it as missing with --na {value:.15g}"),
            ".",
        )
        remarks.append(Remark(words, UserWarning, About.CODES))
    return remarks


def codes(X: Array) -> list[Code]:
    """Values of the columns of X, shape (n, m), that lie beyond the range of all others by more than that range.

    Only those that a column has three times, or that most columns with a value so far away have.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.family_choice.codes import codes
    >>> X = np.arange(20.0).reshape(10, 2)
    >>> X[:3, 1] = -999
    >>> codes(X)
    [Code(column=1, value=-999.0, n_rows=3, low=7.0, high=19.0)]
    """
    X, found = X.copy(), list[Code]()
    for _ in range(_MOST_CODES):
        far = _far_ends(X)
        new = [code for code in far if code.n_rows >= _REPEATED or _is_shared(code.value, far)]
        if not new:
            break
        for code in new:
            X[X[:, code.column] == code.value, code.column] = np.nan
        found += new
    return found


def _is_shared(value: float, far: list[Code]) -> bool:
    """Whether most columns with a far value have this one, and are not copies of each other."""
    having = [code for code in far if code.value == value]
    return 2 * len(having) > len(far) and len({(code.low, code.high) for code in having}) > 1


def _far_ends(X: Array) -> list[Code]:
    """Least and largest values of columns that are far from all others: all that is on their side of the middle."""
    there = ~np.isnan(X)
    low, high = X.min(axis=0, initial=np.inf, where=there), X.max(axis=0, initial=-np.inf, where=there)
    middle, found = low / 2 + high / 2, []
    for end, side in ((low, middle > X), (high, middle < X)):
        for j in np.flatnonzero((side <= (end == X)).all(axis=0) & (low < high)).tolist():
            others = X[there[:, j] & (X[:, j] != end[j]), j]
            least, most = float(others.min()), float(others.max())
            distance = max(least - end[j], end[j] - most)
            if distance > most - least and np.unique(others).size >= _FEWEST_OTHERS:
                found.append(Code(j, float(end[j]), int(np.count_nonzero(side[:, j])), least, most))
    return found
