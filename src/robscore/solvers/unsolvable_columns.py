"""Errors that name the columns for which the loss has no usable minimum.

Solvers know columns by position only; whoever knows the rows adds the names (:meth:`ColumnsError.named`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from robscore._tools.messages import Message, UsageError, quoted


class ColumnsError(UsageError):
    """Some columns are unsolvable; ``problem`` is the rest of a sentence that begins with their positions or names."""

    problem: ClassVar[Message]

    def __init__(self, columns: list[int], names: Sequence[str] | None = None) -> None:
        self.columns = columns
        listed = columns if names is None else quoted([names[k] for k in columns])
        super().__init__(f"Columns {listed} ", self.problem)

    def named(self, names: Sequence[str]) -> Self:
        """Word the same error with the names of the columns."""
        return type(self)(self.columns, names)


class BeyondNumbersError(ColumnsError):
    """The loss is flat in these columns, or beyond floating-point range."""

    problem = Message(
        "are zero, or so large or small that the minimum of the loss is beyond floating-point range; drop them, or "
        "measure them in other units, for example by dividing them by their median."
    )
