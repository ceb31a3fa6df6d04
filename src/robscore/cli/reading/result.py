"""What comes of a data file."""

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
    notes : what was found out or left out, one sentence each
    texts : columns of text, by name, that are no variables, the one that labels the rows among them
    given : covariates by name, numbers or texts
    """

    values: Array
    names: tuple[str, ...]
    labels: tuple[str, ...] | None
    label_name: str | None
    notes: tuple[str, ...] = field(default=())
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    given: dict[str, AnyArray] = field(default_factory=dict)
