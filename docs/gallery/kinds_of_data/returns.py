"""
Returns with heavy tails
========================

Daily returns of ten shares in three sectors, simulated: quiet days, and now and then a day on which everything moves
five times as much, in no order. Such days are no errors, but they drown what sectors have in common. What you look at
is the graph with them and without.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(0)
sectors = np.repeat(["bank", "energy", "tech"], [3, 3, 4])
names = [f"{sector} {k}" for sector, k in zip(sectors, [1, 2, 3, 1, 2, 3, 1, 2, 3, 4], strict=True)]
same = sectors[:, None] == sectors
common = np.column_stack([rng.normal(size=1000) for _ in range(3)])[:, np.unique(sectors, return_inverse=True)[1]]
returns = 0.7 * common + rng.normal(size=(1000, 10))
wild = rng.random(1000) < 0.04
returns[wild] = 5 * rng.standard_t(3, size=(wild.sum(), 10))
X = pd.DataFrame(returns, columns=names)

models = {
    "all days count the same": rs.RobustGraph("gaussian", n_blocks=1).fit(X),
    "robust, the default": rs.RobustGraph("gaussian").fit(X),
}

# %%
# The same layout twice
# ---------------------
# Edges within a sector are true, edges between sectors are not.

layout = rs.plot.shared_layout(models["robust, the default"].interaction_)
between = {}
figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    found = np.triu(model.graph_.adjacency)
    between[name] = int((found & ~same).sum()), int((found & same).sum())
    rs.plot.plot_graph(
        model,
        layout=layout,
        marked=("between sectors", ~same, "within a sector"),
        title=f"{name}\n{between[name][1]} of 12 pairs within sectors, {between[name][0]} between",
        ax=ax,
    )
plt.show()

# %%
# Which days
# ----------
# Days left out are listed, not deleted: on a real table they are the days to read about.

rows = models["robust, the default"].suspicious_rows()
flagged = rows["row"][rows["flagged"]]
print(f"{wild.sum()} wild days; {len(flagged)} flagged, {wild[flagged].sum()} of them wild")
rs.plot.plot_rows(models["robust, the default"])
plt.show()

# %%
# Where it fails
# --------------
# If the question is what happens on wild days, a fit that leaves them out does not answer it. Where tails are heavy
# on *every* day, as in a t-distribution with few degrees of freedom, no family here is right: rows lose weight
# smoothly, and :meth:`~robscore.RobustGraph.check_fit` says so. Real returns come in calm and restless months;
# intervals allow for such dependence in time only as far as neighbouring rows show it.
