"""
Breast cancer: rows left out may be a group
===========================================

Ten measurements of cell nuclei in 569 tumours, from scikit-learn. Their tails are heavier than those of any family,
all the way from the bulk on, so by default no row is left out. A rule that goes by the tail of the Gaussian alone
leaves out a third of them. Are these errors? The fit says that they look like a group of their own. What you look at
is the weight of every row under that rule, beside a diagnosis that the fit has never seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import robscore as rs

data = load_breast_cancer(as_frame=True)
X = data.data.filter(like="mean ").rename(columns=lambda name: name.removeprefix("mean "))
malignant = (data.target == 0).to_numpy()

print(f"left out by default: {rs.RobustGraph('gaussian').fit(X).share_dropped_:.0%}")
model = rs.RobustGraph("gaussian", reweight=rs.RowRule(heaviest=1.0)).fit(X)
for caution in model.cautions_:
    print("-", caution, "\n")

# %%
# The weights of the rows
# -----------------------
# A weight is between 0 and 1. Three in eight of all tumours are malignant; among the rows that lose most of their
# weight, seven in ten are.

weights = model.row_weights_[:, 0] / model.row_weights_.max()
left_out = weights < 0.5
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
kinds = {"benign": "#0072B2", "malignant": "#D55E00"}
parts = [weights[~malignant], weights[malignant]]
ax.hist(parts, np.linspace(0, 1, 11), stacked=True, label=list(kinds), color=list(kinds.values()))
ax.set_title(
    f"{malignant[left_out].sum()} of {left_out.sum()} rows that lose most of their weight are malignant", loc="left"
)
ax.set(xlabel="weight of the row", ylabel="rows")
ax.legend(frameon=False)
plt.show()

# %%
# Both groups at once
# -------------------
# So most of these rows are no errors, and the graph above is mainly that of benign tumours. With the diagnosis given
# as a moderator, both kinds are fitted together. Their graphs have the same links; what sets the groups apart is
# above all their level.

columns = ["radius", "texture", "smoothness", "compactness", "symmetry", "fractal dimension"]
diagnosis = np.where(malignant, "malignant", "benign")
both = rs.RobustGraph("gaussian").fit(X[columns], moderators={"diagnosis": diagnosis})

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
layout = rs.plot.shared_layout(both.interaction_)
for ax, kind in zip(axes, kinds, strict=True):
    graph = both.graph_for(kind)
    rs.plot.plot_graph(graph, layout=layout, title=f"{kind}: {graph.n_edges} links", ax=ax)
plt.show()

# %%
# Some of the links differ in strength, however. ``difference`` is in K, so it depends on the units of the two
# columns.

both.differences().head(5)

# %%
# Where it fails
# --------------
# Radius, perimeter and area say the same thing three times, so the data hardly show between which of them an edge
# lies: a caution names them, and the second fit takes only one of them. The last caution of the first fit stays true
# as well: no family here describes these columns exactly. Without a diagnosis in the file nobody can say what a group
# *is*: only that there is one.
