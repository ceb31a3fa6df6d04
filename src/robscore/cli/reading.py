"""A data file as a scientist has it -> named columns of numbers, with every choice that was made said in words.

CSV and TSV (separator, decimal sign and encoding are found out), Parquet, Excel.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robscore._tools.optional import require
from robscore._tools.typing import Array

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
_SNIFFED_LINES = 200
# Numbers with each decimal sign, alone or between groups of three digits; and what may be either.
_PLAIN = {sign: re.compile(rf"^[+-]?(\d+\{sign}?\d*|\{sign}\d+)([eE][+-]?\d+)?$") for sign in ".,"}
_GROUPED = {sign: re.compile(rf"^[+-]?[1-9]\d{{0,2}}(\{other}\d{{3}})+(\{sign}\d+)?$") for sign, other in (".,", ",.")}
_EITHER = re.compile(r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$")
_PER_CENT = re.compile(r"^[+-]?\d+([.,]\d+)?\s*%$")
_ID_NAME = re.compile(
    r"^(id|ids|index|idx|nr|no|number|row|key|code|.*[_ .-]id|date|datum|day|time|year|month)$", re.IGNORECASE
)
_NOTHING = ("", "na", "n/a", "nan", "null", "none", "-", "--", "#n/a", "nd", "missing")
_MISSING = [spelled for word in _NOTHING for spelled in dict.fromkeys((word, word.upper(), word.title()))]


class DataFileError(ValueError):
    """A data file that cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a data file; what is None is found out.

    Attributes
    ----------
    columns, exclude : names or patterns (``*`` and ``?``) of columns to take, and to leave out
    id : name of the column that labels the rows
    separator, decimal : of text files
    sheet : of Excel files, by name or number from 1
    na : further texts that mean "missing"
    all_text : leave everything as it is written
    """

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    id: str | None = None
    separator: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    na: tuple[str, ...] = ()
    all_text: bool = False


@dataclass(frozen=True)
class DataFile:
    """What was read.

    Attributes
    ----------
    values : array of shape (n, m); NaN where a value is missing
    names : of the columns, as written in the file
    labels : of the rows, or None
    label_name : the column that labels the rows, or None
    notes : what was found out or left out, one sentence each
    """

    values: Array
    names: tuple[str, ...]
    labels: tuple[str, ...] | None
    label_name: str | None
    notes: tuple[str, ...] = field(default=())


def read_data(path: str | PathLike[str], options: ReadOptions | None = None) -> DataFile:
    r"""Read a data file.

    Columns that hold no number at all are left out; the first of them, or a column of dates, with a different value in
    every row labels the rows. Constant columns are left out. All that is said in ``notes``. A column of numbers
    with some other text in it is an error: a typing error must not cost a variable silently.

    Parameters
    ----------
    path : of a .csv, .tsv, .txt, .parquet, .xlsx or .xls file (text files may end in .gz too)
    options : ReadOptions, optional

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
    if not path.exists():
        raise DataFileError(f"{path} does not exist{_similar(path)}.")
    if path.is_dir():
        raise DataFileError(
            f"{path} is a folder; give a file in it. (From Python, RobustGraph.fit takes a folder of Parquet files.)"
        )
    notes: list[str] = []
    try:
        names, columns = _reader(path)(path, options, notes)
    except (UnicodeDecodeError, OSError) as error:
        raise DataFileError(f"{path} cannot be read: {error}.") from None
    if not columns or not len(columns[0]):
        raise DataFileError(f"{path} has no rows of data{'' if columns else ' and no columns'}.")
    return _choose(path, names, columns, options, notes)


def _similar(path: Path) -> str:
    """Another file that the user may have meant."""
    from difflib import get_close_matches

    there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, there, n=1)
    return f"; did you mean {near[0]}?" if near else ""


Columns = list[Any]  # one pandas Series each
Reader = Callable[[Path, ReadOptions, list[str]], tuple[list[str], Columns]]


