"""Errors that name the columns for which the loss has no usable minimum.

Solvers know columns by position only; whoever knows the rows adds the names (:meth:`ColumnsError.named`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from robscore._tools.messages import Message, UsageError, quoted

_MANY_ZEROS = 0.3  # share of the cells from which on zeros are said to be why


class ColumnsError(UsageError):
    """Some columns are unsolvable; ``problem`` is the rest of a sentence that begins with their positions or names.

    ``of_zeros`` is the rest of one that begins with the share of their cells that are zero, where zeros can be why.
    """

    problem: ClassVar[Message]
    of_zeros: ClassVar[Message | None] = None

    def __init__(self, columns: list[int], names: Sequence[str] | None = None, zeros: float = 0.0) -> None:
        self.columns = columns
        listed = columns if names is None else quoted([names[k] for k in columns])
        who = f"column {listed}" if len(columns) == 1 and names is not None else f"columns {listed}"
        if zeros >= _MANY_ZEROS and self.of_zeros is not None:
            super().__init__(f"{zeros:.0%} of the cells of {who} are zero, ", self.of_zeros)
        else:
            super().__init__(f"{who[0].upper()}{who[1:]} ", self.problem)

    def named(self, names: Sequence[str], zeros: float = 0.0) -> Self:
        """Word the same error with the names of the columns, and the share of their cells that are zero."""
        return type(self)(self.columns, names, zeros)


class BeyondNumbersError(ColumnsError):
    """The loss is flat in these columns, or beyond floating-point range."""

    problem = Message(
        "are zero, or so large or small that the minimum of the loss is beyond floating-point range; drop them, or "
        "measure them in other units, for example by dividing them by their median."
    )
