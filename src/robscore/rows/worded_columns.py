"""Columns of text and of ordered categories in a data frame, as numbers in the order of their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import narwhals as nw

from robscore._tools.messages import About, Message, Remark, Setting, first_few, quoted, shown
from robscore._tools.typing import AnyData
from robscore.rows.ordered_words import codes, non_answers, order_of
from robscore.rows.tables import levels_of

_LABELS = "a different text in every row"


class Worded(NamedTuple):
    """A data frame without words.

    Attributes
    ----------
    frame : in the library that it came in; anything but a data frame in memory as it was
    levels : by column, what its numbers 0, 1, ... stand for
    left_out : by column, why it is in the frame no more
    """

    frame: AnyData
    levels: dict[str, tuple[str, ...]]
    left_out: dict[str, str]


def in_codes(X: AnyData, known: Worded | None = None) -> Worded:
    """Return the data frame X with numbers in place of ordered words, and without text that has no order.

    Other data of a fit are read by the words that the fit has ``known``.

    Examples
    --------
    >>> import pandas as pd
    >>> from robscore.rows.worded_columns import in_codes
    >>> X = pd.DataFrame({"mood": ["bad", "good", "very good"], "x": [0.1, 0.2, 0.3], "town": ["Bern", "Rom", "Wien"]})
    >>> made = in_codes(X)
    >>> made.frame.to_numpy().tolist(), made.levels
    ([[0.0, 0.1], [1.0, 0.2], [2.0, 0.3]], {'mood': ('bad', 'good', 'very good')})
    >>> made.left_out
    {'town': 'a different text in every row'}
    """
    frame = _opened(X)
    if frame is None:
        return Worded(X, {}, {})
    levels: dict[str, tuple[str, ...]] = {}
    left_out = {} if known is None else {name: why for name, why in known.left_out.items() if name in frame.columns}
    read = []
    for name in frame.columns:
        column = frame[name]
        if name in left_out or not _may_hold_words(column):
            continue
        cells = [None if cell is None or cell != cell else cell for cell in column.to_list()]
        texts = {cell for cell in cells if cell is not None}
        if not texts or not all(isinstance(text, str) for text in texts) or all(map(_is_number, texts)):
            continue
        fitted = {} if known is None else known.levels
        own = fitted.get(name) or levels_of(column) or order_of(sorted(texts), any_two=True)
        if not own:
            left_out[name] = _why_not(texts, len(cells))
            continue
        if unknown := sorted(texts - set(own)):
            raise ValueError(
                f"Column {name!r} holds {quoted(unknown)}, which the fit has not seen; it has {quoted(own)}."
            )
        levels[name] = own
        read.append(nw.new_series(name, codes(cells, own).tolist(), nw.Float64(), backend=frame.implementation))
    if read or left_out:
        X = frame.with_columns(*read).drop(list(left_out)).to_native()
    return Worded(X, levels, left_out)


def _opened(X: AnyData) -> nw.DataFrame[AnyData] | None:
    """A data frame in memory; None for anything else, and where names are no texts or repeat, which others refuse."""
    names = [] if hasattr(X, "column_names") else list(getattr(X, "columns", []))
    if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def in_categories(X: AnyData) -> Worded:
    """Return a data frame as it is, and the levels of its ordered categories."""
    frame = _opened(X)
    columns = () if frame is None else frame.iter_columns()
    return Worded(X, {str(column.name): own for column in columns if (own := levels_of(column))}, {})


def in_same_codes(frames: Sequence[AnyData]) -> list[AnyData]:
    """Return data frames with the same columns with numbers in place of words, the same in all of them."""
    opened = [nw.from_native(X, eager_only=True, pass_through=True) for X in frames]
    if not all(isinstance(frame, nw.DataFrame) and frame.columns == opened[0].columns for frame in opened):
        return list(frames)
    known = in_codes(nw.concat(opened).to_native())
    return [in_codes(X, known).frame for X in frames]


def _may_hold_words(column: nw.Series[AnyData]) -> bool:
    return column.dtype in (nw.String, nw.Object, nw.Categorical) or isinstance(column.dtype, nw.Enum)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _why_not(texts: set[str], n_rows: int) -> str:
    if len(texts) == 1:
        return "the same text in every row"
    if len(texts) == n_rows:
        return _LABELS
    beside = non_answers(texts)
    why = f", but for {quoted(beside)}, which may mean missing" if beside else ""
    return f"{len(texts)} different texts without a known order{why}"


def remarks_on_words(words: Worded) -> list[Remark]:
    """Caution about text that was left out, and what can be done with it."""
    if not set(words.left_out.values()) - {_LABELS}:
        return []
    listed = first_few([f"{shown(name)} ({why})" for name, why in words.left_out.items()], "; ")
    first = next(name for name, why in words.left_out.items() if why != _LABELS)
    are = ("Columns", "are") if len(words.left_out) > 1 else ("Column", "is")
    parts = Message(
        f"{are[0]} of text {are[1]} left out: {listed}. ", Setting("covariates", [first]),
        " allows for what a column names; an ordered category says which order its words have.",
    )  # fmt: skip
    return [Remark(parts, UserWarning, About.COLUMNS)]