def _reader(path: Path) -> Reader:
    endings = [suffix.lower() for suffix in path.suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] == ".gz" else endings[-1] if endings else ""
    readers: dict[str, Reader] = {
        **dict.fromkeys((".csv", ".tsv", ".txt", ".tab", ".dat", ""), _read_text),
        **dict.fromkeys((".parquet", ".pq"), _read_parquet),
        **dict.fromkeys((".xlsx", ".xlsm", ".xls"), _read_excel),
    }
    if ending not in readers:
        raise DataFileError(f"{path.name}: files ending in {ending} are not known; use .csv, .tsv, .parquet or .xlsx.")
    return readers[ending]


def _read_text(path: Path, options: ReadOptions, notes: list[str]) -> tuple[list[str], Columns]:
    import pandas as pd

    encoding = _encoding(path, notes)
    with _open(path, encoding) as file:
        lines = list(islice(file, _SNIFFED_LINES))
    telling = [line for line in lines if _says_something(line)]
    if not telling:
        raise DataFileError(f"{path} is empty.")
    separator = options.separator or _separator(telling)
    if len(separator) != 1:
        raise DataFileError(f"--sep {separator}: it must be one sign, such as ';' or tab.")
    before = next((k for k, line in enumerate(lines) if _says_something(line, separator)), None)
    if before is None:
        raise DataFileError(f"{path} is empty.")
    if before:
        notes.append(f"Passed over {before} line{'s' if before > 1 else ''} of remarks at the start.")
    table = [
        row
        for row in csv.reader(lines[before:], delimiter=separator, skipinitialspace=True)
        if any(cell.strip() for cell in row)
    ]
    header, rows = table[0], table[1:]
    decimal = options.decimal or _decimal(path, rows)
    found = [f"{SEPARATORS.get(separator, repr(separator))} between columns"] if separator != "," else []
    found += ["decimal commas"] if decimal == "," else []
    if found:
        notes.append(f"Read with {' and '.join(found)}.")
    if header and all(_PLAIN[decimal].match(cell.strip()) for cell in header if cell.strip()):
        notes.append("The first line holds numbers only and was taken for names; add a line of names if it is data.")
    width = max([len(header), *map(len, rows)])
    if width > len(header):
        one_more = width == len(header) + 1 and all(len(row) == width for row in rows)
        if one_more and all(not row[-1].strip() for row in rows):
            header = [*header, ""]  # a separator at the end of each line
        elif one_more:
            header = ["", *header]  # as R writes row names
        else:
            k = next(k for k, row in enumerate(rows) if len(row) > len(header))
            raise DataFileError(
                f"{path}: line {before + k + 2} has {len(rows[k])} fields, but there are {len(header)} names; check "
                "the separator (--sep) and quotes."
            )
    names = [" ".join(name.split()) for name in header]
    common: dict[str, Any] = {
        "sep": separator,
        "header": None,
        "skiprows": before + 1,
        "names": list(range(len(names))),
        "index_col": False,
        "encoding": encoding,
        "skipinitialspace": True,
    }
    as_written = (
        list(range(len(names))) if options.all_text else [k for k, name in enumerate(names) if name == options.id]
    )
    try:
        # As written, 0012 stays 0012, and NA may be a name.
        labels = pd.read_csv(path, **common, usecols=as_written, dtype=str, keep_default_na=False, na_values=[])
        others = [k for k in range(len(names)) if k not in as_written]
        missing = [*options.na, *_MISSING]
        frame = pd.read_csv(path, **common, usecols=others, decimal=decimal, na_values=missing, low_memory=False)
    except (pd.errors.ParserError, ValueError) as error:
        raise DataFileError(f"{path} cannot be read as a table: {str(error).strip().rstrip('.')}.") from None
    return names, [
        labels[k].str.strip() if k in as_written else _with_numbers(frame[k], decimal) for k in range(len(names))
    ]


