"""The scale of latent numbers: each has mean 0 and variance 1 over the rows that count, covariates included.

Bounds of cells are on this scale, and a fit need not be: :func:`of_unit_variances` brings parameters onto it before
cells are drawn by them, and :func:`unit_variances` the loss of what was drawn.
"""

from __future__ import annotations

import numpy as np

from robscore._tools.typing import Array
from robscore.families.family import Family, Parameters, Scaling
from robscore.losses.quadratic import Loss, QuadraticLoss

_LEAST_OWN = 1e-6  # share of an identity matrix in correlations, so that rounding leaves them an inverse


def of_unit_variances(family: Family, parameters: Parameters, X: Array, weights: Array | None = None) -> Parameters:
    """K <- D^1/2 K D^1/2, and eta to suit it: the scale that bounds of latent numbers are on.

    D has the variances of z over the rows X with their weights, covariates and groups included, and there the mean is
    0: with B = K^-1 eta_c the effects on the mean of covariates c, D = diag(K^-1 + B Cov(c) B').

    Parameters
    ----------
    family : of latent numbers, with its covariates
    parameters : K and eta
    X : array of shape (n, m + q)
        Rows of the fit with their covariates.
    weights : array of shape (n,), optional

    Examples
    --------
    >>> import numpy as np, robscore as rs
    >>> from robscore.fitting.latent_scale import of_unit_variances
    >>> parameters = np.diag([4.0, 1.0]), np.ones(2)
    >>> K, eta = of_unit_variances(rs.families.Gaussian(), parameters, np.zeros((5, 2)))
    >>> K.tolist(), eta.tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0])
    """
    m = family.own_columns(X.shape[1])
    means, variances = np.empty((len(X), m)), np.empty((len(X), m))
    for rows, (K, eta) in family.laws(X, *parameters):
        covariance = np.linalg.inv(K)
        means[rows], variances[rows] = eta @ covariance, covariance.diagonal()
    centre = np.average(means, axis=0, weights=weights)
    size = np.sqrt(np.average(variances + (means - centre) ** 2, axis=0, weights=weights))
    q = X.shape[1] - m
    unit = Scaling(np.append(-centre / size, np.zeros(q)), np.append(1 / size, np.ones(q)))
    return family.unscale(parameters, unit)


def unit_variances(loss: Loss, independent: float = 0.0) -> QuadraticLoss:
    """The loss of columns divided by their deviations under its weights: latent numbers have variance 1.

    Covariates stay as they are, and what they add to the columns is part of the variance. A share l of the rows is
    taken for ``independent``: covariances of columns, with each other and with covariates, are 1 - l times as large;
    not where groups differ.
    """
    assert isinstance(loss, QuadraticLoss)
    m, M = loss.n_columns, loss.n_interactions
    own = np.array([loss.block(j, at, at) for j in range(m) for at in [np.array([j, M])]])
    size = np.sqrt((own[:, 0, 0] - own[:, 0, 1] ** 2 / own[:, 1, 1]) / own[:, 1, 1])
    scaled = loss.over_sizes(np.append(np.tile(size, loss.parts.count), np.ones(loss.n_locations)))
    if not independent or loss.parts.count > 1:
        return scaled
    (block,) = scaled.blocks
    means = np.multiply.outer(block[m], block[m]) / block[m, m]
    kept = np.full(block.shape, 1 - independent)
    kept[m:, m:] = 1.0
    np.fill_diagonal(kept, 1.0)
    return QuadraticLoss((means + kept * (block - means))[None], scaled.g)


def latent_correlations(loss: Loss) -> Array:
    """R, shape (m, m): how latent numbers of the completions are correlated under the weights of their loss.

    It does not depend on the graph, and has an inverse even with fewer rows than columns.
    """
    assert isinstance(loss, QuadraticLoss)
    (block,) = loss.blocks
    m = loss.n_columns
    R = block[:m, :m] - np.multiply.outer(block[:m, m], block[:m, m]) / block[m, m]
    size = np.sqrt(R.diagonal())
    return np.asarray((1 - _LEAST_OWN) * R / np.multiply.outer(size, size) + _LEAST_OWN * np.eye(m))
