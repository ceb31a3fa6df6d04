"""Monthly precipitation from the European Climate Assessment & Dataset's own download (ECA_blend_rr.zip).

ECA&D allows non-commercial research and education with the citation Klein Tank et al. (2002), Int. J. Climatol. 22,
1441-1453. Nothing of it is bundled here.
"""

from __future__ import annotations

import zipfile
import zlib
from calendar import monthrange
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from robscore._tools.messages import ArgumentError, Message, Setting
from robscore._tools.typing import Array, IntArray

_MISSING = -9999  # of ECA&D's files, whose amounts are tenths of a millimetre


class Station(NamedTuple):
    """One weather station; latitude and longitude in degrees, elevation in metres."""

    id: int
    name: str
    country: str
    latitude: float
    longitude: float
    elevation: float


class MonthlyTotals(NamedTuple):
    """Monthly precipitation.

    Attributes
    ----------
    X : array of shape (months, stations)
        Totals in mm; NaN for incomplete months, if these were requested.
    months : "YYYY-MM" of every row
    stations : one per column
    suspect_days : integer array of shape (stations,)
        Days that ECA&D marks as suspect: missing or used, as requested.
    """

    X: Array
    months: tuple[str, ...]
    stations: tuple[Station, ...]
    suspect_days: IntArray


def read_ecad(
    path: str | PathLike[str],
    *,
    stations: Sequence[int] | None = None,
    box: tuple[float, float, float, float] | None = None,
    years: tuple[int, int] = (1911, 1997),
    months: Sequence[int] = tuple(range(1, 13)),
    suspect: Literal["use", "missing"] = "missing",
    incomplete: Literal["raise", "nan"] = "raise",
) -> MonthlyTotals:
    """Read monthly totals of stations that have every day of the chosen months, or NaN for months with missing days.

    Parameters
    ----------
    path : path
        ECA&D's zip file, or the folder it was unpacked to.
    stations : sequence of int, optional
        Station numbers. By default all (within the box) that are complete; with ``incomplete="nan"`` that have any.
    box : (south, north, west, east), optional
        Degrees.
    years : (first, last), default (1911, 1997)
    months : sequence of int, default all
        For example (11, 1, 3).
    suspect : {"use", "missing"}, default "missing"
        What to do about days marked as suspect: many of them are false zeros.
    incomplete : {"raise", "nan"}, default "raise"
        Months with a missing day: an error for the given stations (others are left out), or NaN, for
        ``missing="impute"``.

    Raises
    ------
    FileNotFoundError, ValueError
        They name the file, station or month that is absent, cut off or cannot be read.
    """
    try:
        first, last = years
    except (TypeError, ValueError):
        raise ArgumentError("years", years, "must be a pair (first, last).") from None
    if stations is not None and (box is not None or len(stations) == 0 or len(set(stations)) < len(stations)):
        raise ArgumentError("stations", stations, "must be different numbers, at least one, and given without box.")
    chosen_months = sorted({int(month) for month in months})
    if first > last or not chosen_months or not all(1 <= month <= 12 for month in chosen_months):
        problem = Message("must be (first, last) and ", Setting("months", months), " numbers from 1 to 12.")
        raise ArgumentError("years", years, problem)
    if suspect not in ("use", "missing"):
        raise ArgumentError("suspect", suspect, "is not known; use 'use' or 'missing'.")
    if incomplete not in ("raise", "nan"):
        raise ArgumentError("incomplete", incomplete, "is not known; use 'raise' or 'nan'.")
    with _Source(Path(path)) as source:
        return _read(source, stations, box, first, last, chosen_months, suspect, incomplete)


def _read(
    source: _Source,
    stations: Sequence[int] | None,
    box: tuple[float, float, float, float] | None,
    first: int,
    last: int,
    months: list[int],
    suspect: str,
    incomplete: str,
) -> MonthlyTotals:
    """Read monthly totals from files that are open."""
    path = source.path
    listed = {station.id: station for station in _stations(source.read("stations.txt"))}
    available = source.station_numbers()
    if stations is None:
        wanted = [number for number in available if number in listed and _is_inside(listed[number], box)]
        if not wanted:
            raise ValueError(f"{path} holds no station{' inside box=' + repr(box) if box else ''}.")
    else:
        wanted = [int(number) for number in stations]
        absent = [number for number in wanted if number not in listed or number not in available]
        if absent:
            raise ValueError(f"{path} holds no daily file for station {absent[0]} ({len(absent)} such stations).")
    columns, kept, suspicious = [], [], []
    for number in wanted:
        days = _daily(source.read(f"RR_STAID{number:06d}.txt"), number)
        totals, n_suspect = _totals(days, first, last, months, suspect)
        if np.isnan(totals).any() and incomplete == "raise":
            if stations is not None:
                at = divmod(int(np.isnan(totals).argmax()), len(months))
                raise ValueError(
                    f"Station {number} ({listed[number].name}) has no complete record of {first + at[0]}-"
                    f"{months[at[1]]:02d} ({n_suspect} days are marked as suspect); choose other years or months, "
                    "leave the station out, or pass incomplete='nan' or suspect='use'."
                )
            continue
        if np.isnan(totals).all():
            if stations is not None:
                raise ValueError(f"Station {number} ({listed[number].name}) has no complete month; leave it out.")
            continue
        columns.append(totals)
        kept.append(listed[number])
        suspicious.append(n_suspect)
    if not columns:
        raise ValueError(f"No station of {path} has every day of months {months} from {first} to {last}.")
    names = tuple(f"{year}-{month:02d}" for year in range(first, last + 1) for month in months)
    return MonthlyTotals(np.column_stack(columns), names, tuple(kept), np.array(suspicious))


