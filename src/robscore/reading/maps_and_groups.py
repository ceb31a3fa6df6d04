"""Files that say more about the columns: their places on a map, lines to draw under it, their groups."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from robscore._tools.messages import clipped, named, quoted, shown
from robscore._tools.optional import require
from robscore._tools.typing import Array
from robscore.reading.cell_values import MISSING_WORDS, as_label, number_in
from robscore.reading.data_file import DataFileError, FileColumns, ReadOptions
from robscore.reading.read_files import read_columns

if TYPE_CHECKING:
    import pandas as pd


_LABELS = ("name", "station", "station name", "station_name", "label", "town", "city", "site", "place")


class Places(NamedTuple):
    """Where columns are, and what they are called on a map.

    Attributes
    ----------
    coordinates : array of shape (m, 2), latitude and longitude in degrees
    labels : names from another column of the file, one per column, or None where there is none
    """

    coordinates: Array
    labels: list[str] | None


def read_coordinates(path: str | PathLike[str], names: Sequence[str]) -> Places:
    """Return latitude and longitude in degrees for every name, from a file with a name, latitude and longitude.

    The columns are found by their names (latitude or lat, longitude, lon, lng or long), whatever their order. Of the
    others, the first that contains all the names is used; a further one called name, station, label, town or site,
    with a text of its own for each, gives labels. Places that are not among the names are ignored.
    """
    path = Path(path)
    table, lat, lon = _geographic(path, "--coords")
    others = [k for k in range(len(table.names)) if k not in (lat, lon)]
    if not others:
        raise DataFileError(f"--coords {path}: no column with the names; it needs name, latitude, longitude.")
    cells = {k: [as_label(cell).strip() for cell in table.columns[k]] for k in others}
    key = next((k for k in others if set(names) <= set(cells[k])), others[0])
    latitude, longitude = (_degrees(path, "--coords", table.names[k], table.columns[k]) for k in (lat, lon))
    places: dict[str, int] = {}
    for k, name in enumerate(cells[key]):
        first = places.setdefault(name, k)
        if (latitude[k], longitude[k]) != (latitude[first], longitude[first]):
            raise DataFileError(f"--coords {path} has {shown(name)} at two places; keep one.")
    if absent := [name for name in names if name not in places]:
        raise DataFileError(f"--coords {path} does not have {quoted(absent)}.")
    found = np.column_stack([latitude, longitude])[[places[name] for name in names]]
    wrong = ~(np.isfinite(found).all(axis=1) & (np.abs(found[:, 0]) <= 90) & (np.abs(found[:, 1]) <= 360))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        raise DataFileError(
            f"--coords {path}: {shown(names[k])} has latitude {found[k, 0]:g} and longitude {found[k, 1]:g}; degrees "
            "are needed, latitude between -90 and 90."
        )
    label = next((k for k in others if k != key and table.names[k].lower() in _LABELS), None)
    labels = [] if label is None else [cells[label][places[name]] for name in names]
    return Places(found, labels if labels and all(labels) and len(set(labels)) == len(labels) else None)


def _as_written(path: Path, option: str, decimal: str | None = None) -> FileColumns:
    """Read the file of an option with all its cells as they are written."""
    require("pandas")
    if not path.is_file():
        raise DataFileError(f"{option} {path} does not exist.")
    return read_columns(path, ReadOptions(all_text=True, decimal=decimal), [])


def _geographic(path: Path, option: str) -> tuple[FileColumns, int, int]:
    """Read a file with latitudes and longitudes; in which columns these two are."""
    table = _as_written(path, option, decimal=".")
    positions = []
    for what, spellings in (("latitude", ("latitude", "lat")), ("longitude", ("longitude", "lon", "lng", "long"))):
        found = [k for k, name in enumerate(table.names) if name.lower() in spellings]
        if not found:
            raise DataFileError(f"{option} {path}: no column is named {what}; it has {named(table.names)}.")
        positions.append(found[0])
    return table, positions[0], positions[1]


def _degrees(path: Path, option: str, name: str, column: pd.Series) -> Array:
    """Return a column of numbers, whatever their decimal sign."""
    read = [number_in(str(cell).strip().replace(",", "."), ".") for cell in column]
    numbers = np.array([np.nan if number is None else number for number in read], dtype=float)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise DataFileError(
            f"{option} {path}: {clipped(name)} must hold numbers, in degrees; row {row + 1} has "
            f"{shown(column.iloc[row])}."
        )
    return numbers


def read_outline(path: str | PathLike[str]) -> list[Array]:
    """Return lines to draw under a map, each of shape (points, 2): latitude and longitude in degrees.

    From a file with columns latitude and longitude. A row without them ends a line. A further column may name the line
    of each point; if no two neighbours share a name, it names the points, and they form one line.
    """
    path = Path(path)
    table, lat, lon = _geographic(path, "--outline")
    both = [table.columns[k] for k in (lat, lon)]
    absent = [column.isna() | column.astype(str).str.strip().str.lower().isin(MISSING_WORDS) for column in both]
    kept = ~np.any(absent, axis=0)
    columns = [column[kept] for column in table.columns]
    piece = np.cumsum(~kept)[kept]  # a row without a place ends a line
    points = np.column_stack([_degrees(path, "--outline", table.names[k], columns[k]) for k in (lat, lon)])
    group = next((k for k in range(len(table.names)) if k not in (lat, lon)), None)
    names = [""] * len(points) if group is None else [str(entry) for entry in columns[group]]
    if not any(one == other for one, other in pairwise(names)):  # names of points, not of lines
        names = [""] * len(points)
    lines: dict[tuple[int, str], list[int]] = {}
    for k, line in enumerate(zip(piece.tolist(), names, strict=True)):
        lines.setdefault(line, []).append(k)
    return [points[line] for line in lines.values()]


def read_groups(path: str | PathLike[str], names: Sequence[str]) -> list[str]:
    """Return the group of every name, empty where the file has none: the first column names, the second one groups."""
    path = Path(path)
    table = _as_written(path, "--groups")
    if len(table.columns) < 2:
        raise DataFileError(f"--groups {path} needs two columns, the name of a column and its group.")
    listed = [as_label(cell).strip() for cell in table.columns[0]]
    groups = [as_label(cell).strip() for cell in table.columns[1]]
    found: dict[str, str] = {}
    for name, group in zip(listed, groups, strict=True):
        if found.setdefault(name, group) != group:
            raise DataFileError(f"--groups {path} has {shown(name)} in two groups; keep one.")
    if not set(names) & set(found):
        raise DataFileError(
            f"--groups {path} has none of the columns: it names {quoted(listed)}, the data have {quoted(list(names))}."
        )
    return [found.get(name, "") for name in names]
