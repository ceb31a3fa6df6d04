"""How many examples fuzzers try, and how many were tried.

``ROBSCORE_FUZZ_EXAMPLES`` says how many small fits ``make fuzz`` tries; without it a few are, within ``make test``.
Tests in files that are called test_fuzz_... carry the mark "fuzz".
"""

import os
from collections import Counter

WANTED = int(os.environ.get("ROBSCORE_FUZZ_EXAMPLES", "0"))
COUNTS = Counter()


def examples(share: float, few: int) -> int:
    """Of one test: its share of the wanted ones, or a few where none are wanted."""
    return max(few, round(share * WANTED))


def count(kind: str) -> None:
    """One more case was tried."""
    COUNTS[kind] += 1
