"""How many independent rows a chain is worth."""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array


def effective_sample_size(chain: Array) -> Array:
    """Effective sample size of every column of a chain, by Geyer's initial positive sequence.

    n / (1 + 2 sum of autocorrelations), summed in pairs of neighbouring lags for as long as these are positive.

    Parameters
    ----------
    chain : array of shape (n, m)
        Rows in the order they were drawn.

    Returns
    -------
    array of shape (m,)
        At most n.

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> sizes = rs.simulate.effective_sample_size(np.random.default_rng(0).normal(size=(1000, 2)))
    >>> bool((sizes > 800).all())
    True
    """
    X = np.asarray(chain, dtype=float)
    if X.ndim != 2 or len(X) < 4 or not np.isfinite(X).all():
        raise ValueError(f"chain must hold at least 4 rows of finite numbers, shape (n, m); got shape {X.shape}.")
    n = len(X)
    centred = X - X.mean(axis=0)
    spectrum = np.fft.rfft(centred, n=2 * n, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=0)[:n]
    sizes = np.empty(X.shape[1])
    for j, values in enumerate(covariance.T):
        if not values[0] > 0:
            sizes[j] = n  # a constant column carries no noise
            continue
        pairs = (values[: n - n % 2] / values[0]).reshape(-1, 2).sum(axis=1)
        stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else pairs.size
        pairs = np.minimum.accumulate(pairs[:stop])
        sizes[j] = n / max(2 * pairs.sum() - 1, 1.0)
    return sizes
