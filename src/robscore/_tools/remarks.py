"""What there is to be careful about, collected below and said once: as a caution of a fit, or as a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any

from robscore._tools.words import Words


class About(IntEnum):
    """What a remark is about, worst first."""

    GROUP = 0
    LEFT_OUT = 1
    MISFIT = 2
    NOT_CONVERGED = 3
    FEW_ROWS = 4
    END_OF_PATH = 5
    DEPENDENT_COLUMNS = 6
    SORTED = 7
    SERIES = 8
    COPIES = 9
    COLUMNS = 10
    DIAGONAL = 11
    OTHER = 12


class Remark:
    """Something to be careful about.

    Parameters
    ----------
    words : str or Words
        What to say; in parts, so that another surface can word it for its own readers.
    category : type of Warning
        Where it is said as a warning.
    kind : About, default About.OTHER
        How bad it is beside others.

    Attributes
    ----------
    message : Words
    words : str
        The message as Python users read it.
    category : type of Warning
    kind : About
    """

    def __init__(self, words: str | Words, category: type[Warning], kind: About = About.OTHER) -> None:
        self.message, self.category, self.kind = Words(words), category, kind

    @property
    def words(self) -> str:
        """The message as Python users read it."""
        return str(self.message)

    def __repr__(self) -> str:
        return f"Remark({self.words!r}, {self.category.__name__})"

    def warn(self, *, stacklevel: int = 1) -> None:
        """Warn, as from the line that calls this, or so many calls above it; the warning carries ``words``."""
        warning = self.category(self.words)
        warning.words = self.message  # type: ignore[attr-defined]
        warnings.warn(warning, stacklevel=stacklevel + 1)


class Caution(str):
    """A sentence that a reader of a fit must know, as Python users read it.

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
        """A text with what it is made of."""
        made = super().__new__(cls, str(Words(words)))
        made.message, made.kind = Words(words), kind
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Caution, (self.message, self.kind)

    def said(self, speaker: Callable[[Any], str]) -> str:
        """In the words of another surface."""
        return self.message.said(speaker)


def worst_first(remarks: Iterable[Remark]) -> list[Caution]:
    """The cautions that remarks are, each once."""
    ordered = sorted(remarks, key=lambda remark: remark.kind)
    return list({remark.words: Caution(remark.message, remark.kind) for remark in ordered}.values())
