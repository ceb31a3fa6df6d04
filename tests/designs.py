"""Which combinations of parameters every run of the tests tries; all others wait for ``make test-long``."""

from itertools import product

import pytest


def swept(*factors, times=1):
    """All combinations, for ``parametrize``: some come up in every run, in which each value does, the others are long.

    The first factor's values (or those of the longest) come up ``times`` times each, with others in turn.
    """
    factors = [list(factor) for factor in factors]
    longest = max(map(len, factors))
    always = {
        tuple((k + shift * (place > 0)) % len(factor) for place, factor in enumerate(factors))
        for k in range(longest)
        for shift in range(times)
    }
    every = product(*(range(len(factor)) for factor in factors))
    return [
        pytest.param(
            *(factor[k] for factor, k in zip(factors, index, strict=True)),
            marks=() if index in always else pytest.mark.long,
        )
        for index in every
    ]


def first(count, values):
    """Values for ``parametrize`` of which as many come up in every run; the others are long."""
    return [pytest.param(value, marks=() if k < count else pytest.mark.long) for k, value in enumerate(values)]
