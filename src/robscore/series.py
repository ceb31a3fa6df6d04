"""Time series: rows with those before them, and the effects of these.

With the columns of the month before as covariates c, the graph is that within a month: K. For the Gaussian

    x_t = mu + Phi x_(t-1) + e_t,   e_t ~ N(0, K^-1)      has      eta = K mu,   effects B = K Phi

so effects are not the autoregression Phi itself; :func:`autoregression` gives that. The copula has x_t and x_(t-1) as
latent numbers, both through the margins of their columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from robscore._tools.messages import UsageError
from robscore._tools.numbers import check_whole
from robscore._tools.typing import AnyData, Array
from robscore.rows.covariate_columns import lagged_name
from robscore.rows.input_data import read_matrix

if TYPE_CHECKING:
    from robscore.estimators.estimator import ScoreMatchingEstimator


class Lagged(NamedTuple):
    """Rows of a series with the rows before them.

    Attributes
    ----------
    X : array or data frame of shape (n - lags, m)
        The rows, from the first that has enough before it.
    covariates : dict of arrays of shape (n - lags,)
        The columns as they were one row before, ``name[-1]``, and so on.
    """

    X: AnyData
    covariates: dict[str, Array]


def lagged(X: AnyData, lags: int = 1) -> Lagged:
    """A series as rows and the rows before them, for a graph within a time step given the earlier ones.

    Parameters
    ----------
    X : array-like or data frame of shape (n, m)
        Rows in order, evenly spaced in time. Missing values stay missing: a gap in time needs rows of NaN.
    lags : int, default 1
        How many rows before.

    Returns
    -------
    Lagged
        ``X`` and ``covariates``, as ``fit`` takes them; add others to the dictionary, such as the season.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> rng = np.random.default_rng(0)
    >>> X = np.zeros((500, 3))
    >>> for t in range(1, 500):
    ...     X[t] = 0.6 * X[t - 1] + rng.normal(size=3)
    >>> now, before = rs.lagged(X)
    >>> model = rs.RobustScoreMatching("gaussian").fit(now, covariates=before)
    >>> bool(np.allclose(rs.autoregression(model), 0.6 * np.eye(3), atol=0.15))
    True
    """
    check_whole("lags", lags, at_least=1)
    matrix, names = read_matrix(X, "X", missing="drop")
    n = len(matrix)
    if n < lags + 2:
        raise UsageError(f"X has {n} rows, too few for lags={lags}: at least {lags + 2} are needed.")
    covariates = {
        lagged_name(name, lag): matrix[lags - lag : n - lag, j]
        for lag in range(1, lags + 1)
        for j, name in enumerate(names)
    }
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    now = frame[lags:].to_native() if isinstance(frame, nw.DataFrame) else matrix[lags:]
    return Lagged(now, covariates)


def autoregression(model: ScoreMatchingEstimator) -> Array:
    """The effect of covariates on the mean of a Gaussian, K^-1 B; for a lagged fit, the autoregression Phi.

    Parameters
    ----------
    model : fitted RobustGraph or RobustScoreMatching of the Gaussian family or the copula, with covariates
        For RobustGraph, of the shrunk K and effects.

    Returns
    -------
    array of shape (m, q)
        In the order of ``effects_``.
    """
    check_is_fitted(model)
    family = model.fitted_.settings.family
    if not (family.domain.is_real_line and getattr(family, "a", 0) == getattr(family, "b", 0) == 1):
        raise UsageError(f"{family!r} has no mean that is linear in covariates; its effects_ say what these do.")
    if model.effects_ is None:
        raise UsageError("The fit had no covariates; fit with those of rs.lagged(X).")
    if model.moderations_:
        raise UsageError("The moderators of the fit change K, and with it what covariates do to the mean.")
    return np.asarray(np.linalg.solve(model.interaction_, model.effects_))
