"""The result of reading a data file."""

from __future__ import annotations

from dataclasses import dataclass, field

from robscore._tools.typing import AnyArray, Array


class DataFileError(ValueError):
    """A data file that cannot be used as it is; the message says why and what to do."""


@dataclass(frozen=True)
class DataFile:
    """What was read.

    Attributes
    ----------
    values : array of shape (n, m); NaN where a value is missing
    names : of the columns, as written in the file
    labels : of the rows, or None
    label_name : the column that labels the rows, or None
    notes : what was detected or dropped, one sentence each
    texts : columns of text by name, which are not variables, including the one that labels the rows
    given : covariates by name, numbers or texts
    fates : every column of the file, in its order, and why it is no variable; empty for variables
    """

    values: Array
    names: tuple[str, ...]
    labels: tuple[str, ...] | None
    label_name: str | None
    notes: tuple[str, ...] = field(default=())
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    given: dict[str, AnyArray] = field(default_factory=dict)
    fates: dict[str, str] = field(default_factory=dict)
