"""Which columns are variables, which one labels the rows, and which are left out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from robscore._tools.messages import clipped, named, quoted, shown
from robscore._tools.typing import AnyArray, Array
from robscore.reading.cell_values import Unread, as_label, floats, refuse_unread, unit_in, without_limits
from robscore.reading.data_file import DataFile, DataFileError, FileColumns, ReadOptions
from robscore.reading.informative_columns import informative_columns
from robscore.rows.ordered_words import codes, non_answers, order_of

_MOST_GROUPS = 10  # different whole numbers up to which --by takes them for names of groups
_FEWEST_IN_GROUP = 10  # rows of a group that is worth a graph
_ID_NAME = re.compile(
    r"^(id|ids|index|idx|nr|no|number|row|key|code|.*[_ .-]id|date|datum|day|time|year|month)$", re.IGNORECASE
)

# When a table is taken for one in long format.
_MOST_LONG_COLUMNS = 4
_FEWEST_LONG_LINES = 6
_NEARLY_ALL = 1.5  # times the lines: as many cells a whole table of that shape would have at most


def choose(path: Path, table: FileColumns, options: ReadOptions, notes: list[str]) -> DataFile:
    """Choose the variables and the labels of a table; what was left out goes to the notes."""
    wanted, label = _wanted(path, table, options)
    read, limits = _read(path, table, wanted, options, notes)
    values = {k: numbers for k, numbers in read.items() if numbers is not None}
    text = [k for k in wanted if read[k] is None]
    _refuse_long(path, table, list(values), text)
    worded = _ordered(table, text, options)
    for k, words in worded.items():
        values[k] = _codes(table.columns[k], words)
        text.remove(k)
    values = {k: values[k] for k in wanted if k in values}
    if text and options.columns:
        raise DataFileError(
            f"{path}: column {shown(table.names[text[0]])} holds no numbers; leave it out of --columns."
            f"{_on_units(table, text[:1])}"
        )
    index = [k for k in sorted(table.index) if k not in read]
    if label is None:
        label = _label_among(table, index, text, {} if options.columns else values)
        if label is not None:
            values.pop(label, None)
            column = f"Column {shown(table.names[label])}" if table.names[label] else "The column without a name"
            which = "The index" if _is_unnamed(table, label) else column
            notes.append(f"{which} labels the rows (--id chooses another).")
    if other := [table.names[k] for k in index if k != label and not _is_unnamed(table, k)]:
        notes.append(f"Dropped (index of a data frame): {quoted(other)}.")
    if left_out := [k for k in text if k != label]:
        names = quoted([table.names[k] for k in left_out])
        notes.append(f"Dropped (not numeric): {names}.{_on_groups(table, left_out)}")
    if units := _on_units(table, text):
        notes.append(units.strip())
    notes.extend([*_on_words(table, worded), *_on_non_answers(table, text)])
    n_rows = len(table.columns[0])
    if n_rows < 2:
        raise DataFileError(f"{path} has {n_rows} row of data; a graph needs many, at least a few more than columns.")
    values, uninformative = informative_columns(table.names, values, options.columns, notes)
    given = {name: _covariate(path, table, name, by=name in options.by) for name in options.covariates}
    if len(values) < 2:
        rest = f"only {shown(table.names[next(iter(values))])}" if values else "none"
        wanting = f"a graph needs at least two columns of numbers; {rest} is left."
        raise DataFileError(f"{path}: {wanting}{_on_units(table, text)}")
    levels = {table.names[k]: own for k, own in worded.items() if k in values}
    why = {**dict.fromkeys(values, ""), **dict.fromkeys(text, "not numeric"), **uninformative}
    named_texts = [*text, *([] if label is None else [label])]
    return DataFile(
        np.column_stack(list(values.values())),
        _unique_names(path, {k: table.names[k] for k in values}),
        None if label is None else tuple(map(as_label, table.columns[label])),
        None if label is None else "index" if _is_unnamed(table, label) else table.names[label],
        tuple(notes),
        {table.names[k]: tuple(map(as_label, table.columns[k])) for k in named_texts},
        given,
        _fates(table, options, label, why),
        levels,
        {table.names[k]: own for k, own in limits.items() if k in values},
    )


def _wanted(path: Path, table: FileColumns, options: ReadOptions) -> tuple[list[int], int | None]:
    """Return positions of the requested columns, and of the one that labels the rows."""
    names, ids = table.names, () if options.id is None else (options.id,)
    patterns = {"--columns": options.columns, "--exclude": options.exclude}
    exact = {"--given": options.given, "--by": options.by, "--id": ids, "--limit": tuple(options.limits)}
    for option, requested in {**patterns, **exact}.items():
        for name in requested:
            if not (any(_fits(one, [name]) for one in names) if option in patterns else name in names):
                raise DataFileError(f"{option} {name}: no such column in {path.name}; it has {named(names)}.")
    label = names.index(options.id) if options.id is not None else None
    keep = [
        k
        for k, name in enumerate(names)
        if k != label
        and name not in options.covariates
        and (k not in table.index or name in options.columns)
        and (not options.columns or _fits(name, options.columns))
        and not _fits(name, options.exclude)
        and not (name == "" and table.columns[k].isna().all())  # a separator at the end of each line
    ]
    return keep, label


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a name is one of those given, or fits a pattern with ``*`` and ``?``."""
    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def _read(
    path: Path, table: FileColumns, wanted: list[int], options: ReadOptions, notes: list[str]
) -> tuple[dict[int, Array | None], dict[int, Array]]:
    """Read columns as numbers, None for those of text, and limits of their cells.

    Where cells are neither, raise, naming all of them.
    """
    read: dict[int, Array | None] = {}
    limits: dict[int, Array] = {}
    unread: dict[str, Unread] = {}
    marked: dict[str, str] = {}
    for k in wanted:
        column, own = without_limits(table.columns[k], table.decimal, options.limits.get(table.names[k]))
        if own is not None:
            limits[k] = own
        found, mark = floats(column, table.decimal)
        if isinstance(found, Unread):
            unread[table.names[k]] = found
        else:
            read[k] = found
        if mark:
            marked[table.names[k]] = mark
    refuse_unread(path, unread)
    if marked:
        name, cell = next(iter(marked.items()))
        notes.append(f"Per cent and currency signs were dropped ({shown(cell)} in {shown(name)} is read as a number).")
    if limits:
        k, own = next(iter(limits.items()))
        first = int(np.flatnonzero(~np.isnan(own).all(axis=0))[0])
        side = "below" if np.isnan(own[0, first]) else "above"
        count = sum(int((~np.isnan(each)).sum()) for each in limits.values())
        cells = "1 cell is" if count == 1 else f"{count} cells are"
        notes.append(
            f"{cells} known by a limit ({shown(str(table.columns[k].iloc[first]).strip())} in {shown(table.names[k])}: "
            f"{side} {own[int(side == 'below'), first]:g})."
        )
    return read, limits


