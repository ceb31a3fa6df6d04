"""Draw rows from a pairwise family: Gaussian and log-log directly, others one coordinate at a time.

The square-root model and normals on any domain have exact conditionals; the rest are sampled by slices.

With y = sqrt(x) the square-root model has the conditional density

    y_j given the rest  ~  y exp(-K_jj y^2 + 2 b y),      b = eta_j - sum_{k != j} K_jk y_k

and t = sqrt(K_jj) y has density f(t) ~ t exp(-(t - c)^2), c = b / sqrt(K_jj), which is sampled exactly by
rejection, from one of two envelopes:

    c > 0.2   normal about the mode t*, variance 1/2; since (log f)'' <= -2, accept with (t/t*) exp(1 - t/t*)
    else      gamma of shape 2 and rate r = sqrt(c^2 + 4) - c; accept with exp(-(t - c - r/2)^2)

Either accepts more than two thirds of its proposals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robscore._random import as_generator
from robscore._typing import Array, RandomState
from robscore.families import Family, get_family
from robscore.families.gaussian import Gaussian
from robscore.families.log_log import LogLog
from robscore.families.square_root import SquareRoot
from robscore.medians.blocks import average_ranks
from robscore.simulate.mixing import effective_sample_size
from robscore.simulate.slice import slice_sample


class Draws(NamedTuple):
    """Rows from a family, and how many independent ones each column is worth.

    Attributes
    ----------
    X : array of shape (n, m)
    effective_size : array of shape (m,)
        By the autocorrelation of the rows where they come from one chain. Where every row ends a chain of its own,
        less what the columns still remember of where the chains were halfway.
    """

    X: Array
    effective_size: Array


def has_direct_sampler(family: Family) -> bool:
    """Whether rows come fast: drawn directly, or by compiled sweeps."""
    if type(family) is Gaussian:
        return family.domain.is_real_line
    return type(family) in (LogLog, SquareRoot) and family.domain.only_boundary_is_zero


def sample(
    family: str | Family,
    interaction: Array,
    location: Array | None = None,
    *,
    n_rows: int,
    burn_in: int = 500,
    thin: int = 20,
    start: Array | None = None,
    random_state: RandomState = None,
) -> Array:
    """Rows of :func:`draw`, without their effective sample size.

    Parameters
    ----------
    family, interaction, location, n_rows, burn_in, thin, start, random_state : as in :func:`draw`

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
    ).X


def draw(
    family: str | Family,
    interaction: Array,
    location: Array | None = None,
    *,
    n_rows: int,
    burn_in: int = 500,
    thin: int = 20,
    start: Array | None = None,
    random_state: RandomState = None,
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
    burn_in, thin : int
        Sweeps before the first row, and from one row to the next. Only the square-root model on the orthant runs
        one chain; where slices are sampled every row is the end of a chain of its own, and thin is not used.
    start : array of shape (n_rows, m), optional
        Where those chains start; by default rows found inside the domain.
    random_state : int, Generator or None

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
    K = np.ascontiguousarray(interaction, dtype=float)
    m = K.shape[0]
    eta = np.zeros(m) if location is None else np.asarray(location, dtype=float)
    if K.shape != (m, m) or eta.shape != (m,):
        raise ValueError(f"interaction must have shape (m, m) and location (m,); got {K.shape} and {eta.shape}.")
    if not (np.isfinite(K).all() and np.isfinite(eta).all()):
        raise ValueError("interaction and location must hold finite numbers.")
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10 * np.abs(K).max()):
        raise ValueError("interaction must be symmetric.")
    K = (K + K.T) / 2
    if n_rows < 1 or burn_in < 0 or thin < 1:
        raise ValueError(f"n_rows={n_rows} and thin={thin} must be at least 1 and burn_in={burn_in} at least 0.")
    if not resolved.is_pairwise:
        raise ValueError(f"Sampling from {resolved!r} is not available; use a pairwise family.")
    resolved.check_columns(m)
    resolved.check_parameters(K, eta)
    rng = as_generator(random_state)
    all_rows = np.full(m, float(n_rows))
    if type(resolved) is Gaussian and resolved.domain.is_real_line:
        return Draws(_normal(K, eta, n_rows, rng), all_rows)
    if type(resolved) is LogLog and resolved.domain.only_boundary_is_zero:
        return Draws(np.exp(_normal(K, eta + 1.0, n_rows, rng)), all_rows)  # log x is normal; dx adds 1 to eta
    if type(resolved) is SquareRoot and resolved.domain.only_boundary_is_zero:
        from robscore.simulate.kernels import gibbs_square_root

        X = gibbs_square_root(K, eta, n_rows, burn_in, thin, rng) ** 2
        return Draws(X, effective_sample_size(X) if n_rows >= 4 else all_rows)
    first = resolved.domain.some_rows(n_rows, m, rng) if start is None else np.asarray(start, dtype=float)
    if first.shape != (n_rows, m) or not resolved.domain.contains(first).all():
        raise ValueError(f"start must hold {n_rows} rows of {m} columns, all inside {resolved.domain!r}.")
    halfway = slice_sample(resolved, K, eta, first, burn_in // 2, rng)
    X = slice_sample(resolved, K, eta, halfway, burn_in - burn_in // 2, rng)
    return Draws(X, _remembered(halfway, X))


def _normal(K: Array, eta: Array, n_rows: int, rng: np.random.Generator) -> Array:
    """Rows of the normal distribution with precision K and mean K^-1 eta."""
    noise = np.linalg.solve(np.linalg.cholesky(K).T, rng.standard_normal((len(K), n_rows))).T
    return np.asarray(np.linalg.solve(K, eta) + noise, dtype=float)


def _remembered(first: Array, last: Array) -> Array:
    """The rows times 1 - r^2, r the rank correlation of the ends of all chains with where they were halfway."""
    n = len(first)
    if n < 4:
        return np.full(first.shape[1], float(n))
    ranks = [average_ranks(rows) for rows in (first, last)]
    centred = [rank - rank.mean(axis=0) for rank in ranks]
    scale = np.sqrt((centred[0] ** 2).sum(axis=0) * (centred[1] ** 2).sum(axis=0))
    with np.errstate(invalid="ignore"):
        squared = np.nan_to_num(((centred[0] * centred[1]).sum(axis=0) / scale) ** 2)
    sizes: Array = n * (1.0 - np.where(squared > 9.0 / n, squared, 0.0))
    return sizes
