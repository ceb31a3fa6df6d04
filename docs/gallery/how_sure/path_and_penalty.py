"""
The path, and why this penalty
==============================

A large penalty gives an empty graph, a small one a full one. All graphs between are kept in ``path_``, and one of
them is chosen. What you look at is how edges come in as the penalty falls, and what the rules that choose have to
say.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

truth = rs.simulate.random_model(10, 10, min_eigenvalue=0.3, random_state=3)
X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=800, thin=5, random_state=2)
X = pd.DataFrame(rs.simulate.contaminate_pareto(X, 0.05, random_state=3).X, columns=list("ABCDEFGHIJ"))

model = rs.RobustGraph("sqrt", select=("f1", "ebic", "cv")).fit(X)
rs.plot.plot_path(model)
plt.show()

# %%
# What the rules look at
# ----------------------
# Of several rules the first decides, and all are kept. Each is shown from its least value to its largest.

rs.plot.plot_criterion(model)
plt.show()

# %%
# What each would have chosen
# ---------------------------
# Here the truth is known, so that every graph of the path can be judged by it.

scores = [rs.metrics.f1_score(model.graph_at(k).interaction, truth.interaction) for k in range(len(model.path_.alphas))]
n_edges = [model.graph_at(k).n_edges for k in range(len(scores))]
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.plot(n_edges, scores, ".-", color="0.6")
chosen = {name: int(position) for name, position in model.choices_.items()}
for (name, position), mark in zip(chosen.items(), "os^", strict=True):
    ax.plot(
        n_edges[position],
        scores[position],
        mark,
        ms=9,
        label=f"{name}: {n_edges[position]} edges, F1 {scores[position]:.2f}",
    )
ax.set(xlabel="edges", ylabel="F1 of the edges")
ax.set_title(f"The best graph on the path has an F1 of {max(scores):.2f}", loc="left")
ax.legend(frameon=False)
plt.show()

# %%
# Another graph of the path, without another fit: the sparsest one with at least eight edges.

print(model.graph_at(int(np.flatnonzero(np.array(n_edges) >= 8)[0])))

# %%
# Where it fails
# --------------
# Dependent rows and a family that is not quite true make graphs too dense by any rule. If the chosen penalty is the
# smallest of the path, the best may lie beyond it; a caution says so. If you know how many edges you want to look at,
# say so: ``n_edges=45``. See :doc:`/how_to_choose`.