def _covariate(path: Path, table: FileColumns, name: str, *, by: bool) -> AnyArray:
    """Return a column as numbers, else as texts with None where a value is missing; few whole numbers name groups."""
    column = table.columns[table.names.index(name)]
    numbers, _ = floats(column, table.decimal)
    if isinstance(numbers, Unread):
        refuse_unread(path, {name: numbers})
    elif numbers is not None:
        observed = numbers[~np.isnan(numbers)]
        if not (by and np.unique(observed).size <= _MOST_GROUPS and (observed % 1 == 0).all()):
            return numbers
        return np.array([None if np.isnan(number) else f"{number:.0f}" for number in numbers], dtype=object)
    return np.array([None if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)])


def _ordered(table: FileColumns, text: list[int], options: ReadOptions) -> dict[int, tuple[str, ...]]:
    """Return the columns of text that hold words with an order, and these words, the least first.

    Two texts that are on no scale have one if the column is named with --columns.
    """
    found = {}
    for k in text:
        column = table.columns[k][table.columns[k].notna()]
        is_ordered = getattr(column.dtype, "ordered", False)
        cells = [str(cell) for cell in (column.cat.categories if is_ordered else column)]
        asked = bool(options.columns) or options.two_texts
        levels = tuple(cells) if is_ordered else order_of(cells, any_two=asked)
        if levels and not column.is_unique:
            found[k] = levels
    return found


def _codes(column: Any, levels: Sequence[str]) -> Array:
    return codes([None if missing else str(cell) for cell, missing in zip(column, column.isna(), strict=True)], levels)


def _on_words(table: FileColumns, worded: dict[int, tuple[str, ...]]) -> list[str]:
    """Say which orders were taken, once for columns with the same words."""
    columns: dict[tuple[str, ...], list[str]] = {}
    for k, levels in worded.items():
        columns.setdefault(levels, []).append(table.names[k])
    return [
        f"Read as ordered, {' < '.join(map(clipped, levels))}: {', '.join(map(shown, names))}."
        for levels, names in columns.items()
    ]


def _on_non_answers(table: FileColumns, text: list[int]) -> list[str]:
    """Say which text would have an order but for cells in which nobody answered."""
    beside: dict[str, list[str]] = {}
    for k in text:
        for words in non_answers(map(str, table.columns[k].dropna().unique())):
            beside.setdefault(words, []).append(table.names[k])
    return [
        f"{', '.join(map(shown, names))} would have an order but for {shown(words)}: --na {_typed(words)} "
        "takes it for missing."
        for words, names in beside.items()
    ]


def _typed(text: str) -> str:
    """A text as it is typed in a command."""
    return f'"{text}"' if re.fullmatch(r"[\w ']+", text) and "'" in text else shlex.quote(text)


def _on_groups(table: FileColumns, text: list[int]) -> str:
    """Return what can be done with the first column of text that names a few groups of rows; empty where none does."""
    for k in text:
        sizes = table.columns[k].value_counts()
        if 2 <= len(sizes) <= _MOST_GROUPS and sizes.min() >= _FEWEST_IN_GROUP:
            name = table.names[k] if re.fullmatch(r"[\w.-]+", table.names[k]) else shown(table.names[k])
            return (
                f" {shown(table.names[k])} names {len(sizes)} groups: --by {name} compares their graphs, "
                f"--given {name} only allows for their means."
            )
    return ""


