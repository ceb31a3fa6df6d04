"""What users are told: messages in parts, the errors and cautions that carry them, and names cut to fit a line.

A message is text with parts in it that have other names in other interfaces: an argument of a function is an option of
a command, the array X is "the data". ``str(message)`` is what Python users read; ``message.worded(speaker)`` lets a
speaker, such as the command line, word each part in its own way. So errors and cautions carry messages, not text.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from itertools import takewhile
from typing import Any, TypeAlias

_LISTED = 5  # of many names; the rest are only counted
_LONGEST = 40  # characters of a cell or a name that a message shows
# Cells and names come from strangers' files: what a terminal would obey rather than show (control characters, turns of
# the direction of writing, halves of characters) is escaped.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class _Nothing(Enum):
    """Stand for no value, as None is one; an Enum, so that there is one of it also after pickling."""

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
        written = repr(self.value)  # a table is shown by its type only, as its lines would break the sentence
        return f"{self.name}={f'<{type(self.value).__name__}>' if chr(10) in written else written}"


@dataclass(frozen=True)
class RowAt:
    """A row: Python users are told its place in their data, other interfaces may word its number, from 0."""

    number: int
    place: str

    def __str__(self) -> str:
        return self.place


@dataclass(frozen=True)
class Phrase:
    """What readers who call functions are told, and what those are told who do not."""

    python: str
    plain: str

    def __str__(self) -> str:
        return self.python


Part: TypeAlias = "str | Setting | RowAt | Phrase"


class Message:
    """A message of several parts.

    Examples
    --------
    >>> message = Message("Pass ", Setting("missing", "drop"), " to leave out incomplete rows.")
    >>> str(message)
    "Pass missing='drop' to leave out incomplete rows."
    >>> message.worded(lambda part: f"--{part.name} {part.value}")
    'Pass --missing drop to leave out incomplete rows.'
    """

    def __init__(self, *parts: Part | Message) -> None:
        self.parts: tuple[Part, ...] = ()
        for part in parts:
            self.parts += part.parts if isinstance(part, Message) else (part,)

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def worded(self, speaker: Callable[[Any], str]) -> str:
        """Return the message, in which the speaker has worded every part that is not plain text."""
        return "".join(part if isinstance(part, str) else speaker(part) for part in self.parts)


class UsageError(ValueError):
    """Data or settings that cannot be used; its attribute ``message`` has the text in parts."""

    def __init__(self, *parts: Part | Message) -> None:
        self.message = Message(*parts)
        super().__init__(str(self.message))

    def __reduce__(self) -> Any:
        return _again, (type(self), self.message.parts, self.__dict__)


def _again(kind: type[UsageError], parts: tuple[Part, ...], facts: dict[str, Any]) -> UsageError:
    """Restore an error that was pickled between processes: its own arguments differ from those of its class."""
    error = kind.__new__(kind)
    UsageError.__init__(error, *parts)
    error.__dict__.update(facts)
    return error


class ArgumentError(UsageError):
    """An argument that cannot be used.

    Parameters
    ----------
    argument : its name
    value : what was given
    problem : what is wrong with it, as the rest of a sentence that begins with ``argument=value``
    advice : what to do, a sentence of its own or the end of one; empty where the problem says it
    """

    def __init__(self, argument: str, value: object, problem: str | Message, advice: str | Message = "") -> None:
        self.argument, self.value, self.problem, self.advice = argument, value, problem, advice
        joint = "" if isinstance(problem, str) and problem.startswith((":", ",")) else " "
        super().__init__(Setting(argument, value), joint, problem, *([" ", advice] if str(advice) else []))


class About(IntEnum):
    """What a remark is about, in the order in which readers are shown them.

    What would change their conclusions comes first, remarks on numbers last.
    """

    CODES = 0
    FEW_ROWS = 1
    GROUP = 2
    LEFT_OUT = 3
    MISFIT = 4
    COLUMNS = 5
    NOT_CONVERGED = 6
    DEPENDENT_COLUMNS = 7
    SORTED = 8
    SERIES = 9
    COPIES = 10
    END_OF_PATH = 11
    STRENGTH = 12
    DIAGONAL = 13
    OTHER = 14


class Remark:
    """Something to be careful about, found on the way: shown once, as a caution of a fit or as a warning.

    Parameters
    ----------
    message : str or Message
        What to say; in parts, so that another interface can word it for its own readers.
    category : type of Warning
        Its category if it is issued as a warning.
    kind : About, default About.OTHER
        How bad it is compared with others.
    table : str, default ""
        Lines to show below the message.

    Attributes
    ----------
    message : Message
    category : type of Warning
    kind : About
    table : str
    """

    def __init__(
        self, message: str | Message, category: type[Warning], kind: About = About.OTHER, table: str = ""
    ) -> None:
        self.message, self.category, self.kind, self.table = Message(message), category, kind, table

    def with_table(self, table: str) -> Remark:
        """The remark with other lines below it."""
        return Remark(self.message, self.category, self.kind, table)

    def __repr__(self) -> str:
        return f"Remark({str(self.message)!r}, {self.category.__name__})"

    def warn(self, *, stacklevel: int = 1) -> None:
        """Warn, as from the line that calls this, or so many calls above it.

        The warning's attribute ``message`` has the text in parts, for interfaces that catch it and word it anew.
        """
        warning = self.category(str(self.message))
        warning.message = self.message  # type: ignore[attr-defined]
        warnings.warn(warning, stacklevel=stacklevel + 1)


class Caution(str):
    """A sentence that the reader of a fit must know, as worded for Python users.

    Parameters
    ----------
    message : str or Message
    kind : About

    Examples
    --------
    >>> caution = Caution(Message("Give ", Setting("n_blocks"), "."), About.OTHER)
    >>> caution, caution.message.worded(lambda part: "--n-blocks")
    ('Give n_blocks.', 'Give --n-blocks.')
    """

    __slots__ = ("kind", "message")
    message: Message
    kind: About

    def __new__(cls, message: str | Message, kind: About) -> Caution:
        """Make the text, and keep the message in parts beside it."""
        made = super().__new__(cls, str(message))
        made.message, made.kind = Message(message), kind
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Caution, (self.message, self.kind)


def worst_first(remarks: Iterable[Remark]) -> list[Caution]:
    """Turn remarks into cautions, each once."""
    ordered = sorted(remarks, key=lambda remark: remark.kind)
    whole = [Caution(Message(remark.message, remark.table), remark.kind) for remark in ordered]
    return list({str(caution): caution for caution in whole}.values())


def in_a_list(names: Sequence[str], word: str) -> str:
    """Names with commas between them, and a word before the last."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def first_few(words: Sequence[str], between: str = ", ") -> str:
    """Join the first five, and say how many more there are.

    Examples
    --------
    >>> first_few(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    return str(first_few_parts(words, between))


def first_few_parts(words: Sequence[Part | Message], between: str = ", ") -> Message:
    """Join the first five messages that have parts, as :func:`first_few` does with texts."""
    more = len(words) - _LISTED
    joined = [part for word in words[:_LISTED] for part in (between, word)][1:]
    return Message(*joined, *([f" and {more} more"] if more > 0 else []))


def quoted(names: Sequence[object]) -> str:
    """Join the first few names, in quotation marks."""
    return first_few([shown(name) for name in names])


def named(names: Sequence[str]) -> str:
    """Join the first few names without quotation marks, each cut if it is long."""
    return first_few([clipped(name) for name in names])


def clipped(text: str, most: int = _LONGEST) -> str:
    """Cut a text to a length, so that it does not fill the line.

    Examples
    --------
    >>> clipped("a long name", 6)
    'a lon…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def cut_names(names: Sequence[str], most: int) -> list[str]:
    """Cut names to at most so many letters, where as many as possible stay different; in the middle if that is equal.

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
    """Cut a name in its middle; ``share`` of the letters that are left are taken from its end."""
    if len(name) <= most:
        return name
    tail = int((most - 1) * share) if most > 4 else 0
    return f"{name[: max(1, most - 1 - tail)].rstrip()}…{name[len(name) - tail :].lstrip() if tail else ''}"


def shown(cell: object) -> str:
    """Put a cell or a name in quotation marks, cut if it is long.

    Examples
    --------
    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'"
    """
    return repr(clipped(str(cell)))


def signed(value: float) -> str:
    """Write a number with its sign, to two decimals, or to one digit where these would be zeros.

    Examples
    --------
    >>> signed(0.254), signed(-0.0034), signed(-1.0), signed(0.0)
    ('+0.25', '-0.003', '-1.00', '0')
    """
    if value == 0 or value != value:
        return "0" if value == 0 else "NaN"
    return f"{value:+.2f}" if abs(value) >= 0.005 else f"{value:+.1g}"


def visible(text: str) -> str:
    r"""Make a text safe to show: control characters are written as escapes.

    Examples
    --------
    >>> print(visible("red \x1b[31m and two\nlines"))
    red \x1b[31m and two\x0alines
    """
    return _CONTROLS.sub(_escaped, text)


def _escaped(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
