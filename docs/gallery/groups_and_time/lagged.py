"""
Series in time: the row before
==============================

Five series, simulated: each depends on its own past, and the first drives the next two with a delay of one step.
Within a step only the last two depend on each other. What you look at is the graph of the rows as they are, and the
graph given the row before.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(0)
names = ["rates", "jobs", "prices", "imports", "exports"]
true_past = 0.5 * np.eye(5)
true_past[[1, 2], 0] = 0.5  # rates drive jobs and prices, one step later
noise = rng.normal(size=(800, 5))
noise[:, 4] += 0.8 * noise[:, 3]  # within a step
series = np.zeros((800, 5))
for t in range(1, 800):
    series[t] = true_past @ series[t - 1] + noise[t]
series = pd.DataFrame(series, columns=names)

as_they_are = rs.RobustGraph("gaussian").fit(series)
now, before = rs.lagged(series)
within = rs.RobustGraph("gaussian").fit(now, covariates=before)

# %%
# Within a step
# -------------

true_pair = np.zeros((5, 5), dtype=bool)
true_pair[3, 4] = true_pair[4, 3] = True
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
layout = rs.plot.shared_layout(as_they_are.interaction_)
for ax, (name, model) in zip(
    axes, {"rows as they are": as_they_are, "given the row before": within}.items(), strict=True
):
    rs.plot.plot_graph(
        model,
        layout=layout,
        marked=("made by the past", ~true_pair, "within a step"),
        title=f"{name}: {model.graph_.n_edges} links",
        ax=ax,
    )
plt.show()

# %%
# What the past does
# ------------------
# For Gaussian rows :func:`~robscore.autoregression` gives the matrix Φ of x_t = Φ x_(t−1) + noise.

found = rs.autoregression(within)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, matrix) in zip(axes, {"true": true_past, "estimated": found}.items(), strict=True):
    shown = ax.imshow(matrix, cmap="RdBu", vmin=-1, vmax=1)
    ax.set_xticks(range(5), names, rotation=90)
    ax.set_yticks(range(5), names)
    ax.set_title(f"what the row before does, {name}", fontsize="medium")
figure.colorbar(shown, ax=axes, shrink=0.7)
plt.show()

# %%
# Where it fails
# --------------
# One row back may not be enough: ``rs.lagged(X, 2)`` gives two. A trend or a season that all series share is not the
# past of any of them; give it as a covariate too. Bad rows spoil the row after them as well, as its past. See
# :doc:`/weights_and_covariates`.
