"""A data file, of whatever kind, becomes columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from robscore._tools.optional import require
from robscore.cli.reading.choice import choose
from robscore.cli.reading.options import ReadOptions
from robscore.cli.reading.result import DataFile, DataFileError
from robscore.cli.reading.several import files_of, read_tables
from robscore.cli.reading.size import refuse_too_large


def read_data(
    path: str | PathLike[str], options: ReadOptions | None = None, more: Sequence[str | PathLike[str]] = ()
) -> DataFile:
    r"""Read a data file, all data files of a folder, or several.

    Columns that hold no number at all are left out; the first of them, or a column of dates, with a different value in
    every row labels the rows. Constant columns are left out. All that is said in ``notes``. A column of numbers
    with some other text in it is an error: a typing error must not cost a variable silently.

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
    refuse_too_large(paths, files)
    notes: list[str] = []
    table = read_tables(files, options, notes)
    if not table.columns or not len(table.columns[0]):
        raise DataFileError(f"{path} has no rows of data{'' if table.columns else ' and no columns'}.")
    return choose(path, table, options, notes)


def _checked(path: Path) -> list[Path]:
    """The files that a path stands for; raise if it cannot be read."""
    if not path.exists():
        raise DataFileError(f"{path} does not exist{_similar(path)}")
    if not (path.is_file() or path.is_dir()):
        # A pipe gives its rows once and a device may have no end; a file is looked at several times.
        raise DataFileError(f"{path} is not a file but a pipe or a device; save the data as a file first.")
    return files_of(path)


def _similar(path: Path) -> str:
    """Another file that the user may have meant."""
    from difflib import get_close_matches

    there = [entry.name for entry in path.parent.iterdir() if entry.is_file()] if path.parent.is_dir() else []
    near = get_close_matches(path.name, there, n=1)
    return f"; did you mean {near[0]}?" if near else "."
