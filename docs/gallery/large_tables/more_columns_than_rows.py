"""
More columns than rows
======================

100 rows of 200 columns, simulated in modules of ten columns that depend on each other. With fewer rows than columns
the loss alone has no minimum; a small ``diagonal_multiplier`` gives it one. What you look at is the learnt graph over
the true one.
"""

import matplotlib.pyplot as plt
import numpy as np

import robscore as rs

module = rs.simulate.shaped_model("chain", 10, min_eigenvalue=0.2, random_state=0).interaction
truth = np.kron(np.eye(20), module)
X = rs.simulate.sample("gaussian", truth, n_rows=100, random_state=1)
X, bad_rows = rs.simulate.contaminate_wide(X, 0.05, variance=100.0, random_state=2)

model = rs.RobustGraph("gaussian", diagonal_multiplier=0.1).fit(X)
print(model.summary())

# %%
# What was found
# --------------
# Each true edge that was found, false ones, and those that were missed.

rs.plot.plot_recovery(model.interaction_, truth)
plt.show()

# %%
found, true = (np.triu(K != 0, 1) for K in (model.interaction_, truth))
right, false, missed = (found & true).sum(), (found & ~true).sum(), (~found & true).sum()
print(f"{true.sum()} true edges: {right} found, {missed} missed, and {false} false ones")

# %%
# Where it fails
# --------------
# An edge that is not there may only not be seen: a caution says that rows are fewer than columns. Intervals of all
# pairs need three rows for every parameter of a column, so here only ``edge_intervals(estimate="split")`` is
# possible. In families of positive data much more is missed from as few rows than in this Gaussian table. See
# :doc:`/scale`.
