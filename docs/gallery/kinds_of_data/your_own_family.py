"""
Your own family
===============

Six series of which pairs are *large together*, whatever their signs: correlations are all about zero, and the
Gaussian family finds nothing. A family for that takes thirty lines. What you look at is the graph of both.
"""

import matplotlib.pyplot as plt
import numpy as np

import robscore as rs
from robscore.domains import Real
from robscore.elements import NodeElements
from robscore.families import Family, register

# %%
# The density is exp(−½ Σ K_ij s_i s_j + Σ η_j s_j) with s = √(1 + x²), which does not see signs. All that a family
# must give are its score-matching elements, and its log density, by which rows are judged. :doc:`/add_a_family` goes
# through it line by line.


@register("sizes")
class Sizes(Family):
    """Interactions of s = sqrt(1 + x^2) on the real line."""

    domain = Real()

    def elements(self, X):
        """Gamma and g of every row."""
        s = np.sqrt(1 + X**2)
        d, dd = X / s, 1 / s**3  # first and second derivative of s
        u = np.concatenate([-np.repeat(s[:, None, :], X.shape[1], axis=1), np.ones((*X.shape, 1))], axis=2)
        v = d[:, :, None] * u
        g = -dd[:, :, None] * u
        j = np.arange(X.shape[1])
        g[:, j, j] += d**2
        return NodeElements(X, v, np.ones_like(X), g)

    def log_density(self, X, *parameters):
        """Up to a constant, of every row."""
        K, eta = parameters
        s = np.sqrt(1 + X**2)
        return -0.5 * np.einsum("ij,ij->i", s @ K, s) + s @ eta


# %%
# Simulating, fitting, judging rows and choosing a penalty work from here on. Five rows in a hundred are replaced by
# noise.

K = np.eye(6)
pairs = [(0, 1), (2, 3), (4, 5)]
for i, j in pairs:
    K[i, j] = K[j, i] = -0.6
X = rs.simulate.sample("sizes", K, np.full(6, 2.0), n_rows=1500, burn_in=50, thin=5, random_state=0)
X *= np.random.default_rng(1).choice([-1, 1], size=X.shape)  # signs mean nothing, and the sampler seldom changes them
X, bad_rows = rs.simulate.contaminate_wide(X, 0.05, variance=400.0, random_state=0)

models = {"gaussian": rs.RobustGraph("gaussian").fit(X), "sizes": rs.RobustGraph("sizes").fit(X)}

# %%
# Two graphs of one table
# -----------------------
# In truth three pairs interact.

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
axes[0].plot(*X[:, :2].T, ".", ms=3, color="0.4")
axes[0].set(xlim=(-9, 9), ylim=(-9, 9), xlabel="x0", ylabel="x1", title="large together, whatever the sign")
layout = rs.plot.shared_layout(models["sizes"].interaction_)
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    rs.plot.plot_graph(model, layout=layout, title=f'family="{name}": {model.graph_.n_edges} edges', ax=ax)
plt.show()

# %%
sizes = models["sizes"]
print(f"rows left out: {sizes.share_dropped_:.1%}, of which {len(bad_rows) / len(X):.1%} are bad")
sizes.edges().round(2)

# %%
# Where it fails
# --------------
# A wrong derivative gives a wrong graph without an error. Check yours against differences of the log density, as
# ``tests/registry.py`` of a source checkout does for one more line in it. Without formulas of your own, ``Pairwise``
# and ``ExponentialFamily`` take derivatives from JAX, more slowly.
