"""Draw rows from a pairwise family, each by the sampler that it gives."""

from __future__ import annotations

import numpy as np

from robscore._tools.messages import Setting, UsageError
from robscore._tools.numbers import as_numbers
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, RandomState
from robscore.families import Family, get_family
from robscore.families.given_covariates import GivenCovariates
from robscore.families.samplers.sampler import Chains, Draws


def sample(
    family: str | Family,
    interaction: Array,
    location: Array | None = None,
    *,
    n_rows: int | None = None,
    burn_in: int = 500,
    thin: int = 20,
    start: Array | None = None,
    random_state: RandomState = None,
    covariates: Array | None = None,
    effects: Array | None = None,
) -> Array:
    """Rows of :func:`draw`, without their effective sample size.

    Parameters
    ----------
    family, interaction, location, n_rows, burn_in, thin, start, random_state, covariates, effects : as in :func:`draw`

    Returns
    -------
    array of shape (n_rows, m)

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.simulate.sample("sqrt", np.eye(2), n_rows=3, random_state=0).shape
    (3, 2)
    """
    return draw(
        family,
        interaction,
        location,
        n_rows=n_rows,
        burn_in=burn_in,
        thin=thin,
        start=start,
        random_state=random_state,
        covariates=covariates,
        effects=effects,
    ).X


def draw(
    family: str | Family,
    interaction: Array,
    location: Array | None = None,
    *,
    n_rows: int | None = None,
    burn_in: int = 500,
    thin: int = 20,
    start: Array | None = None,
    random_state: RandomState = None,
    covariates: Array | None = None,
    effects: Array | None = None,
) -> Draws:
    """Draw rows from a family with interaction matrix K and location eta.

    Parameters
    ----------
    family : str or pairwise family, on any domain but a Custom one
    interaction : array of shape (m, m)
        K, symmetric and, for the power families, positive definite.
    location : array of shape (m,), optional
        eta, zero by default.
    n_rows : int
        Not needed with covariates, which have one row each.
    burn_in, thin : int
        Sweeps before the first row, and from one row to the next. The square root, gamma and truncated Gaussian
        families on [0, inf) run one chain (without numba, several); where slices are sampled every row is the end of
        a chain of its own, and thin is not used.
    start : array of shape (n_rows, m), optional
        Where the chains of slices start; by default rows found inside the domain.
    random_state : int, Generator or None
    covariates : array of shape (n_rows, q), optional
        Then row i is drawn with the location eta + effects c_i.
    effects : array of shape (m, q), with covariates
        As ``effects_`` of a fit.

    Returns
    -------
    Draws
        The rows, shape (n_rows, m), and the effective sample size of each column, shape (m,).

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> draws = rs.simulate.draw("sqrt", np.eye(2), n_rows=500, random_state=0)
    >>> draws.X.shape, bool((draws.effective_size > 300).all())
    ((500, 2), True)
    """
    resolved = get_family(family)
    K = np.ascontiguousarray(as_numbers("interaction", interaction))
    m = len(K)
    eta = np.zeros(m) if location is None else as_numbers("location", location)
    if K.shape != (m, m) or eta.shape != (m,):
        raise ValueError(f"interaction must have shape (m, m) and location (m,); got {K.shape} and {eta.shape}.")
    if not (np.isfinite(K).all() and np.isfinite(eta).all()):
        raise ValueError("interaction and location must hold finite numbers.")
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10 * np.abs(K).max()):
        raise ValueError("interaction must be symmetric.")
    K = (K + K.T) / 2
    if (covariates is None) != (effects is None):
        raise UsageError("covariates and effects go together: give both, or neither.")
    if covariates is not None:
        eta, given = _with_effects(eta, covariates, effects)
        if n_rows not in (None, len(given)):
            raise UsageError(
                Setting("n_rows", n_rows), f" must be the {len(given)} rows of the covariates, or left out."
            )
        n_rows = len(given)
    if n_rows is None:
        raise UsageError("Give n_rows, the number of rows to draw.")
    if n_rows < 1 or burn_in < 0 or thin < 1:
        counts = " and ", Setting("thin", thin), " must be at least 1 and ", Setting("burn_in", burn_in)
        raise UsageError(Setting("n_rows", n_rows), *counts, " at least 0.")
    if not resolved.is_pairwise:
        raise ValueError(f"Sampling from {resolved!r} is not available; use a pairwise family.")
    resolved.check_columns(m)
    rng = as_generator(random_state)
    if start is not None:
        start = as_numbers("start", start)
        if start.shape != (n_rows, m) or not resolved.domain.contains(start).all():
            raise ValueError(f"start must hold {n_rows} rows of {m} columns, all inside {resolved.domain!r}.")
    if covariates is not None:
        for row in (eta[:, 0] + given @ eta[:, 1:].T).min(axis=0, keepdims=True):
            resolved.check_parameters(K, row)
        first = resolved.domain.some_rows(n_rows, m, rng) if start is None else start
        both = np.concatenate([first, given], axis=1)
        drawn = (
            GivenCovariates(resolved, given.shape[1])
            .sampler()
            .draw(K, eta, n_rows, Chains(burn_in, thin, start=both), rng)
        )
        return Draws(drawn.X[:, :m], drawn.effective_size)
    resolved.check_parameters(K, eta)
    return resolved.sampler().draw(K, eta, n_rows, Chains(burn_in, thin, start), rng)


def _with_effects(eta: Array, covariates: Array, effects: Array | None) -> tuple[Array, Array]:
    """The location with effects, shape (m, 1 + q), and the covariates, shape (n, q); raise where shapes differ."""
    c, B = as_numbers("covariates", covariates), as_numbers("effects", effects)
    c = c[:, None] if c.ndim == 1 else c
    B = B[:, None] if B.ndim == 1 else B
    if c.ndim != 2 or B.shape != (eta.size, c.shape[1]):
        raise UsageError(
            f"effects must have shape ({eta.size}, covariates); got {B.shape} and covariates of {c.shape}."
        )
    if not (np.isfinite(c).all() and np.isfinite(B).all()):
        raise UsageError("covariates and effects must hold finite numbers.")
    return np.column_stack([eta, B]), c
