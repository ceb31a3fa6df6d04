"""
A confounder: the season
========================

Six quantities are measured every week; four of them follow the season, and only two pairs depend on each other. What
you look at is the graph that ignores the season, and the graph given it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(0)
week = np.arange(520)
season = np.cos(2 * np.pi * week / 52)
X = rng.normal(size=(520, 6))
X[:, 1] += 0.8 * X[:, 0]
X[:, 5] += 0.8 * X[:, 4]
X[:, [0, 2, 3, 5]] += 1.5 * season[:, None]
X = pd.DataFrame(X, columns=["ozone", "nitrogen", "pollen", "sunshine", "traffic", "noise"])

given = {"cos": season, "sin": np.sin(2 * np.pi * week / 52)}
ignored = rs.RobustGraph("gaussian").fit(X)
known = rs.RobustGraph("gaussian").fit(X, covariates=given)

# %%
# Without and with the season
# ---------------------------
# Two links are true. The others on the left are what the season makes: columns that rise in the same weeks.

true_pairs = np.zeros((6, 6), dtype=bool)
true_pairs[[0, 4], [1, 5]] = true_pairs[[1, 5], [0, 4]] = True
figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
layout = rs.plot.shared_layout(ignored.interaction_)
for ax, (name, model) in zip(axes, {"season ignored": ignored, "season given": known}.items(), strict=True):
    rs.plot.plot_graph(
        model,
        layout=layout,
        marked=("made by the season", ~true_pairs, "true"),
        title=f"{name}: {model.graph_.n_edges} links",
        ax=ax,
    )
plt.show()

# %%
# What the season does
# --------------------
# Effects are on the location of a column once the others are known, with intervals that nothing was selected for.

known.effects().head(5).round(3)

# %%
# Where it fails
# --------------
# Only what was measured can be given: a confounder that nobody wrote down stays in the graph. The effect is taken as
# linear; here the season needs both a cosine and a sine. And if the season changes the *graph*, not only levels, it
# must be given as a moderator.
