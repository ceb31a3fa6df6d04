"""
Compositions
============

Rows that sum to one: shares of a day, of a budget, of species in a sample. A share can only rise where others fall,
so correlations lean below zero whatever the truth. What you look at is a simulated composition of eight parts, as
correlations and as a graph.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

shares = {
    "sleep": 0.33,
    "work": 0.25,
    "screen": 0.12,
    "sport": 0.05,
    "meals": 0.08,
    "travel": 0.06,
    "reading": 0.04,
    "rest": 0.07,
}
truth = 6 * np.eye(8)
for i, j, value in [(0, 1, 3.6), (2, 3, 3.6), (4, 5, -3.6)]:
    truth[i, j] = truth[j, i] = value
location = truth @ np.log(list(shares.values()))
X = rs.simulate.sample("simplex", truth, location, n_rows=1500, thin=5, burn_in=100, random_state=0)
X = pd.DataFrame(X, columns=list(shares))
X.head(3).round(3)

# %%
# ``"auto"`` knows compositions by the sums of their rows.

model = rs.RobustGraph().fit(X)
print("family:", model.family_)
model.edges().round(2)

# %%
# Two pictures of one table
# -------------------------
# In truth three pairs interact: sleep and work against each other, screen and sport too, meals and travel together.
# The correlations are below zero nearly everywhere, which says no more than that a day has 24 hours. The graph has
# the three pairs.

off = ~np.eye(8, dtype=bool)
below = (X.corr().to_numpy()[off] < 0).mean()
figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
shown = axes[0].imshow(X.corr(), cmap="RdBu", vmin=-1, vmax=1)
axes[0].set_xticks(range(8), X.columns, rotation=90)
axes[0].set_yticks(range(8), X.columns)
axes[0].set_title(f"correlations: {below:.0%} are below zero")
figure.colorbar(shown, ax=axes[0], shrink=0.8)
rs.plot.plot_graph(model, title="the graph of the simplex family", ax=axes[1])
plt.show()

# %%
# Where it fails
# --------------
# Compositions say little about single edges: with a few hundred rows the choice is often the empty graph, and half of
# the edges are missed with a thousand (:doc:`/results/penalty_choice`). Parts must be above zero; where many are
# zero, see :doc:`species`. Which part is called the rest matters to nobody: all are treated alike.
