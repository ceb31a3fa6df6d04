"""Things to be careful about, collected on the way and shown once: as a caution of a fit, or as a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

from robscore._tools.words import Words


class About(IntEnum):
    """What a remark is about, worst first."""

    CODES = 0
    GROUP = 1
    LEFT_OUT = 2
    MISFIT = 3
    NOT_CONVERGED = 4
    FEW_ROWS = 5
    END_OF_PATH = 6
    DEPENDENT_COLUMNS = 7
    SORTED = 8
    SERIES = 9
    COPIES = 10
    COLUMNS = 11
    STRENGTH = 12
    DIAGONAL = 13
    OTHER = 14


class Remark:
    """Something to be careful about.

    Parameters
    ----------
    words : str or Words
        What to say; in parts, so that another interface can word it for its own readers.
    category : type of Warning
        Its category if it is issued as a warning.
    kind : About, default About.OTHER
        How bad it is compared with others.

    Attributes
    ----------
    message : Words
    words : str
        The message as worded for Python users.
    category : type of Warning
    kind : About
    """

    def __init__(self, words: str | Words, category: type[Warning], kind: About = About.OTHER) -> None:
        self.message, self.category, self.kind = Words(words), category, kind

    @property
    def words(self) -> str:
        """The message as worded for Python users."""
        return str(self.message)

    def __repr__(self) -> str:
        return f"Remark({self.words!r}, {self.category.__name__})"

    def warn(self, *, stacklevel: int = 1) -> None:
        """Warn, as from the line that calls this, or so many calls above it; the warning carries ``words``."""
        warning = self.category(self.words)
        warning.words = self.message  # type: ignore[attr-defined]
        warnings.warn(warning, stacklevel=stacklevel + 1)


class Caution(str):
    """A sentence that the reader of a fit must know, as worded for Python users.

    Parameters
    ----------
    words : str or Words
    kind : About

    Examples
    --------
    >>> from robscore._tools.words import Setting, Words
    >>> caution = Caution(Words("Give ", Setting("n_blocks"), "."), About.OTHER)
    >>> caution, caution.said(lambda part: "--n-blocks")
    ('Give n_blocks.', 'Give --n-blocks.')
    """

    __slots__ = ("kind", "message")
    message: Words
    kind: About

    def __new__(cls, words: str | Words, kind: About) -> Caution:
        """A text with its parts."""
        made = super().__new__(cls, str(Words(words)))
        made.message, made.kind = Words(words), kind
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Caution, (self.message, self.kind)

    def said(self, speaker: Callable[[Any], str]) -> str:
        """As worded for another interface."""
        return self.message.said(speaker)


def worst_first(remarks: Iterable[Remark]) -> list[Caution]:
    """The cautions that remarks are, each once."""
    ordered = sorted(remarks, key=lambda remark: remark.kind)
    return list({remark.words: Caution(remark.message, remark.kind) for remark in ordered}.values())
