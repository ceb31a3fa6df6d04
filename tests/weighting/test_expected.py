"""What a fit expects of good rows: computed where they are normal, and the same as that of rows that are drawn."""

import numpy as np
import pytest

from robscore.families import get_family
from robscore.families.samplers import Chains
from robscore.weighting import ColumnScaling, DrawnValues, NormalValues, Simulator, Surprise, find_central_rows

LEVELS = np.array([0.02, 0.1, 0.5, 0.9, 0.98, 0.998])


def _both(family: str, m: int) -> tuple[NormalValues, DrawnValues, Surprise]:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(m, m)) / np.sqrt(m)
    parameters = A @ A.T + np.eye(m), rng.normal(size=m)
    own = get_family(family)
    X = own.sampler().draw(*parameters, 400, Chains(burn_in=0, thin=1, start=None), rng).X
    standard = ColumnScaling.of(own, X)
    z = standard(X)
    scatter, _ = find_central_rows(z, np.ones(len(z), dtype=bool))
    known = Simulator(own, X, 0).expected(parameters, standard, scatter)
    assert isinstance(known, NormalValues)
    assert known.drawn is None
    many = own.sampler().draw(*parameters, 400_000, Chains(burn_in=0, thin=1, start=None), rng).X
    return known, DrawnValues(many, standard, scatter), Surprise.of(own, parameters, None)


@pytest.mark.parametrize("m", [2, 8, 30])
@pytest.mark.parametrize("family", ["gaussian", "log-log"])
def test_what_is_known_of_normal_rows_is_what_rows_have(family: str, m: int) -> None:
    known, drawn, judged_by = _both(family, m)
    for one, other in (
        (known.distances(), drawn.distances()),
        (known.surprises(judged_by), drawn.surprises(judged_by)),
    ):
        np.testing.assert_allclose(np.quantile(one, LEVELS), np.quantile(other, LEVELS), rtol=0.02, atol=0.02)
    found, expected = (np.quantile(part.residuals(), LEVELS, axis=1) for part in (known, drawn))
    np.testing.assert_allclose(found, expected, rtol=0.02, atol=0.03)


def test_other_families_are_drawn() -> None:
    own, rng = get_family("sqrt"), np.random.default_rng(0)
    X = rng.gamma(2.0, size=(200, 4))
    standard = ColumnScaling.of(own, X)
    scatter, _ = find_central_rows(standard(X), np.ones(200, dtype=bool))
    found = Simulator(own, X, 0).expected((np.eye(4), np.ones(4)), standard, scatter)
    assert isinstance(found, DrawnValues)
    assert found.drawn.shape[1] == 4
