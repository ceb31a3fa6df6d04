"""
Counts of species
=================

Samples of soil, simulated: 100 species, of which 75 pairs depend on each other, counted in 400 samples. Some samples
were read ten times as deeply as others, and what is rare is found in those. What you look at is how many links a
graph has that stand for nothing but the depth, and how they go away.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

m, n = 100, 400
K = np.eye(m)
for j in range(0, m - 1, 2):
    K[j, j + 1] = K[j + 1, j] = -0.5 if (j // 2) % 3 else 0.5
for j in range(1, m - 2, 4):
    K[j, j + 1] = K[j + 1, j] = -0.4
true = (K != 0) & ~np.eye(m, dtype=bool)
covariance = np.linalg.inv(K)

rng = np.random.default_rng(0)
latent = rng.multivariate_normal(np.zeros(m), covariance, size=n) / np.sqrt(covariance.diagonal())
abundance = np.exp(rng.normal(0, 1.5, size=m) + 1.2 * latent)
depth = rng.lognormal(np.log(3000), 1.0, size=n).astype(int)
counts = pd.DataFrame(
    [rng.multinomial(d, a / a.sum()) for d, a in zip(depth, abundance, strict=True)],
    columns=[f"species {k + 1}" for k in range(m)],
)
zeros = (counts == 0).mean(axis=1)
print(f"{zeros.mean():.0%} of the counts are zero; {zeros[depth > 6000].mean():.0%} where more than 6000 were read,")
print(f"{zeros[depth < 1500].mean():.0%} where fewer than 1500 were")

# %%
# Log ratios, zeros lowest
# ------------------------
# Counts of one sample add up to its depth, which is chance. ``rs.mclr`` divides what is there by its geometric mean,
# and leaves zeros below everything. For the copula such a zero is an interval: less than what could be counted.

X = rs.mclr(counts)
models = {
    "log ratios": rs.RobustGraph("copula").fit(X),
    "log ratios, given the depth": rs.RobustGraph("copula").fit(X, covariates={"log depth": np.log(depth)}),
}

# %%
# The depth is a confounder
# -------------------------
# In a deep sample the rare species are all found, in a shallow one none is: as if they helped each other. Given the
# depth, they do not.

counted = {}
figure, axes = plt.subplots(1, 2, figsize=(11, 5.4), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    linked = model.graph_.adjacency
    right, false = int((linked & true).sum() / 2), int((linked & ~true).sum() / 2)
    counted[name] = right, false
    for pairs, color, words in ((linked & ~true, "#D55E00", "false"), (linked & true, "#0072B2", "true")):
        axis.plot(*np.nonzero(pairs), "s", markersize=2.5, color=color, label=words)
    axis.set(
        xlabel="species", ylabel="species", aspect="equal", title=f"{name}:\n{right} of 75 true links, {false} false"
    )
    axis.legend(loc="upper left")
plt.show()

# %%
# Where it fails
# --------------
# With few species ratios alone make negative links: what one gains all others lose
# (:doc:`compositions` shows that with eight). A species that is absent since it cannot live there, and one that was
# only not found, are the same zero. Links are those of abundances, not of who eats whom. See
# :doc:`/problems/counts_of_species`.
