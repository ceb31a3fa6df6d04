"""
How many rows do I need?
========================

Before data are collected: simulate a graph of the kind you expect, learn it from so many rows, and see how much of it
is found. What you look at is the F1 of the edges, the share found and the share that are false, over the number of
rows, with and without bad ones.
"""

import matplotlib.pyplot as plt
import pandas as pd

import robscore as rs

truth = rs.simulate.random_model(10, 12, min_eigenvalue=0.3, random_state=1)
rows = [100, 200, 400, 800]
expected = {
    "clean": pd.DataFrame(rs.simulate.power(truth, rows, n_repeats=3, progress=False)),
    "10 % bad rows": pd.DataFrame(rs.simulate.power(truth, rows, contamination=0.1, n_repeats=3, progress=False)),
}
expected["clean"].round(2)

# %%
# Over the number of rows
# -----------------------

figure, axes = plt.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
for ax, (name, table) in zip(axes, expected.items(), strict=True):
    ax.plot(table["n_rows"], table["f1"], "o-", color="#0072B2", label="F1")
    ax.plot(table["n_rows"], table["tpr"], "s--", color="#009E73", label="share of true edges found")
    ax.plot(table["n_rows"], table["fdr"], "^:", color="#D55E00", label="share of found edges that are false")
    ax.set(xscale="log", xlabel="rows", title=name, ylim=(0, 1.02))
    ax.set_xticks(rows, rows)
    ax.minorticks_off()
axes[0].legend(frameon=False, fontsize="small")
plt.show()

# %%
# Where it fails
# --------------
# Three tables per point are few: the lines jitter, and ``n_repeats=20``, the default, is better. The answer is for
# the graph that was simulated; real edges are often weaker, and real tables fit their family less well. Take it as
# the least that is needed.
