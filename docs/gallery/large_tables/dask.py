"""
Dask: rows on several machines
==============================

With the ``[dask]`` extra ``fit`` takes Dask arrays and data frames. Each pass over the rows is made by the workers,
where the rows are. What you look at is a fit in chunks beside the fit in memory, entry by entry.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

import robscore as rs

truth = rs.simulate.random_model(12, 14, random_state=1)
X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=4000, thin=5, random_state=2)
X, bad_rows = rs.simulate.contaminate_pareto(X, 0.05, random_state=3)

in_memory = rs.RobustGraph("sqrt").fit(X)
in_chunks = rs.RobustGraph("sqrt").fit(da.from_array(X, chunks=(500, 12)))
print(in_chunks.summary())

# %%
# The same numbers
# ----------------

pairs = np.triu_indices(12)
difference = float(abs(in_memory.interaction_ - in_chunks.interaction_).max())
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axes[0].axline((0, 0), slope=1, color="0.8")
axes[0].plot(in_memory.interaction_[pairs], in_chunks.interaction_[pairs], "o", ms=4, color="#0072B2")
axes[0].set(xlabel="K from memory", ylabel="K from Dask", title=f"largest difference {difference:.0e}")
rs.plot.plot_recovery(in_chunks.interaction_, truth.interaction, ax=axes[1])
plt.show()

# %%
# On a cluster
# ------------
# Connect a client first; robscore uses whatever Dask is set to::
#
#     from distributed import Client
#     import dask.dataframe as dd
#
#     with Client("tcp://scheduler:8786"):
#         rain = dd.read_parquet("rain/").persist()
#         graph = rs.RobustGraph("sqrt").fit(rain)
#
# Where it fails
# --------------
# For rows that fit on one machine Dask is only slower. Workers need robscore in the same version, and at least 300 MB
# each. Without ``persist`` the rows are read again in every pass. See :doc:`/scale`.
