"""Problems of some columns; their names are added where the rows are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from robscore._tools.messages import Message, UsageError, quoted


class ColumnsError(UsageError):
    """Columns, by their positions or by name, and their ``problem``: the rest of a sentence that begins with them."""

    problem: ClassVar[Message]

    def __init__(self, columns: list[int], names: Sequence[str] | None = None) -> None:
        self.columns = columns
        listed = columns if names is None else quoted([names[k] for k in columns])
        super().__init__(f"Columns {listed} ", self.problem)

    def named(self, names: Sequence[str]) -> Self:
        """The same, with the names of the columns."""
        return type(self)(self.columns, names)


class BeyondNumbersError(ColumnsError):
    """Columns in which the loss is flat, or beyond floating-point range."""

    problem = Message(
        "are zero, or so large or small that the minimum of the loss is beyond floating-point range; drop them, or "
        "measure them in other units, for example by dividing them by their median."
    )