class _Source:
    """The files of a zip archive or of a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.exists():
            raise FileNotFoundError(f"{path} does not exist; give ECA&D's zip file or the folder it was unpacked to.")
        self.archive: zipfile.ZipFile | None = None
        if path.is_dir():
            self.names = {entry.name: entry.name for entry in path.iterdir()}
            return
        try:
            self.archive = zipfile.ZipFile(path)
        except zipfile.BadZipFile:
            raise ValueError(f"{path} is not a zip file, or is cut off; download it again.") from None
        self.names = {Path(name).name: name for name in self.archive.namelist()}

    def __enter__(self) -> _Source:
        return self

    def __exit__(self, *error: object) -> None:
        if self.archive is not None:
            self.archive.close()

    def read(self, name: str) -> str:
        """Return the text of a file; raise, naming it, where it is absent or damaged."""
        if name not in self.names:
            raise FileNotFoundError(
                f"{self.path} has no file {name}; it must hold ECA&D's blended daily precipitation (stations.txt and "
                "RR_STAIDnnnnnn.txt)."
            )
        try:
            if self.archive is not None:
                return self.archive.read(self.names[name]).decode("latin-1")
            return (self.path / name).read_text(encoding="latin-1")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise ValueError(f"{name} in {self.path} cannot be read ({error}); download it again.") from None

    def station_numbers(self) -> list[int]:
        """Return the numbers of the stations that have a daily file."""
        stems = [name[8:14] for name in self.names if name.startswith("RR_STAID") and name.endswith(".txt")]
        return sorted(int(stem) for stem in stems if stem.isdigit())


def _stations(text: str) -> list[Station]:
    """Read the list of stations; names may hold commas, so columns are counted from both ends."""
    rows = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) < 6 or not parts[0].isdigit():
            continue
        try:
            latitude, longitude = (_degrees(part) for part in parts[-3:-1])
            elevation = float(parts[-1])
        except ValueError:
            raise ValueError(
                f"stations.txt has a line that cannot be read, perhaps cut off: {line.strip()!r}."
            ) from None
        rows.append(Station(int(parts[0]), ",".join(parts[1:-4]), parts[-4], latitude, longitude, elevation))
    if not rows:
        raise ValueError("stations.txt lists no station; it must be ECA&D's own file.")
    return rows


def _degrees(text: str) -> float:
    """Read an angle such as +46:12:00 in degrees."""
    sign = -1.0 if text.startswith("-") else 1.0
    degrees, minutes, seconds = (float(part) for part in text.lstrip("+-").split(":"))
    return sign * (degrees + minutes / 60 + seconds / 3600)


def _is_inside(station: Station, box: tuple[float, float, float, float] | None) -> bool:
    if box is None:
        return True
    south, north, west, east = box
    return south <= station.latitude <= north and west <= station.longitude <= east


def _daily(text: str, number: int) -> IntArray:
    """Read date, amount in 0.1 mm and quality of every day, shape (days, 3)."""
    lines = text.splitlines()
    start = next((k + 1 for k, line in enumerate(lines) if line.replace(" ", "").startswith("STAID,SOUID,DATE")), None)
    name = f"RR_STAID{number:06d}.txt"
    if start is None:
        raise ValueError(f"{name} has no line of column names (STAID, SOUID, DATE, RR, Q_RR); it may be cut off.")
    rows = [line for line in lines[start:] if line.strip()]
    try:
        values = np.array(",".join(rows).split(","), dtype=np.int64)
    except ValueError:
        raise ValueError(f"{name} holds something that is not a whole number after its column names.") from None
    if values.size != 5 * len(rows) or not rows:
        raise ValueError(f"{name} is cut off: a line does not have the five numbers STAID, SOUID, DATE, RR and Q_RR.")
    table = values.reshape(-1, 5)
    if (table[:, 0] != number).any():
        raise ValueError(
            f"{name} holds days of station {table[table[:, 0] != number][0, 0]}; it belongs to another one."
        )
    if np.unique(table[:, 2]).size < len(table):
        raise ValueError(f"{name} holds a day twice; download it again.")
    return table[:, 2:]


def _totals(days: IntArray, first: int, last: int, months: list[int], suspect: str) -> tuple[Array, int]:
    """Return totals in mm of every month, NaN where it is not complete; and how many days are suspect."""
    date, amount, quality = days.T
    year, month = date // 10_000, date // 100 % 100
    inside = (year >= first) & (year <= last) & np.isin(month, months)
    known = inside & (amount != _MISSING) & (quality != 9)
    n_suspect = int(np.count_nonzero(known & (quality == 1)))
    if suspect == "missing":
        known &= quality != 1
    key = (year - first) * 12 + month - 1
    size = (last - first + 1) * 12
    total = np.bincount(key[known], weights=amount[known], minlength=size)
    count = np.bincount(key[known], minlength=size)
    wanted = np.array([(y - first) * 12 + m - 1 for y in range(first, last + 1) for m in months])
    needed = np.array([monthrange(y, m)[1] for y in range(first, last + 1) for m in months])
    return np.where(count[wanted] == needed, np.round(total[wanted]) / 10.0, np.nan), n_suspect
