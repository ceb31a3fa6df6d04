"""
Does the model fit?
===================

Every fit checks itself, and says in ``cautions_`` if its family misses something. What you look at is the same table
fitted by a family that is right and by one that is wrong: where the values of each column lie within what the model
says of them, given the others.
"""

import matplotlib.pyplot as plt
import pandas as pd

import robscore as rs

truth = rs.simulate.shaped_model("chain", 6, random_state=0)
X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1200, random_state=1)
X = pd.DataFrame(X, columns=list("ABCDEF"))

right = rs.RobustGraph("sqrt").fit(X)
wrong = rs.RobustGraph("gaussian").fit(X)
for name, model in {"square root": right, "Gaussian": wrong}.items():
    print(f"{name}: {model.cautions_ or 'nothing to be careful about'}\n")

# %%
# The wrong family
# ----------------
# If the model were right, the lines would follow the diagonal.

rs.plot.plot_fit(wrong)
plt.show()

# %%
# The right one
# -------------

rs.plot.plot_fit(right)
plt.show()

# %%
# As a test
# ---------
# ``check_fit`` joins what it sees in all columns into one test; ``columns`` says which of them fit least.

check = wrong.check_fit()
print(check)
check.columns.head(3)

# %%
# Where it fails
# --------------
# The check sees single columns given the others, not three at once. It needs eight rows for every parameter of a
# column. With thousands of rows no real table fits any family exactly, and a small p-value need not matter: look at
# the picture for *how much* is missed. See :doc:`/does_it_fit`.
