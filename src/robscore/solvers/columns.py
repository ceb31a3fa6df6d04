"""What is the matter with some columns, whose names those know who have the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from robscore._tools.errors import UsageError
from robscore._tools.words import Words, quoted


class ColumnsError(UsageError):
    """Columns, by their positions or by name, and their ``problem``: the rest of a sentence that begins with them."""

    problem: ClassVar[Words]

    def __init__(self, columns: list[int], names: Sequence[str] | None = None) -> None:
        self.columns = columns
        listed = columns if names is None else quoted([names[k] for k in columns])
        super().__init__(f"Columns {listed} ", self.problem)

    def named(self, names: Sequence[str]) -> Self:
        """The same, with the names of the columns."""
        return type(self)(self.columns, names)


class BeyondNumbersError(ColumnsError):
    """Columns in which the loss is flat, or larger or smaller than numbers can be."""

    problem = Words(
        "are zero, or so large or small that the loss has no minimum that numbers can hold; drop them, or measure them "
        "in other units, for example divide them by their median."
    )
