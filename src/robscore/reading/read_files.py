"""From a path to columns of numbers: which files it stands for, which reader reads them, whether they fit in memory."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from robscore._tools.memory import describe, free_memory
from robscore._tools.messages import clipped, quoted
from robscore._tools.optional import require
from robscore.reading.cell_values import number_in, unmarked
from robscore.reading.choose_columns import choose
from robscore.reading.data_file import DataFile, DataFileError, FileColumns, Reader, ReadOptions
from robscore.reading.excel_files import read_excel
from robscore.reading.text_files import read_text
from robscore.reading.text_format import BROKEN, PACKED, inner_ending
from robscore.reading.typed_files import FRAME_ENDINGS, read_frame, read_parquet

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data", "")
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET = (".parquet", ".pq")
_READERS: dict[str, Reader] = {
    **dict.fromkeys(_TEXT, read_text),
    **dict.fromkeys(_PARQUET, read_parquet),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), read_excel),
    **{ending: partial(read_frame, ending) for ending in FRAME_ENDINGS},
}
_KNOWN = ".csv, .tsv, .txt, .jsonl (each also as .gz, .bz2, .xz or .zip), .parquet, .feather, .xlsx, .dta or .sav"
_ENDINGS = tuple(ending for ending in _READERS if ending)
ALL_ENDINGS = (*PACKED, *_ENDINGS)
_COPIES = 4  # guards memory only: of all numbers, as read, as columns, joined, and as rows


def read_data(
    path: str | PathLike[str], options: ReadOptions | None = None, more: Sequence[str | PathLike[str]] = ()
) -> DataFile:
    r"""Read a data file, all data files of a folder, or several.

    Columns that hold no number at all are left out; the first of them, or a column of dates, with a different value in
    every row labels the rows. Constant columns are left out. ``notes`` says all of this. A column of numbers with some
    other text in it is an error: a typing error must not cost a variable silently.

    Parameters
    ----------
    path : of a .csv, .tsv, .txt, .parquet, .xlsx or .xls file (text files may end in .gz too)
        or of a folder of such files
    options : ReadOptions, optional
    more : paths of further files or folders, whose rows come after the first's

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.csv"
    >>> _ = path.write_text("day;Bern;Basel\n2024-01-01;1,5;0\n2024-01-02;0;2,25\n")
    >>> data = read_data(path)
    >>> data.names, data.labels, data.values.tolist()
    (('Bern', 'Basel'), ('2024-01-01', '2024-01-02'), [[1.5, 0.0], [0.0, 2.25]])
    """
    require("pandas")
    options, path = options or ReadOptions(), Path(path)
    paths = [path, *map(Path, more)]
    files = [file for part in paths for file in _checked(part)]
    _refuse_too_large(paths, files)
    notes: list[str] = []
    table = _read_together(files, options, notes)
    if not table.columns or not len(table.columns[0]):
        raise DataFileError(f"{path} has no rows of data{'' if table.columns else ' and no columns'}.")
    return choose(path, table, options, notes)


def _checked(path: Path) -> list[Path]:
    """Return the files that a path stands for; raise if it cannot be read."""
    if path.is_file() or path.is_dir():
        return files_of(path)
    if path.exists():
        # A pipe gives its rows once and a device may have no end; a file is looked at several times.
        raise DataFileError(f"{path} is not a file but a pipe or a device; save the data as a file first.")
    names = [entry.name for entry in path.parent.iterdir() if entry.is_file()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, names, n=1)
    raise DataFileError(f"{path} does not exist{f'; did you mean {near[0]}?' if near else '.'}")


def read_table(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    id: str | None = None,
    na: Sequence[str] | Mapping[str, str | float | Sequence[str | float]] = (),
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
    header: bool | None = None,
    limits: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    r"""Read a data file as ``robscore fit`` does: columns of numbers, ready for ``fit``.

    CSV, TSV and other text (also .gz, .bz2, .xz, .zip), JSON lines, Parquet, feather, Excel, Stata, SPSS. Separator,
    decimal sign, encoding and row labels are detected. Words that have an order (yes and no, never ... always, school
    grades) become ordered categories; other text, empty and constant columns are dropped.

    Parameters
    ----------
    path : of the file
    columns, exclude : sequences of str, optional
        Names or patterns (``*`` and ``?``) of columns to take, and to leave out.
    id : str, optional
        Column that labels the rows.
    na : sequence of str, or dict, optional
        Further texts that mean missing, such as ``["-999", "."]``; in some columns only, ``{"depth": "-999"}``.
    separator, decimal : str, optional
        The sign between columns of text files, the decimal sign of text; detected by default.
    sheet : str, optional
        Of Excel files: name, or number from 1.
    header : bool, optional
        Whether the first line of a text file or sheet has the names; detected by default.
    limits : dict, optional
        By name of a column, the limit of detection below which cells such as "n.d." lie.

    Returns
    -------
    pandas DataFrame
        With the row labels as its index. ``frame.attrs["notes"]`` says what was detected and dropped. Where cells such
        as "<0.05" are known by a limit, they are NaN, and ``frame.attrs["limits"]`` has ``lower`` and ``upper``, lists
        by name of a column: ``fit(frame, **{side: pd.DataFrame(own) for side, own in frame.attrs["limits"].items()})``.

    Examples
    --------
    >>> import robscore as rs, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.csv"
    >>> _ = path.write_text("day;Bern;Basel\n2024-01-01;1,5;0\n2024-01-02;0;2,25\n")
    >>> frame = rs.read_table(path)
    >>> frame.index.name, list(frame.columns), frame.to_numpy().tolist()
    ('day', ['Bern', 'Basel'], [[1.5, 0.0], [0.0, 2.25]])
    """
    options = ReadOptions(
        columns=tuple(columns),
        exclude=tuple(exclude),
        id=id,
        separator=separator,
        decimal=decimal,
        sheet=sheet,
        na=tuple(_by_column(na) if isinstance(na, Mapping) else na),
        header=header,
        limits=limits or {},
    )
    data = read_data(path, options)
    import pandas as pd

    index = None if data.labels is None else pd.Index(data.labels, name=data.label_name)
    frame = data.frame() if index is None else data.frame().set_index(index)
    frame.attrs["notes"] = list(data.notes)
    if data.limits:
        frame.attrs["limits"] = {side: own.to_dict("list") for side, own in data.bounds().items()}
    return frame


def _by_column(na: Mapping[str, str | float | Sequence[str | float]]) -> list[str]:
    """Write texts that mean missing in some columns as ``--na`` takes them: column=text."""
    return [
        f"{name}={text}"
        for name, texts in na.items()
        for text in ([texts] if isinstance(texts, str | int | float) else texts)
    ]


def files_of(path: Path) -> list[Path]:
    """Return the file itself, or the data files of a folder and its subfolders, in the order of their names.

    Earlier results are left out.
    """
    if not path.is_dir():
        return [path]
    found = [
        file
        for file in sorted(path.rglob("*"))
        if file.is_file()
        and file.suffix.lower() in ALL_ENDINGS
        and not any(name.startswith((".", "_", "robscore-")) for name in file.relative_to(path).parts)
    ]
    if not found:
        raise DataFileError(f"{path} is a folder without data files (names that end in {', '.join(_ENDINGS)}).")
    return found


def read_columns(path: Path, options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read a file of any kind; one that is broken is an error that says so."""
    try:
        ending = inner_ending(path)
        if ending not in _READERS:
            raise DataFileError(f"{path.name}: files ending in {clipped(ending)} are not known; use {_KNOWN}.")
        if path.suffix.lower() in PACKED and ending not in (*_TEXT, *_JSON_LINES):
            raise DataFileError(f"{path.name}: {ending} files are not read from a compressed file; unpack it.")
        return _READERS[ending](path, options, notes)
    except UnicodeDecodeError as error:
        raise DataFileError(f"{path} cannot be read as text ({error.reason}); save it as UTF-8.") from None
    except (EOFError, zlib.error, *BROKEN) as error:
        raise DataFileError(f"{path} is broken or cut off ({error}); get it again, or unpack it.") from None
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from None


