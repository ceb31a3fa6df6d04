"""How to read a data file."""

from __future__ import annotations

from dataclasses import dataclass


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
    given : names of columns that are covariates
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