def _says_something(line: str, separator: str = ",") -> bool:
    """Whether a line is neither a remark nor empty."""
    return not line.startswith("#") and bool(line.strip().replace(separator, "").strip())


def _with_numbers(column: pd.Series, decimal: str) -> pd.Series:
    """A column with those cells of text as numbers that are, in this decimal sign."""
    import pandas as pd

    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return column
    other = "," if decimal == "." else "."

    def read(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell.strip()
        if _GROUPED[decimal].match(text):
            return float(text.replace(other, "").replace(decimal, "."))
        return float(text.replace(decimal, ".")) if _PLAIN[decimal].match(text) else cell

    return column.astype(object).map(read, na_action="ignore")


def _open(path: Path, encoding: str) -> Any:
    if path.suffix.lower() == ".gz":
        import gzip

        return gzip.open(path, "rt", encoding=encoding, newline="")
    return path.open(encoding=encoding, newline="")


def _encoding(path: Path, notes: list[str]) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else what Windows writes."""
    with path.open("rb") as raw:
        start = raw.read(4)
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        with _open(path, "utf-8-sig") as file:
            while file.read(1 << 20):
                pass
    except UnicodeDecodeError:
        notes.append("Not UTF-8; read as Windows' Western European text (cp1252).")
        return "cp1252"
    return "utf-8-sig"


def _separator(lines: list[str]) -> str:
    """The sign that cuts the lines into equally many fields, and the most of them."""

    def quality(sign: str) -> tuple[float, int]:
        widths = [len(row) for row in csv.reader(lines, delimiter=sign, skipinitialspace=True) if row]
        typical = max(set(widths), key=widths.count)
        return (widths.count(typical) / len(widths) if typical > 1 else 0.0), typical

    in_header = [sign for sign in SEPARATORS if sign in lines[0].strip()]
    signs = [sign for sign in in_header if sign != " "] or in_header or [","]
    return max(signs, key=quality)


def _decimal(path: Path, rows: list[list[str]]) -> str:
    """The decimal sign of the first lines; an error that asks for it where they do not tell."""
    cells = [cell.strip() for row in rows for cell in row]
    clear: dict[str, str | None] = {}
    for sign, other in (".,", ",."):
        some = (cell for cell in cells if sign in cell and not _EITHER.match(cell))
        fits = (cell for cell in some if _PLAIN[sign].match(cell) or (other in cell and _GROUPED[sign].match(cell)))
        clear[sign] = next(fits, None)
    either = next((cell for cell in cells if "," in cell and _EITHER.match(cell)), None)
    if clear[","] and clear["."]:
        raise DataFileError(
            f"{path} has decimal commas ({clear[',']!r}) and decimal points ({clear['.']!r}); say --decimal ',' or "
            "--decimal '.', or mend one of them."
        )
    if either and not clear[","] and not clear["."]:
        raise DataFileError(
            f"{path}: {either!r} may be a decimal comma or a thousand; say --decimal ',' or --decimal '.'."
        )
    return "," if clear[","] else "."


def _read_parquet(path: Path, options: ReadOptions, notes: list[str]) -> tuple[list[str], Columns]:
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataFileError(f"{path} is not a Parquet file: {str(error).splitlines()[0]}.") from None
    return list(table.column_names), [_with_numbers(column.to_pandas(), ".") for column in table.columns]


def _read_excel(path: Path, options: ReadOptions, notes: list[str]) -> tuple[list[str], Columns]:
    require("openpyxl")
    import pandas as pd

    try:
        book = pd.ExcelFile(path)
    except Exception as error:  # whatever a broken file makes the reader say
        raise DataFileError(f"{path} cannot be read as an Excel file: {error}.") from None
    with book:
        sheet = options.sheet or book.sheet_names[0]
        if sheet not in book.sheet_names and str(sheet).isdigit() and 1 <= int(sheet) <= len(book.sheet_names):
            sheet = book.sheet_names[int(sheet) - 1]
        if sheet not in book.sheet_names:
            listed = ", ".join(map(repr, book.sheet_names))
            raise DataFileError(f"{path} has no sheet {sheet!r}; it has {listed}.")
        frame = pd.read_excel(book, sheet, header=None, na_values=[*options.na, *_MISSING])
    if len(book.sheet_names) > 1 and options.sheet is None:
        notes.append(f"Read the first of {len(book.sheet_names)} sheets, {sheet!r}; --sheet takes another.")
    frame = frame.dropna(how="all")
    if frame.empty:
        raise DataFileError(f"{path}: sheet {sheet!r} is empty.")
    names = ["" if pd.isna(name) else str(name).strip() for name in frame.iloc[0]]
    body = frame.iloc[1:].reset_index(drop=True)
    return names, [_with_numbers(body[k].infer_objects(), ".") for k in body.columns]


def _choose(path: Path, names: list[str], columns: Columns, options: ReadOptions, notes: list[str]) -> DataFile:
    """Which columns are variables, which one labels the rows, and which are left out."""
    keep, label = _wanted(path, names, columns, options)
    asked = bool(options.columns)
    values: dict[int, Array] = {}
    text: list[int] = []
    for k in keep:
        numbers = _numbers(path, names[k], columns[k])
        if numbers is None:
            text.append(k)
        else:
            values[k] = numbers
    if text and asked:
        raise DataFileError(f"{path}: column {names[text[0]]!r} holds no numbers; leave it out of --columns.")
    if label is None:
        label = next((k for k in text if columns[k].is_unique and columns[k].notna().all()), None)
        if label is None and not asked:
            label = next((k for k in values if _labels_rows(names[k], values[k])), None)
            values.pop(label, None)  # type: ignore[arg-type]
        if label is not None:
            notes.append(f"Column {names[label]!r} labels the rows (--id names another).")
    left_out = [repr(names[k]) for k in text if k != label]
    if left_out:
        notes.append(f"Left out, for they hold no numbers: {_listed(left_out)}.")
    empty = [k for k, column in values.items() if np.isnan(column).all()]
    constant = [k for k, column in values.items() if k not in empty and np.nanmin(column) == np.nanmax(column)]
    n_rows = len(columns[0])
    if n_rows < 2:
        raise DataFileError(f"{path} has {n_rows} row of data; a graph needs many, at least a few more than columns.")
    for which, why in ((empty, "empty"), (constant, "constant")):
        if which:
            notes.append(f"Left out, for they are {why}: {_listed([repr(names[k]) for k in which])}.")
            values = {k: column for k, column in values.items() if k not in which}
    equal = _equal_columns(values)
    if equal:
        pairs = [f"{names[k]!r} (equal to {names[first]!r})" for k, first in equal.items()]
        notes.append(f"Left out, for they repeat another column: {_listed(pairs)}.")
        values = {k: column for k, column in values.items() if k not in equal}
    if len(values) < 2:
        listed = f"only {names[next(iter(values))]!r}" if values else "none"
        raise DataFileError(f"{path}: a graph needs at least two columns of numbers; {listed} is left.")
    unnamed = {k: names[k] or f"column {k + 1}" for k in values}
    repeated = {name for name in unnamed.values() if list(unnamed.values()).count(name) > 1}
    if repeated:
        name = min(repeated)
        where = " and ".join(str(k + 1) for k in unnamed if unnamed[k] == name)
        raise DataFileError(
            f"{path}: columns {where} are both named {name!r}; rename one, or leave them out with --exclude."
        )
    labels = None if label is None else tuple(_label(cell) for cell in columns[label])
    return DataFile(
        np.column_stack(list(values.values())),
        tuple(unnamed.values()),
        labels,
        None if label is None else names[label],
        tuple(notes),
    )


def _equal_columns(values: dict[int, Array]) -> dict[int, int]:
    """Columns that are the same as an earlier one, and which."""
    first: dict[bytes, int] = {}
    seen = {k: first.setdefault(np.ascontiguousarray(column).tobytes(), k) for k, column in values.items()}
    return {k: earlier for k, earlier in seen.items() if earlier != k}


def _wanted(path: Path, names: list[str], columns: Columns, options: ReadOptions) -> tuple[list[int], int | None]:
    """Positions of the columns asked for, and of the one that labels the rows."""
    for option, patterns in (("--columns", options.columns), ("--exclude", options.exclude)):
        for pattern in patterns:
            if not any(matches(name, pattern) for name in names):
                raise DataFileError(f"{option} {pattern}: no such column in {path.name}; it has {_listed(names)}.")
    label = None
    if options.id is not None:
        if options.id not in names:
            raise DataFileError(f"--id {options.id}: no such column in {path.name}; it has {_listed(names)}.")
        label = names.index(options.id)
    keep = [
        k
        for k, name in enumerate(names)
        if k != label
        and (not options.columns or any(matches(name, pattern) for pattern in options.columns))
        and not any(matches(name, pattern) for pattern in options.exclude)
        and not (name == "" and columns[k].isna().all())  # a separator at the end of each line
    ]
    return keep, label


def matches(name: str, pattern: str) -> bool:
    """Whether a name is the given one, or fits a pattern with ``*`` and ``?``."""
    return name == pattern or fnmatchcase(name, pattern)


def _numbers(path: Path, name: str, column: pd.Series) -> Array | None:
    """A column as floats with NaN for what is missing; None if it holds no number; an error if only some are."""
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return None
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
    numbers = column.map(lambda cell: float(cell) if isinstance(cell, Real) else np.nan, na_action="ignore")
    per_cent = next((cell for cell in column if isinstance(cell, str) and _PER_CENT.match(cell.strip())), None)
    if per_cent is not None:
        raise DataFileError(
            f"{path}: column {name!r} has per cent signs ({per_cent!r}); take them away, or --exclude {name!r}."
        )
    if not numbers.notna().any() and column.notna().any():
        return None
    wrong = column.notna() & numbers.isna()
    if not wrong.any():
        return np.asarray(numbers, dtype=float)
    if wrong.mean() > 0.5:  # names with a number among them
        return None
    row = int(np.flatnonzero(wrong)[0])
    first = str(column.iloc[row])
    raise DataFileError(
        f"{path}: column {name!r} has {int(wrong.sum())} entr{'y' if wrong.sum() == 1 else 'ies'} not a number, first "
        f"{first!r} in data row {row + 1}; mend them, say --na {first!r} if it means missing, or --exclude {name!r}."
    )


def _labels_rows(name: str, values: Array) -> bool:
    """Whether a column of numbers names the rows: it counts them, holds dates, or is called so and never repeats."""
    if values.size < 3 or np.isnan(values).any() or (values != np.round(values)).any():
        return False
    if (np.diff(values) == 1).all():
        return True
    different = np.unique(values).size == values.size
    return different and bool(_ID_NAME.match(name) or all(_is_date(value) for value in values[:50]))


def _is_date(value: float) -> bool:
    """Whether a number is a day as in 20240131."""
    year, month, day = int(value) // 10_000, int(value) // 100 % 100, int(value) % 100
    return 1600 <= year <= 2400 and 1 <= month <= 12 and 1 <= day <= 31


def _label(cell: Any) -> str:
    text = str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
    return text.removesuffix(" 00:00:00") if text.endswith(" 00:00:00") else text


def _listed(names: Sequence[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def read_coordinates(path: str | PathLike[str], names: Sequence[str]) -> Array:
    """Latitude and longitude in degrees for every name, shape (m, 2), from a file with a name, latitude and longitude.

    The columns are found by their names (latitude or lat, longitude, lon, lng or long; the first other one names the
    places), whatever their order; places that are not among the names are passed over.
    """
    require("pandas")
    path = Path(path)
    if not path.is_file():
        raise DataFileError(f"--coords {path} does not exist.")
    header, columns, (lat, lon) = _geographic(path, "--coords")
    named = next((k for k in range(len(header)) if k not in (lat, lon)), None)
    if named is None:
        raise DataFileError(f"--coords {path}: no column with the names; it needs name, latitude, longitude.")
    latitude, longitude = (_degrees(path, "--coords", header, columns, k) for k in (lat, lon))
    places: dict[str, int] = {}
    for k, name in enumerate(_label(cell).strip() for cell in columns[named]):
        first = places.setdefault(name, k)
        if (latitude[k], longitude[k]) != (latitude[first], longitude[first]):
            raise DataFileError(f"--coords {path} has {name!r} at two places; keep one.")
    absent = [name for name in names if name not in places]
    if absent:
        raise DataFileError(f"--coords {path} does not have {_listed([repr(name) for name in absent])}.")
    found = np.column_stack([latitude, longitude])[[places[name] for name in names]]
    wrong = ~(np.isfinite(found).all(axis=1) & (np.abs(found[:, 0]) <= 90) & (np.abs(found[:, 1]) <= 360))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise DataFileError(
            f"--coords {path}: {names[k]!r} has latitude {found[k, 0]:g} and longitude {found[k, 1]:g}; degrees are "
            "needed, latitude between -90 and 90."
        )
    return found


def _geographic(path: Path, option: str) -> tuple[list[str], Columns, tuple[int, int]]:
    """A file with latitudes and longitudes: names of its columns, the columns, and where these two are."""
    header, columns = _reader(path)(path, ReadOptions(all_text=True), [])
    where = []
    for what, spellings in (("latitude", ("latitude", "lat")), ("longitude", ("longitude", "lon", "lng", "long"))):
        found = [k for k, name in enumerate(header) if name.lower() in spellings]
        if not found:
            raise DataFileError(f"{option} {path}: no column is named {what}; it has {_listed(header)}.")
        where.append(found[0])
    return header, columns, (where[0], where[1])


def _degrees(path: Path, option: str, header: list[str], columns: Columns, k: int) -> Array:
    import pandas as pd

    numbers = pd.to_numeric(columns[k].astype(str).str.replace(",", "."), errors="coerce")
    if numbers.isna().any():
        row = int(np.flatnonzero(numbers.isna())[0])
        raise DataFileError(
            f"{option} {path}: {header[k]} must hold numbers, in degrees; row {row + 1} has "
            f"{str(columns[k].iloc[row])!r}."
        )
    return np.asarray(numbers, dtype=float)


def read_outline(path: str | PathLike[str]) -> list[Array]:
    """Lines to draw under a map, each of shape (points, 2): latitude and longitude in degrees.

    From a file with columns latitude and longitude. A row without them ends a line, and so does a change of the entry
    in a further column, if there is one.
    """
    require("pandas")
    path = Path(path)
    if not path.is_file():
        raise DataFileError(f"--outline {path} does not exist.")
    header, columns, (lat, lon) = _geographic(path, "--outline")
    gaps = [columns[k].isna() | (columns[k].astype(str).str.strip().str.lower().isin(_NOTHING)) for k in (lat, lon)]
    kept = ~(gaps[0] | gaps[1])  # an empty line ends a line
    columns = [column[kept] for column in columns]
    piece = np.cumsum(~np.asarray(kept))[np.asarray(kept)]
    points = np.column_stack([_degrees(path, "--outline", header, columns, k) for k in (lat, lon)])
    group = next((k for k in range(len(header)) if k not in (lat, lon)), None)
    names = [""] * len(points) if group is None else [str(entry) for entry in columns[group]]
    lines = np.array([f"{part} {name}" for part, name in zip(piece, names, strict=True)])
    return [points[lines == line] for line in dict.fromkeys(lines.tolist())]