def _read_together(files: Sequence[Path], options: ReadOptions, notes: list[str]) -> FileColumns:
    """Read the rows of all files, whose columns must have the same names, in any order."""
    first = read_columns(files[0], options, notes)
    if len(files) == 1:
        return first
    import pandas as pd

    parts = [first]
    for file in files[1:]:
        own: list[str] = []
        table = read_columns(file, options, own)
        notes.extend(note for note in own if note not in notes)
        if sorted(table.names) != sorted(first.names):
            other = sorted({*table.names} ^ {*first.names}) or table.names
            raise DataFileError(
                f"Files differ in their columns: {quoted(other)} in one of {files[0].name} and {file.name} only. Pass "
                "files with the same columns."
            )
        parts.append(table)
    decimal = first.decimal if len({table.decimal for table in parts}) == 1 else "."
    in_order = [_in_order(table, first.names, decimal) for table in parts]
    columns = [pd.concat(same, ignore_index=True) for same in zip(*in_order, strict=True)]
    notes.append(f"{len(files)} files were read, from {files[0].name} to {files[-1].name}.")
    return FileColumns(first.names, columns, first.index, decimal)


def _in_order(table: FileColumns, names: Sequence[str], decimal: str) -> list[pd.Series]:
    """Put columns in the order of these names, with this decimal sign; columns of one name keep their own order."""
    positions: dict[str, list[int]] = {}
    for k, name in enumerate(table.names):
        positions.setdefault(name, []).append(k)
    columns = [table.columns[positions[name].pop(0)] for name in names]
    return columns if table.decimal == decimal else [_with_points(column) for column in columns]


def _with_points(column: pd.Series) -> pd.Series:
    """Write decimal points in place of commas in texts that are numbers with a per cent or currency sign."""
    exchanged = str.maketrans(".,", ",.")

    def read(cell: Any) -> Any:
        is_number = isinstance(cell, str) and number_in(unmarked(cell), ",") is not None
        return cell.translate(exchanged) if is_number else cell

    return column.map(read, na_action="ignore") if column.dtype == object else column


def _refuse_too_large(paths: Sequence[Path], files: Sequence[Path]) -> None:
    """Raise where the rows of all Parquet files, which these paths stand for, take more memory than is free."""
    own = [file for file in files if file.suffix.lower() in _PARQUET]
    free = free_memory()
    if not own or free is None or sum(file.stat().st_size for file in own) < free / 100:  # nothing to look up
        return
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows, n_columns = 0, 0
    for file in own:
        with suppress(pa.ArrowException, OSError):  # what is wrong with it is for its reader to say
            about = pq.read_metadata(file)
            n_rows, n_columns = n_rows + about.num_rows, max(n_columns, about.num_columns)
    needed = 8.0 * n_rows * n_columns * _COPIES
    if needed <= free:
        return
    names = [str(path) for path in paths]
    raise DataFileError(
        f"{names[0]}{' and others' * (len(names) > 1)}: {n_rows} rows of {n_columns} columns take about "
        f"{describe(needed)} here, and {describe(free)} of memory are free. In Python, "
        f"robscore.RobustGraph().fit({names if len(names) > 1 else names[0]!r}) reads Parquet files piece by piece, "
        "however many rows there are."
    )
