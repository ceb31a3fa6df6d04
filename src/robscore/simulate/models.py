"""True models of a simulation: random graphs with parameters on them, and rows drawn from any family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from robscore._tools.messages import ArgumentError, Setting, UsageError
from robscore._tools.numbers import as_numbers
from robscore._tools.randomness import as_generator
from robscore._tools.typing import Array, BoolArray, IntArray, RandomState
from robscore.families import Family, Gaussian, get_family
from robscore.families.copula import Margins
from robscore.families.given_covariates import GivenCovariates
from robscore.families.samplers.sampler import Chains, Draws
from robscore.fitting.latent_scale import of_unit_variances
from robscore.weighting.proper_parameters import proper

if TYPE_CHECKING:
    from robscore.estimators.estimator import ScoreMatchingEstimator

_ROUNDED = 0.01  # how far from 1 shares may sum, as rounded ones do
AnyMargins: TypeAlias = "ScoreMatchingEstimator | Margins | Sequence[Any]"
Shape: TypeAlias = Literal["random", "chain", "hub", "grid", "scale-free"]
_COLUMNS_A_HUB = 10  # of shape "hub": the first of every ten columns is linked with the nine others


@dataclass(frozen=True)
class Model:
    """True parameters of a pairwise family.

    Attributes
    ----------
    interaction : array of shape (m, m)
        K, precision-like: K_ij = 0 off the diagonal means no edge, K_ij < 0 positive association.
    location : array of shape (m,)
        eta.
    """

    interaction: Array
    location: Array

    @property
    def adjacency(self) -> BoolArray:
        """Which pairs have an edge, shape (m, m); the diagonal is False."""
        edges = self.interaction != 0
        np.fill_diagonal(edges, val=False)
        return edges


def random_model(
    n_columns: int,
    n_edges: int,
    *,
    strength: tuple[float, float] = (0.5, 1.0),
    min_eigenvalue: float = 0.1,
    locations: tuple[float, ...] = (0.0, 0.5, -0.5),
    random_state: RandomState = None,
) -> Model:
    """Draw a graph uniformly from those with so many edges, with parameters as in the paper (section 5.1).

    Parameters
    ----------
    n_columns, n_edges : int
    strength : (low, high)
        ``|K_ij|`` of an edge is uniform between them, with a random sign.
    min_eigenvalue : float, default 0.1
        The diagonal of K is one common value that gives K this least eigenvalue.
    locations : tuple of float
        Each eta_j is drawn from these.
    random_state : int, Generator or None

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> model = rs.simulate.random_model(5, 5, random_state=0)
    >>> int(model.adjacency.sum() // 2), round(float(np.linalg.eigvalsh(model.interaction)[0]), 12)
    (5, 0.1)
    """
    n_pairs = n_columns * (n_columns - 1) // 2
    if n_columns < 1 or not 0 <= n_edges <= n_pairs:
        raise ArgumentError(
            "n_edges", n_edges, f"must lie between 0 and {n_pairs}, the number of pairs of {n_columns} columns."
        )
    rng = as_generator(random_state)
    rows, columns = np.triu_indices(n_columns, k=1)
    chosen = rng.choice(n_pairs, size=n_edges, replace=False)
    return _with_parameters(n_columns, rows[chosen], columns[chosen], strength, min_eigenvalue, locations, rng)


def shaped_model(
    shape: Shape,
    n_columns: int,
    *,
    strength: tuple[float, float] = (0.5, 1.0),
    min_eigenvalue: float = 0.1,
    locations: tuple[float, ...] = (0.0, 0.5, -0.5),
    random_state: RandomState = None,
) -> Model:
    """Draw a graph of a known shape, with parameters as those of :func:`random_model`.

    Parameters
    ----------
    shape : {"random", "chain", "hub", "grid", "scale-free"}
        As many edges as columns at random; one column after the other; a hub for every ten columns; a square lattice;
        or a tree that grows one column at a time, each joined to one that is likely to have many edges already.
    n_columns : int
    strength, min_eigenvalue, locations, random_state : as in :func:`random_model`

    Examples
    --------
    >>> import robscore as rs
    >>> model = rs.simulate.shaped_model("chain", 5, random_state=0)
    >>> model.adjacency.sum(axis=0).tolist()
    [1, 2, 2, 2, 1]
    """
    if n_columns < 2:
        raise ArgumentError("n_columns", n_columns, "must be at least 2.")
    rng = as_generator(random_state)
    every = np.arange(n_columns)
    if shape == "random":
        rows, columns = np.triu_indices(n_columns, k=1)
        chosen = rng.choice(rows.size, size=min(n_columns, rows.size), replace=False)
        rows, columns = rows[chosen], columns[chosen]
    elif shape == "chain":
        rows, columns = every[:-1], every[1:]
    elif shape == "hub":
        columns = every[every % _COLUMNS_A_HUB > 0]
        rows = _COLUMNS_A_HUB * (columns // _COLUMNS_A_HUB)
    elif shape == "grid":
        width = int(np.sqrt(n_columns))
        across = every[:-1][(every[:-1] + 1) % width > 0]
        rows = np.append(across, every[:-width])
        columns = np.append(across + 1, every[width:])
    elif shape == "scale-free":
        rows, columns = _grown_tree(n_columns, rng)
    else:
        raise ArgumentError("shape", shape, f"is not known; use one of {', '.join(map(repr, get_args(Shape)))}.")
    return _with_parameters(n_columns, rows, columns, strength, min_eigenvalue, locations, rng)


def _grown_tree(n_columns: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw pairs of a tree in which a new column joins an old one with a probability that grows with its edges."""
    ends, joined = [0, 1], [0]
    for column in range(2, n_columns):
        joined.append(int(rng.choice(ends)))
        ends += [joined[-1], column]
    return np.array(joined), np.arange(1, n_columns)


def _with_parameters(
    n_columns: int,
    rows: IntArray,
    columns: IntArray,
    strength: tuple[float, float],
    min_eigenvalue: float,
    locations: tuple[float, ...],
    rng: np.random.Generator,
) -> Model:
    """Put interactions of random strength and sign on the edges, with a common diagonal and random locations."""
    if not min_eigenvalue > 0:
        raise ArgumentError("min_eigenvalue", min_eigenvalue, "must be positive, or the model has no density.")
    values = rng.uniform(*strength, size=rows.size) * rng.choice([-1.0, 1.0], size=rows.size)
    interaction = np.zeros((n_columns, n_columns))
    interaction[rows, columns] = values
    interaction += interaction.T
    least = float(np.linalg.eigvalsh(interaction)[0])
    np.fill_diagonal(interaction, min_eigenvalue - least)
    return Model(interaction, rng.choice(np.asarray(locations), size=n_columns))


def draw(
    family: str | Family | ScoreMatchingEstimator,
    interaction: Array | None = None,
    location: Array | None = None,
    *,
    n_rows: int | None = None,
    margins: AnyMargins | None = None,
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
    family : str or pairwise family, on any domain but a Custom one; or a fitted estimator
        A fit gives its family, its parameters without shrinkage, and, of the copula, its margins: rows look like its
        data.
    interaction : array of shape (m, m)
        K, symmetric and, for the power families, positive definite. Not given with a fit.
    location : array of shape (m,), optional
        eta, zero by default. The copula has none.
    n_rows : int
        Not needed with covariates, which have one row each.
    margins : for the copula, optional
        What columns look like: a fitted estimator, ``robscore.families.copula.Margins``; the shares of categories
        0, 1, ..., such as ``[0.2, 0.5, 0.3]``, of all columns; or a list with shares for every column, or None where it
        is normal. By default all are: rows are the latent numbers, with variance 1.
    burn_in, thin : int
        Sweeps before the first row, and from one row to the next. The square root, gamma and truncated Gaussian
        families on [0, inf) run one chain; where slices are sampled every row is the end of a chain of its own, and
        thin is not used.
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

    Answers of three categories:

    >>> K = np.array([[1.0, -0.5], [-0.5, 1.0]])
    >>> X = rs.simulate.draw("copula", K, margins=[0.2, 0.5, 0.3], n_rows=1000, random_state=0).X
    >>> np.unique(X).tolist(), bool(np.corrcoef(X.T)[0, 1] > 0.3)
    ([0.0, 1.0, 2.0], True)
    """
    if hasattr(family, "fitted_"):
        if interaction is not None or location is not None:
            raise UsageError("A fit has parameters of its own; give it alone, or a family with interaction.")
        family, interaction, location, own = _of_fit(family)
        margins = own if margins is None else margins
    resolved = get_family(family)
    if interaction is None:
        raise UsageError("Give interaction, the matrix K; only a fit has one of its own.")
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
    if resolved.has_margins:
        if location is not None or covariates is not None or start is not None:
            raise UsageError("The copula has no location, covariates or start to draw rows with: leave them out.")
        return _draw_copula(K, read_margins(margins, m), n_rows, as_generator(random_state))
    if margins is not None:
        raise UsageError(f"margins are for family='copula', not for {resolved!r}.")
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


def sample(
    family: str | Family | ScoreMatchingEstimator,
    interaction: Array | None = None,
    location: Array | None = None,
    *,
    n_rows: int | None = None,
    **options: Any,
) -> Array:
    """Draw rows as :func:`draw` does, without their effective sample size.

    Parameters
    ----------
    family, interaction, location, n_rows : as in :func:`draw`
    options : margins, burn_in, thin, start, random_state, covariates, effects
        As in :func:`draw`.

    Returns
    -------
    array of shape (n_rows, m)

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rs.simulate.sample("sqrt", np.eye(2), n_rows=3, random_state=0).shape
    (3, 2)
    >>> X = np.random.default_rng(0).integers(0, 4, (200, 3))
    >>> model = rs.RobustGraph("copula", n_edges=1).fit(X)
    >>> np.unique(rs.simulate.sample(model, n_rows=50, random_state=0)).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    return draw(family, interaction, location, n_rows=n_rows, **options).X


def read_margins(margins: AnyMargins | None, m: int) -> Margins | None:
    """The margins of m columns, from what :func:`draw` takes; raise on anything else."""
    if margins is None:
        return None
    fit = getattr(margins, "fitted_", None)
    found: Any = margins if fit is None else fit.prepared.preparation.scaling
    if not isinstance(found, Margins):
        if fit is not None:
            raise ArgumentError("margins", margins, "is no fit of family='copula'.")
        given = list(found)
        per_column = given if any(one is None or np.ndim(one) for one in given) else [given] * m
        found = Margins.of_shares([None if one is None else _shares(one) for one in per_column])
    if len(found.values) != m:
        raise UsageError(f"margins are of {len(found.values)} columns, and interaction of {m}.")
    return found


def _shares(given: Any) -> list[float]:
    shares = as_numbers("margins", given)
    if shares.ndim != 1 or shares.size < 2 or not (shares > 0).all() or abs(shares.sum() - 1) > _ROUNDED:
        raise ArgumentError("margins", given, "must hold shares of two categories or more, above 0, that sum to 1.")
    return shares.tolist()


def _of_fit(model: Any) -> tuple[Family, Array, Array | None, Margins | None]:
    """Family and parameters of a fit without shrinkage, in units of the data, and its margins."""
    fit = model.fitted_
    preparation = fit.prepared.preparation
    if fit.n_given and preparation.has_margins:
        raise UsageError("Rows cannot be drawn from a fit of the copula with covariates; fit without them.")
    if fit.n_given:
        raise UsageError("The fit has covariates; give its family, interaction, location, covariates and effects.")
    parameters = proper(preparation.scaled_family, fit.loss, fit.unshrunk)
    K, eta = preparation.in_given_units(parameters)
    if preparation.has_margins:
        return preparation.family, K, None, preparation.scaling
    return preparation.family, K, eta, None


def _draw_copula(K: Array, margins: Margins | None, n_rows: int, rng: np.random.Generator) -> Draws:
    family, zero = Gaussian(), np.zeros(len(K))
    family.check_parameters(K, zero)
    K, _ = of_unit_variances(family, (K, zero), np.zeros((1, len(K))))
    drawn = family.sampler().draw(K, zero, n_rows, Chains(0, 1, None), rng)
    return drawn if margins is None else Draws(margins.undo(drawn.X), drawn.effective_size)


def _with_effects(eta: Array, covariates: Array, effects: Array | None) -> tuple[Array, Array]:
    """Return location and effects, shape (m, 1 + q), and the covariates, shape (n, q); raise where these differ."""
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
