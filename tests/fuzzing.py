"""How many examples fuzzers try, and how many were tried.

``ROBSCORE_FUZZ_EXAMPLES`` says how many small fits ``make fuzz`` tries; without it a few are, within ``make test``.
Tests in files that are called test_fuzz_... carry the mark "fuzz".
"""

import os
from collections import Counter
from contextlib import contextmanager
from unittest.mock import patch

from robscore.families.samplers import gibbs, normal
from robscore.weighting import expected_rows

WANTED = int(os.environ.get("ROBSCORE_FUZZ_EXAMPLES", "0"))
COUNTS = Counter()


def examples(share: float, few: int) -> int:
    """Of one test: its share of the wanted ones, or a few where none are wanted."""
    return max(few, round(share * WANTED))


def count(kind: str) -> None:
    """One more case was tried."""
    COUNTS[kind] += 1


@contextmanager
def simulating(*, many: bool):
    """Cases in which few rows are simulated to compare the data with, unless ``many`` are, as many as otherwise.

    Two thirds of the time of a small fit goes into such rows, whose number decides nothing else.
    """
    if many:
        yield
        return
    with (
        patch.multiple(expected_rows, _FEWEST_CHAINS=250, _MOST_CHAINS=250),
        patch.multiple(gibbs, _FEWEST=500, _MOST=500),
        patch.multiple(normal, _LEAST_LOG2=9, _LARGEST_LOG2=9),
    ):
        yield
