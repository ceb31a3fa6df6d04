"""``rs.read_table``: a data file as a data frame, as the command line reads it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Literal

from robscore.cli.reading.data import read_data
from robscore.cli.reading.options import ReadOptions

if TYPE_CHECKING:
    import pandas as pd


def read_table(
    path: str | PathLike[str],
    *,
    columns: Sequence[str] = (),
    exclude: Sequence[str] = (),
    id: str | None = None,
    na: Sequence[str] = (),
    separator: str | None = None,
    decimal: Literal[".", ","] | None = None,
    sheet: str | None = None,
    header: bool | None = None,
) -> pd.DataFrame:
    r"""Read a data file as ``robscore fit`` does: columns of numbers, ready for ``fit``.

    CSV, TSV and other text (also .gz, .bz2, .xz, .zip), JSON lines, Parquet, feather, Excel, Stata, SPSS. Separator,
    decimal sign, encoding and row labels are detected; columns that are not numeric, empty or constant are dropped.

    Parameters
    ----------
    path : of the file
    columns, exclude : sequences of str, optional
        Names or patterns (``*`` and ``?``) of columns to take, and to leave out.
    id : str, optional
        Column that labels the rows.
    na : sequence of str, optional
        Further texts that mean missing, such as ``["-999", "."]``.
    separator, decimal : str, optional
        The sign between columns of text files, the decimal sign of text; detected by default.
    sheet : str, optional
        Of Excel files: name, or number from 1.
    header : bool, optional
        Whether the first line of a text file or sheet has the names; detected by default.

    Returns
    -------
    pandas DataFrame
        With the row labels as its index. ``frame.attrs["notes"]`` says what was detected and dropped.

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
        na=tuple(na),
        header=header,
    )
    data = read_data(path, options)
    import pandas as pd

    index = None if data.labels is None else pd.Index(data.labels, name=data.label_name)
    frame = pd.DataFrame(data.values, columns=list(data.names), index=index)
    frame.attrs["notes"] = list(data.notes)
    return frame
