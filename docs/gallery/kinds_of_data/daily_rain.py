"""
Daily rain
==========

Eight gauges along a valley, simulated day by day: at each of them three days in five are dry. Rain at a gauge depends
on its neighbours only, so there are seven true links. What you look at is the graph of three models, of which one
knows what a zero is.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(0)
weather = np.empty((1000, 8))  # of every day and gauge; wet from some point on
weather[:, 0] = rng.normal(size=1000)
for j in range(1, 8):
    weather[:, j] = 0.75 * weather[:, j - 1] + np.sqrt(1 - 0.75**2) * rng.normal(size=1000)
wet = np.maximum(weather - np.quantile(weather, 0.6, axis=0), 0)
X = pd.DataFrame(np.round(12 * wet**1.8, 1), columns=[f"gauge {j + 1}" for j in range(8)])
print(f"{(X == 0).to_numpy().mean():.0%} of all values are zero, the largest is {X.to_numpy().max()} mm")

# %%
# Three models of the same days
# -----------------------------
# The Gaussian takes dry days for measurements of 0 mm, the square-root family for days just above it. For the copula
# a zero says that the weather at this gauge was drier than on any wet day, and no more.

models = {family: rs.RobustGraph(family).fit(X) for family in ("gaussian", "sqrt", "copula")}
neighbours = np.abs(np.subtract.outer(range(8), range(8))) == 1
counted = {}
figure, axes = plt.subplots(1, 3, figsize=(14, 4.6), layout="constrained")
angles = 2.1 - 0.6 * np.arange(8)
layout = np.column_stack([np.cos(angles), np.sin(angles)])
for axis, (family, model) in zip(axes, models.items(), strict=True):
    linked = np.triu(model.graph_.adjacency)
    right, false = int((linked & neighbours).sum()), int((linked & ~neighbours).sum())
    negative = int((model.graph_.association[linked] < 0).sum())
    counted[family] = right, false, negative
    rs.plot.plot_graph(
        model,
        layout=layout,
        marked=("not neighbours", ~neighbours, "neighbours"),
        title=f"{family}: {right} of 7 true links,\n{false} false, {negative} negative",
        ax=axis,
    )
plt.show()

# %%
# Only one of them has nothing to be careful about.

for family, model in models.items():
    print(f"{family}: {model.cautions_[0] if model.cautions_ else 'no cautions'}\n")

# %%
# How strong
# ----------
# Estimates without a penalty, with intervals. Associations are those of the weather that stands behind the rain.
# ``effective`` says how many days of a weather that is seen would say as much about a pair.

rs.plot.plot_edges(models["copula"], n_edges=10)
plt.show()
table = models["copula"].edge_intervals()
table[["source", "target", "association", "association_low", "association_high", "effective"]].head(7).round(2)

# %%
# Where it fails
# --------------
# A gauge that is dry where others are wet for reasons of its own, such as a roof above it, is not what a zero means
# here: whether it rains at all and how much must come from one number. Days follow each other, and so do their
# errors; intervals allow for that, but what yesterday explains stays in the graph unless it is given:
# :doc:`/examples/groups_and_time/lagged`. Monthly totals are hardly ever zero, and
# a family for positive values tells more of them: :doc:`/examples/bad_rows/rain`.
