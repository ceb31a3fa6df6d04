"""Which kind is a column? Continuous, rounded, two values, answers, counts, or many zeros: found once, from all rows.

The kind is what a reader is shown. For the copula it also says which values stand for an interval of the latent number,
and which rare categories count as their neighbour. Subsamples keep the kinds of the whole table, so that no column is
taken for answers in one half of the rows and for measurements in the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import ndtri

from robscore._tools.messages import About, Message, Remark, Setting, clipped, first_few, shown
from robscore._tools.typing import Array

Kind: TypeAlias = Literal["continuous", "ordered"]
Word: TypeAlias = Literal["continuous", "rounded", "two values", "answers", "counts", "zeros"]

# In the order of a summary, each with how many columns of the kind are spoken of.
_IN_WORDS: dict[Word, str] = {
    "continuous": "continuous",
    "rounded": "rounded",
    "two values": "with two values",
    "answers": "of answers",
    "counts": "of counts",
    "zeros": "with one value in many rows",
}
_LONGEST = 40  # letters of all answers: of more the first and the last are shown


@dataclass(frozen=True)
class KindRule:
    """Where one kind of column ends and the next begins.

    Which values are drawn does not depend on it, but for categories with few rows: names of kinds are for readers.

    Attributes
    ----------
    most_answers : int, default 10
        Different values up to which a column holds answers: scales of questions end at 10 or before.
    rows_a_value : float, default 3
        Rows that a value of answers has on average, at least: eight rows of a measurement have eight values too.
    thin_tail : float, default 0.05
        Whole numbers from 0 on are counts, not answers, where the largest has less than this share of the rows of the
        most frequent one, or one between is absent: counts thin out, scales of answers end.
    many_rows : float, default 0.1
        Share of the rows from which on one value of an otherwise continuous column is worth a word, as zeros are.
    mostly_tied : float, default 0.5
        Share of the rows that have their value in common with another, from which on a column is called rounded.
    """

    most_answers: int = 10
    rows_a_value: float = 3.0
    thin_tail: float = 0.05
    many_rows: float = 0.1
    mostly_tied: float = 0.5


@dataclass(frozen=True, eq=False)
class ColumnKind:
    """The kind of a column.

    Attributes
    ----------
    word : {"continuous", "rounded", "two values", "answers", "counts", "zeros"}
    n_values : int
        How many different values there are.
    most_frequent : tuple of float
        The value that most rows have, and their share.
    intervals : array, ascending
        The values that stand for an interval of the latent number.
    merged : tuple of (value, value it counts as, rows)
        Rare answers, as given.
    levels : tuple of str
        What values 0, 1, ... are called, where the column came as text or categories.
    """

    word: Word
    n_values: int
    most_frequent: tuple[float, float]
    intervals: Array
    merged: tuple[tuple[float, float, int], ...] = ()
    levels: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        column: Array,
        given: Kind | None = None,
        levels: tuple[str, ...] = (),
        *,
        widest_point: float = 0.0,
        rarest: int = 1,
    ) -> ColumnKind:
        """Of a column, shape (n,), with NaN where a value is missing.

        Parameters
        ----------
        column : array of shape (n,)
        given : "continuous" or "ordered", where the user says so
        levels : tuple of str
            What the values 0, 1, ... are called, of text and categories.
        widest_point, rarest : as :class:`robscore.families.copula.MarginRule` has them

        Examples
        --------
        >>> import numpy as np
        >>> from robscore.families.column_kinds import ColumnKind
        >>> rng = np.random.default_rng(0)
        >>> answers, rain = rng.integers(1, 6, 200).astype(float), np.maximum(rng.normal(size=200), 0)
        >>> [ColumnKind.of(column).word for column in (rng.normal(size=200), answers, rain, answers > 2)]
        ['continuous', 'answers', 'zeros', 'two values']
        """
        values, rows = _values_and_rows(column)
        if not values.size:
            return cls("continuous", 0, (np.nan, 0.0), values)
        found = _word(values, rows, KindRule(), is_ordered=bool(levels))
        is_tied, is_category = rows > 1, found in ("two values", "answers")
        if given == "continuous":
            word: Word = "continuous"
            is_interval = np.zeros(values.size, dtype=bool)
        elif given == "ordered":
            word = found if found not in ("continuous", "rounded") else "answers"
            is_interval = is_tied | is_category
        else:
            word = found
            widths = np.diff(ndtri(np.append(0.0, np.minimum(np.cumsum(rows) / rows.sum(), 1.0))))
            is_interval = is_category | (is_tied & (widths > widest_point))
        top = int(rows.argmax())
        kind = cls(
            word, values.size, (float(values[top]), float(rows[top] / rows.sum())), values[is_interval], levels=levels
        )
        return kind.within(column, rarest)

    def within(self, column: Array, rarest: int) -> ColumnKind:
        """The same kind for these rows, shape (n,), all or a subsample; answers that fewer have are merged."""
        if self.word != "answers" or self.intervals.size < self.n_values:
            return self
        values, rows = _values_and_rows(self.as_merged(column))
        original, merged = dict(zip(values.tolist(), rows.tolist(), strict=True)), list(self.merged)
        while values.size > 2 and rows.min() < rarest:
            k = int(rows.argmin())
            beside = [j for j in (k - 1, k + 1) if 0 <= j < values.size]
            # Of two that as few rows have, the outer one, so that the order may be turned round.
            into = min(beside, key=lambda j: (rows[j], -abs(j - (values.size - 1) / 2)))
            old, new = float(values[k]), float(values[into])
            merged = [(one, new if other == old else other, n) for one, other, n in merged]
            merged.append((old, new, round(original[old])))
            rows[into] += rows[k]
            values, rows = np.delete(values, k), np.delete(rows, k)
        return replace(self, merged=tuple(sorted(merged)))

    def as_merged(self, column: Array) -> Array:
        """A column, shape (n,), with rare answers as those that they count as."""
        for old, new, _ in self.merged:
            column = np.where(column == old, new, column)
        return column

    def called(self, value: float) -> str:
        """What a value is called: its word where the column came in words."""
        return self.levels[int(value)] if self.levels else f"{value:.6g}"

    @property
    def describe(self) -> str:
        """What the values are, in a few words: the answers in their order, or the value that many rows have."""
        if self.levels:
            whole = " < ".join(self.levels)
            return whole if len(whole) <= _LONGEST else f"{clipped(self.levels[0])} < … < {clipped(self.levels[-1])}"
        value, share = self.most_frequent
        if self.word in ("two values", "answers"):
            return " < ".join(f"{own:.6g}" for own in self.intervals) if self.n_values <= self.intervals.size else ""
        return f"{share:.0%} are {value:.6g}" if share >= KindRule().many_rows else ""


def _values_and_rows(column: Array) -> tuple[Array, Array]:
    """The different values of a column, ascending, and how many rows have each."""
    values, rows = np.unique(column[~np.isnan(column)], return_counts=True)
    return values, rows.astype(float)


def _word(values: Array, rows: Array, rule: KindRule, *, is_ordered: bool) -> Word:
    """The kind of a column by its different values and how many rows have each."""
    if values.size <= 2:
        return "two values"
    if is_ordered:
        return "answers"
    n, is_whole = rows.sum(), bool((values == np.round(values)).all())
    is_repeated = n >= rule.rows_a_value * values.size
    has_few = values.size <= rule.most_answers
    thins_out = values[-1] >= values.size or rows[-1] < rule.thin_tail * rows.max()
    if is_repeated and is_whole and values[0] == 0 and (thins_out or not has_few):
        return "counts"
    if is_repeated and is_whole and values[0] == 1 and not has_few:
        return "counts"
    if is_repeated and has_few:
        return "answers"
    if rows.max() >= max(rule.many_rows * n, 2):
        return "zeros"
    return "rounded" if rows[rows > 1].sum() > rule.mostly_tied * n else "continuous"


def kinds_in_words(kinds: Iterable[ColumnKind]) -> str:
    """How many columns there are of each kind.

    Examples
    --------
    >>> import numpy as np
    >>> from robscore.families.column_kinds import ColumnKind, kinds_in_words
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> kinds_in_words([ColumnKind.of(column) for column in (*X.T, X[:, 0] > 0)])
    '3 continuous, 1 with two values'
    """
    kinds = list(kinds)
    count = Counter(kind.word for kind in kinds)
    are_zeros = all(kind.most_frequent[0] == 0 for kind in kinds if kind.word == "zeros")
    in_words = {**_IN_WORDS, "zeros": "with many zeros"} if are_zeros else _IN_WORDS
    return ", ".join(f"{count[word]} {words}" for word, words in in_words.items() if count[word])


def remarks_on_kinds(kinds: Mapping[str, ColumnKind]) -> list[Remark]:
    """Caution about answers that so few rows have that they count as the answer beside."""
    listed = [
        f"{shown(name)}: {shown(kind.called(old))} ({rows} {'row' if rows == 1 else 'rows'}) as "
        f"{shown(kind.called(new))}"
        for name, kind in kinds.items()
        for old, new, rows in kind.merged
    ]
    if not listed:
        return []
    words = Message(
        f"Rare answers are counted with the answer next to them: {first_few(listed, '; ')}. Give ",
        Setting("kinds"),
        " to have a column taken for measurements instead.",
    )
    return [Remark(words, UserWarning, About.COLUMNS)]
