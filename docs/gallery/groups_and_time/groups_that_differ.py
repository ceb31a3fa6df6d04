"""
Groups whose graphs differ
==========================

Three groups of 250 rows share most of their graph, but one edge is there in the second group only. What you look at
is one fit for all of them, with the graph of each group, and a test of which pairs differ.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(0)
group = np.repeat(["control", "drug A", "drug B"], 250)
X = rng.normal(size=(750, 6))
for j in range(1, 5):
    X[:, j] += 0.6 * X[:, j - 1]
X[group == "drug A", 5] += 0.7 * X[group == "drug A", 0]
X = pd.DataFrame(X, columns=["p53", "MYC", "RAS", "AKT", "RB", "EGFR"])

model = rs.RobustGraph("gaussian").fit(X, moderators={"group": group})

# %%
# One graph for each group
# ------------------------
# What groups have in common is learnt from all of their rows. Marked: links of that group that are not in the common
# graph.

figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
angles = np.linspace(0, 2 * np.pi, 6, endpoint=False)
layout = np.column_stack([np.cos(angles), np.sin(angles)])
for ax, name in zip(axes, ["control", "drug A", "drug B"], strict=True):
    graph = model.graph_for(name)
    marked = ("its own", ~model.graph_.adjacency, "common")
    rs.plot.plot_graph(graph, layout=layout, marked=marked, title=f"{name}: {graph.n_edges} links", ax=ax)
plt.show()

# %%
# Which pairs differ
# ------------------

differences = model.differences()
differences.head(4).round(3)

# %%
# Do they differ at all?
# ----------------------
# One exact test: rows change places between the groups.

parts = [X[group == name] for name in ("control", "drug A", "drug B")]
test = rs.equality_test(rs.RobustGraph("gaussian"), *parts, n_permutations=199)
print(test)

# %%
# Where it fails
# --------------
# Groups that have little in common gain nothing from one fit, and lose a little. An edge that all groups but one have
# leaves a small rest in that group's graph: look at ``differences``, not at the picture. A group needs ten rows to be
# one, and far more than columns for tests. See :doc:`/groups`.
