"""What is asked of a reader and what it gives: options, the columns as they stand in a file, and the chosen ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robscore._tools.messages import clipped
from robscore._tools.typing import AnyArray, Array

if TYPE_CHECKING:
    import pandas as pd


class DataFileError(ValueError):
    """A data file that cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a data file; what is None is detected.

    Attributes
    ----------
    columns, exclude : names or patterns (``*`` and ``?``) of columns to take, and to leave out
    id : name of the column that labels the rows
    separator, decimal : the sign between columns of text files; the decimal sign of cells of text
    sheet : of Excel files, by name or number from 1
    na : further texts that mean "missing"
    all_text : leave everything as it is written
    given : names of columns that are covariates
    by : names of columns that change the graph: groups, or numbers; covariates too
    header : whether the first line of a text file or sheet has the names
    two_texts : whether a column of any two different texts is a variable, of two values
    limits : by name of a column, the limit of detection below which cells such as "n.d." lie
    """

    columns: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    id: str | None = None
    separator: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    na: tuple[str, ...] = ()
    all_text: bool = False
    given: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    header: bool | None = None
    two_texts: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def covariates(self) -> tuple[str, ...]:
        """All columns that are no part of the graph but shift its columns or change it."""
        return tuple(dict.fromkeys([*self.given, *self.by]))


@dataclass(frozen=True)
class FileColumns:
    """All columns as they stand in a file, before any is chosen: what the readers of all kinds of files give.

    Attributes
    ----------
    names : as written; empty where there is none
    columns : a pandas Series each
    index : positions of columns that are the index of a data frame, and not data
    decimal : the decimal sign of cells that are still text
    """

    names: list[str]
    columns: list[Any]
    index: frozenset[int] = frozenset()
    decimal: str = "."


Reader = Callable[[Path, ReadOptions, list[str]], FileColumns]
"""Reads one kind of file, as the options say, and adds what was detected to a list of notes."""


@dataclass(frozen=True)
class DataFile:
    """What was read and chosen.

    Attributes
    ----------
    values : array of shape (n, m); NaN where a value is missing
    names : of the columns, as written in the file
    labels : of the rows, or None
    label_name : the column that labels the rows, or None
    notes : what was detected or dropped, one sentence each
    texts : columns of text by name, which are not variables, including the one that labels the rows
    given : covariates by name, numbers or texts
    levels : of columns that came as words, what the numbers 0, 1, ... stand for
    fates : every column of the file, in its order, and why it is no variable; empty for variables
    limits : of variables with cells such as "<0.05", by name: above and below which numbers cells lie, shape (2, n)
    """

    values: Array
    names: tuple[str, ...]
    labels: tuple[str, ...] | None
    label_name: str | None
    notes: tuple[str, ...] = field(default=())
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    given: dict[str, AnyArray] = field(default_factory=dict)
    fates: dict[str, str] = field(default_factory=dict)
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    limits: dict[str, Array] = field(default_factory=dict)

    def bounds(self) -> dict[str, pd.DataFrame]:
        """Limits of cells as ``fit`` takes them, ``lower`` and ``upper``; empty where no cell has any."""
        import pandas as pd

        if not self.limits:
            return {}
        return {
            side: pd.DataFrame({name: own[k] for name, own in self.limits.items()})
            for k, side in enumerate(("lower", "upper"))
        }

    def frame(self) -> pd.DataFrame:
        """All variables as a pandas data frame; those that came as words are ordered categories."""
        import pandas as pd

        frame = pd.DataFrame(self.values, columns=list(self.names))
        for name, levels in self.levels.items():
            codes = frame[name].fillna(-1).astype(int)
            frame[name] = pd.Categorical.from_codes(codes, list(levels), ordered=True)
        return frame


@contextmanager
def refusing_broken(path: Path, complaint: str) -> Iterator[None]:
    """Turn whatever a broken file makes a library raise into one line that says what is wrong with it."""
    try:
        yield
    except (DataFileError, MemoryError):
        raise
    except Exception as error:
        reason = clipped(" ".join(str(error).split()) or type(error).__name__, 200).rstrip(".")
        raise DataFileError(f"{path} {complaint}: {reason}.") from None
