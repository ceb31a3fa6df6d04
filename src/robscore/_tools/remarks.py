"""What there is to warn about, collected below and said once, from the line that the user wrote."""

from __future__ import annotations

import warnings

from robscore._tools.words import Words


class Remark:
    """A warning to come.

    Parameters
    ----------
    words : str or Words
        What to say; in parts, so that another surface can word it for its own readers.
    category : type of Warning

    Attributes
    ----------
    message : Words
    words : str
        The message as Python users read it.
    category : type of Warning
    """

    def __init__(self, words: str | Words, category: type[Warning]) -> None:
        self.message, self.category = Words(words), category

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
