"""How to read a data file."""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def covariates(self) -> tuple[str, ...]:
        """All columns that are no part of the graph but move it or change it."""
        return tuple(dict.fromkeys([*self.given, *self.by]))
