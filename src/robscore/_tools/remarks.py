"""What there is to warn about, collected below and said once, from the line that the user wrote."""

from __future__ import annotations

from typing import NamedTuple


class Remark(NamedTuple):
    """A warning to come."""

    words: str
    category: type[Warning]
