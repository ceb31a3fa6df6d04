"""Errors and warnings that carry their parts, so that another interface can word them for its own readers."""

from __future__ import annotations

from typing import Any

from robscore._tools.words import Part, Setting, Words


class UsageError(ValueError):
    """Data or settings that cannot be used; ``words`` is the message in parts."""

    def __init__(self, *parts: Part | Words) -> None:
        self.words = Words(*parts)
        super().__init__(str(self.words))

    def __reduce__(self) -> Any:
        return _again, (type(self), self.words.parts, self.__dict__)


def _again(kind: type[UsageError], parts: tuple[Part, ...], facts: dict[str, Any]) -> UsageError:
    """An error restored after pickling between processes."""
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

    def __init__(self, argument: str, value: object, problem: str | Words, advice: str | Words = "") -> None:
        self.argument, self.value, self.problem, self.advice = argument, value, problem, advice
        joint = "" if isinstance(problem, str) and problem.startswith((":", ",")) else " "
        super().__init__(Setting(argument, value), joint, problem, *([" ", advice] if str(advice) else []))
