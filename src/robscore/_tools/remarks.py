"""What there is to warn about, collected below and said once, from the line that the user wrote."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from robscore._tools.words import Words


class Remark(NamedTuple):
    """A warning to come."""

    words: str | Words
    category: type[Warning]

    def warn(self, stacklevel: int = 2) -> None:
        """Warn, as if from the caller's caller; the warning carries its words in parts."""
        warning = self.category(str(self.words))
        warning.words = self.words  # type: ignore[attr-defined]
        warnings.warn(warning, stacklevel=stacklevel + 1)
