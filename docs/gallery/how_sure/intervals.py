"""
Intervals of edges
==================

A learnt graph is a picture of one table. Intervals say how far its associations may be off, for all pairs and not
only for the edges that were chosen. What you look at is a simulated table with five bad rows in a hundred, and
intervals beside the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

names = list("ABCDEFGH")
truth = rs.simulate.random_model(8, 8, min_eigenvalue=0.5, random_state=1)
X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=800, random_state=2)
X = pd.DataFrame(rs.simulate.contaminate_pareto(X, 0.05, random_state=3).X, columns=names)

model = rs.RobustGraph("sqrt").fit(X)
table = model.edge_intervals()
table.head(4).round(3)

# %%
# All pairs, beside the truth
# ---------------------------
# The estimate is the one without a penalty over all pairs, so no edge has been selected on the way. Crosses are the
# true associations.

K = truth.interaction
true_association = -K / np.sqrt(np.outer(np.diag(K), np.diag(K)))
at = {name: j for j, name in enumerate(names)}
table = table.sort_values("association", ignore_index=True)
true = np.array([true_association[at[a], at[b]] for a, b in zip(table["source"], table["target"], strict=True)])
covered = table["association_low"].le(true) & table["association_high"].ge(true)

figure, ax = plt.subplots(figsize=(8, 6.4), layout="constrained")
places = np.arange(len(table))
colours = np.where(table["significant"], "#0072B2", "0.6")
ax.hlines(places, table["association_low"], table["association_high"], colors=colours)
ax.scatter(table["association"], places, c=colours, s=18, zorder=3)
ax.plot(true, places, "x", color="#D55E00", label="true association")
ax.axvline(0, color="0.8", lw=0.8)
ax.set_yticks(places, table["source"] + " – " + table["target"], fontsize="x-small")
ax.set_xlabel("association, with 95 % intervals; blue: significant at a false discovery rate of 10 %")
ax.set_title(f"{covered.sum()} of {len(table)} intervals contain the truth", loc="left")
ax.legend(frameon=False)
plt.show()

# %%
# The chosen edges only, as a figure of one line:

rs.plot.plot_edges(model)
plt.show()

# %%
# Where it fails
# --------------
# Bad rows that cannot be told from good ones bias the estimate, and no interval knows. A family that does not fit
# gives intervals for the parameters that describe the data best, which may be of no interest. It takes about three
# rows for every parameter of a column. See :doc:`/how_sure`.
