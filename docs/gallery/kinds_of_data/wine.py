"""
Wine: a first look at a real table
==================================

Thirteen measurements of 178 Italian wines, from scikit-learn. Nothing is simulated and nobody knows the true graph.
What you look at is what one does first with a table of one's own: fit, read what to be careful about, look at the
edges and at how sure they are.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import robscore as rs

data = load_wine(as_frame=True)
X = data.data.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})

model = rs.RobustGraph().fit(X)
print(model.summary())

# %%
# The graph
# ---------

rs.plot.plot_graph(model)
plt.show()

# %%
# The cautions name the trouble: the rows are sorted, and the family does not fit. The wines are of three cultivars,
# one after the other. What separates cultivars links columns that have nothing to do with each other within one.
#
# With the cultivar given
# -----------------------
# As a covariate the cultivar may move the level of every column, and the graph is that within cultivars.

cultivar = data.target.map({0: "first", 1: "second", 2: "third"})
within = rs.RobustGraph("gaussian").fit(X, covariates={"cultivar": cultivar})
plain = rs.RobustGraph("gaussian").fit(X)

figure, axes = plt.subplots(1, 2, figsize=(13, 5.4), layout="constrained")
layout = rs.plot.shared_layout(plain.interaction_)
rs.plot.plot_graph(plain, layout=layout, title=f"ignoring cultivars: {plain.graph_.n_edges} edges", ax=axes[0])
rs.plot.plot_graph(within, layout=layout, title=f"given the cultivar: {within.graph_.n_edges} edges", ax=axes[1])
plt.show()

# %%
# How sure
# --------
# Intervals are of estimates without a penalty, so an edge of the graph may have one that contains zero.

rs.plot.plot_edges(within, n_edges=12)
plt.show()

# %%
# Where it fails
# --------------
# 178 rows are few for 78 pairs: an edge that is not there may only not be seen. And a covariate moves levels only. If
# the cultivars' graphs differ too, the graph on the right is a mixture: see
# :doc:`/examples/groups_and_time/groups_that_differ`.