def _on_units(table: FileColumns, text: list[int]) -> str:
    """Return which columns of text hold numbers followed by a unit, and what to do about it; empty where none does."""
    units = {table.names[k]: unit for k in text if (unit := unit_in(table.columns[k], table.decimal))}
    if not units:
        return ""
    (name, unit), *more = units.items()
    others = "".join(f", those of {shown(other)} by {shown(its)}" for other, its in more)
    remedy = "remove it to have the column in" if not more else "remove these units to have the columns in"
    return f" The cells of {shown(name)} are numbers followed by {shown(unit)}{others}: {remedy}."


def _fates(table: FileColumns, options: ReadOptions, label: int | None, read: dict[int, str]) -> dict[str, str]:
    """Return what became of every column, given that of those that were read."""
    fates = {}
    for k, name in enumerate(table.names):
        if not name and k != label and k not in read:  # a separator at the end of each line
            continue
        if k == label:
            fate = "labels the rows"
        elif name in options.covariates:
            fate = "changes the graph" if name in options.by else "covariate"
        else:
            fate = read.get(k, "index of a data frame" if k in table.index else "left out")
        fates[name or f"column {k + 1}"] = fate
    return fates


def _label_among(table: FileColumns, index: list[int], text: list[int], numbers: dict[int, Array]) -> int | None:
    """Return the column that labels the rows.

    The index of a data frame or the first of text, if it never repeats; else numbers that look like it. An index
    without a name, the number of a row in some other frame, comes after text.
    """
    own = index if len(index) == 1 else []
    with_name = [k for k in own if not _is_unnamed(table, k)]
    unique = (k for k in [*with_name, *text, *own] if table.columns[k].is_unique and table.columns[k].notna().all())
    counting = (k for k, values in numbers.items() if _labels_rows(table.names[k], values))
    return next(unique, next(counting, None))


def _is_unnamed(table: FileColumns, k: int) -> bool:
    """Return whether a column is an index that pandas, or Dask, had to name itself."""
    return k in table.index and table.names[k].startswith("__") and table.names[k].endswith("__")


def _labels_rows(name: str, values: Array) -> bool:
    """Return whether a column of numbers names the rows: it counts them, or holds dates or names without repeats."""
    if values.size < 3 or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    if (np.diff(values) == 1).all():
        return True
    is_unique = np.unique(values).size == values.size
    return is_unique and bool(_ID_NAME.match(name) or all(map(_is_date, values[:50])))


def _is_date(value: float) -> bool:
    """Return whether a number is a day as in 20240131."""
    year, month, day = int(value) // 10_000, int(value) // 100 % 100, int(value) % 100
    return 1600 <= year <= 2400 and 1 <= month <= 12 and 1 <= day <= 31


def _unique_names(path: Path, names: dict[int, str]) -> tuple[str, ...]:
    """Return the names of columns at these positions, made up for those that have none; raise where two are equal."""
    positions: dict[str, list[int]] = {}
    for k, name in names.items():
        positions.setdefault(name or f"column {k + 1}", []).append(k)
    if len(positions) < len(names):
        name, where = min((name, where) for name, where in positions.items() if len(where) > 1)
        raise DataFileError(
            f"{path}: columns {where[0] + 1} and {where[1] + 1} are both named {shown(name)}; rename one, or leave "
            "them out with --exclude."
        )
    return tuple(positions)


def _refuse_long(path: Path, table: FileColumns, numbers: list[int], text: list[int]) -> None:
    """Raise, saying how to reshape it, where a table is in long format: one value per line.

    One column of text (the variable) repeats, so does another (the row), no pair of both comes twice, nearly all pairs
    are observed, and one column of numbers is left.
    """
    import pandas as pd

    n = len(table.columns[0])
    if not 3 <= len(table.columns) <= _MOST_LONG_COLUMNS or n < _FEWEST_LONG_LINES or table.index:
        return
    for variable in text:
        n_kinds = table.columns[variable].nunique()
        for row in [k for k in range(len(table.columns)) if k != variable]:
            values = [k for k in numbers if k not in (row, variable)]
            n_rows = table.columns[row].nunique()
            balanced = 2 <= n_kinds <= n // 2 and 2 <= n_rows <= n // 2 and n_rows * n_kinds <= _NEARLY_ALL * n
            if len(values) != 1 or not balanced:
                continue
            pairs = pd.DataFrame({k: table.columns[k].astype(str) for k in (row, variable)})
            if pairs.duplicated().any():
                continue
            names = [table.names[k] for k in (row, variable, values[0])]
            raise DataFileError(
                f"{path} has one value per line: {shown(names[2])} of the variable in {shown(names[1])}, for each "
                f"{shown(names[0])}. A graph needs a column per variable; reshape it, in Python with "
                f"frame.pivot(index={names[0]!r}, columns={names[1]!r}, values={names[2]!r}).to_csv('wide.csv')."
            )
