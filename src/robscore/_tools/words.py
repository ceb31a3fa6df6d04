"""Sentences that name arguments, rows and data, and can be said in Python's words or in another surface's.

A message is text with parts in it that are called otherwise elsewhere: an argument of a function is an option of a
command, the array X is "the data". ``str(words)`` is what Python users read; ``words.said(speaker)`` lets a speaker,
such as the command line, word each part in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import Any, TypeAlias

_LISTED = 5
_LONGEST = 40  # characters of a cell or a name that a message shows
# What a terminal obeys rather than shows, what turns the direction of writing, and halves of characters.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class _Nothing(Enum):
    """Stands for no value; there is one of it, also after pickling."""

    VALUE = 0


@dataclass(frozen=True)
class Setting:
    """An argument, alone or with a value: ``n_edges``, ``missing='drop'``."""

    name: str
    value: Any = _Nothing.VALUE

    @property
    def has_value(self) -> bool:
        """Whether it names a value."""
        return self.value is not _Nothing.VALUE

    def __str__(self) -> str:
        if not self.has_value:
            return self.name
        written = repr(self.value)  # of a table, whose lines would break the sentence, only what it is
        return f"{self.name}={f'<{type(self.value).__name__}>' if chr(10) in written else written}"


@dataclass(frozen=True)
class RowAt:
    """A row, by its number from 0 and by where it is."""

    number: int
    place: str

    def __str__(self) -> str:
        return self.place


@dataclass(frozen=True)
class Phrase:
    """Words for readers who call functions, and plain ones for those who do not."""

    python: str
    plain: str

    def __str__(self) -> str:
        return self.python


Part: TypeAlias = "str | Setting | RowAt | Phrase"


class Words:
    """A message of several parts.

    Examples
    --------
    >>> words = Words("Pass ", Setting("missing", "drop"), " to leave out incomplete rows.")
    >>> str(words)
    "Pass missing='drop' to leave out incomplete rows."
    >>> words.said(lambda part: f"--{part.name} {part.value}")
    'Pass --missing drop to leave out incomplete rows.'
    """

    def __init__(self, *parts: Part | Words) -> None:
        self.parts: tuple[Part, ...] = ()
        for part in parts:
            self.parts += part.parts if isinstance(part, Words) else (part,)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def said(self, speaker: Callable[[Any], str]) -> str:
        """The message with every part that is not plain text worded by the speaker."""
        return "".join(part if isinstance(part, str) else speaker(part) for part in self.parts)


def first_few(words: Sequence[str], between: str = ", ") -> str:
    """The first five, and how many more there are.

    Examples
    --------
    >>> first_few(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    return str(first_few_parts(words, between))


def first_few_parts(words: Sequence[Part | Words], between: str = ", ") -> Words:
    """As :func:`first_few`, of messages that have parts."""
    more = len(words) - _LISTED
    joined = [part for word in words[:_LISTED] for part in (between, word)][1:]
    return Words(*joined, *([f" and {more} more"] if more > 0 else []))


def quoted(names: Sequence[object]) -> str:
    """The first few names, in quotation marks."""
    return first_few([shown(name) for name in names])


def named(names: Sequence[str]) -> str:
    """The first few names, as they are but for their length."""
    return first_few([clipped(name) for name in names])


def clipped(text: str, most: int = _LONGEST) -> str:
    """Text that does not fill the line.

    Examples
    --------
    >>> clipped("a long name", 6)
    'a lon…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_names(names: Sequence[str], most: int) -> list[str]:
    """Names of at most so many letters: cut where as many as possible stay different, in the middle if it is all one.

    Examples
    --------
    >>> cut_names(["worst concavity", "worst symmetry"], 9)
    ['wors…vity', 'wors…etry']
    >>> cut_names(["layer 1 at noon", "layer 2 at noon"], 9)
    ['layer 1…', 'layer 2…']
    >>> cut_names(["How often do you swim in a lake", "How often do you walk in a lake"], 12)
    ['…you swim i…', '…you walk i…']
    """
    tries = [[_cut(name, most, share) for name in names] for share in (0.5, 0.25, 0.0, 0.75)]
    words = [name.split(" ") for name in names if len(name) > most]
    alike = sum(1 for _ in takewhile(lambda column: len({*column}) == 1, zip(*words, strict=False)))
    if alike > 1:  # without the beginning that all long ones share, but for its last word
        ends = (f"…{' '.join(name.split(' ')[alike - 1 :])}" if len(name) > most else name for name in names)
        tries.append([_cut(end, most, 0.0) for end in ends])
    return max(tries, key=lambda texts: len(set(texts)))


def _cut(name: str, most: int, share: float) -> str:
    """A name without its middle, of which a share of what is left is its end."""
    if len(name) <= most:
        return name
    tail = int((most - 1) * share) if most > 4 else 0
    return f"{name[: max(1, most - 1 - tail)].rstrip()}…{name[len(name) - tail :].lstrip() if tail else ''}"


def shown(cell: object) -> str:
    """A cell or a name in quotation marks, as much of it as tells which one it is.

    Examples
    --------
    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    return repr(clipped(str(cell)))


def signed(value: float) -> str:
    """A number with its sign, to two decimals, or to one digit where these would be zeros.

    Examples
    --------
    >>> signed(0.254), signed(-0.0034), signed(-1.0), signed(0.0)
    ('+0.25', '-0.003', '-1.00', '0')
    """
    if value == 0 or value != value:
        return "0" if value == 0 else "NaN"
    return f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"


def visible(text: str) -> str:
    r"""Text that is safe to show: control characters are written as escapes.

    Examples
    --------
    >>> print(visible("red \x1b[31m and two\nlines"))
    red \x1b[31m and two\x0alines
    """
    return _UNSEEN.sub(_escaped, text)


def _escaped(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
