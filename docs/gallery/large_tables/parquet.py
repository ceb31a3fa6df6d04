"""
Streaming from Parquet
======================

Rows that do not fit in memory stay on disk: ``fit`` takes the path of a folder of Parquet files and goes through it
piece by piece. What you look at is a table fitted from memory, and from disk with room for 20 MB only; and what each
file of it counts.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

truth = rs.simulate.random_model(10, 12, random_state=1)
X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=20_000, thin=5, random_state=2)
X = pd.DataFrame(X, columns=[f"v{j}" for j in range(10)])
X.iloc[12_000:12_500] = np.random.default_rng(0).pareto(1, size=(500, 10))  # one file has a bad stretch

folder = Path(tempfile.mkdtemp())
for k in range(20):
    X[1000 * k : 1000 * (k + 1)].to_parquet(folder / f"part-{k:02}.parquet")

# %%
# Two ways to the same graph
# --------------------------
# Where all rows do not fit, a sample chooses the graph, and all rows its numbers, without a penalty: so K is not
# shrunk, and nearer to the truth.

in_memory = rs.RobustGraph("sqrt").fit(X)
from_disk = rs.RobustGraph("sqrt", max_memory="20 MB").fit(folder)
same = bool((in_memory.graph_.adjacency == from_disk.graph_.adjacency).all())
errors = {
    name: abs(model.interaction_ - truth.interaction).mean()
    for name, model in {"memory": in_memory, "disk": from_disk}.items()
}
print("the same edges:", same)
print("mean error of K:", {name: round(float(error), 3) for name, error in errors.items()})
print(from_disk.summary())

# %%
# Row weights, file by file
# -------------------------

weights = from_disk.row_weights_[:, 0] / from_disk.row_weights_.max()
kept = weights.reshape(20, 1000).mean(axis=1)
figure, ax = plt.subplots(figsize=(9, 3.4), layout="constrained")
ax.bar(range(20), kept, color=["#D55E00" if k == 12 else "#0072B2" for k in range(20)])
ax.set(xlabel="file", ylabel="mean weight of its rows", xticks=range(20), ylim=(0, 1.05))
ax.set_title(f"File 12 has 500 bad rows: {1 - kept[12]:.0%} of its weight is gone", loc="left")
plt.show()

# %%
# Where it fails
# --------------
# Every step is a pass over the files, so a slow disk makes a slow fit; above 50,000 rows a sample chooses the graph
# and only two passes remain. What draws rows at random, such as ``edge_stability``, needs them in memory, and says
# so. Rows sorted by group should be put in random order once, where they are stored. See :doc:`/scale`.
