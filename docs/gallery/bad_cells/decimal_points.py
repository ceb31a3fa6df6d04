"""
Decimal-point faults
====================

Thirteen measurements of 178 wines, from scikit-learn. As if typed by hand, the decimal point has moved in one cell of
a hundred: ten times too large. Few cells are wrong, but they are in a good part of the rows, so leaving out rows
would be dear. ``cells=True`` looks for single cells. What you look at is which it finds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import robscore as rs

clean = load_wine(as_frame=True).data.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
moved = np.random.default_rng(0).random(clean.shape) < 0.01
X = clean.where(~moved, 10 * clean)
print(f"{moved.sum()} cells are wrong, in {moved.any(axis=1).sum()} of {len(X)} rows")

model = rs.RobustGraph("sqrt", cells=True).fit(X)

# %%
# Which cells
# -----------
# The table from top to bottom, two rows to a line. Wrong cells are coloured; none of them was pointed out to the fit.

rs.plot.plot_cells(model)
plt.show()

# %%
# For each cell: its value, what the rest of its row leads one to expect, and how likely it is wrong.

cells = model.suspicious_cells()
flagged = cells[cells["flagged"]]
right = moved[flagged["row"], X.columns.get_indexer(flagged["column"])]
print(f"{len(flagged)} cells are flagged, {right.sum()} of the {moved.sum()} wrong ones among them")
cells.head(8)

# %%
# The graph
# ---------
# With wrong cells treated as missing, the graph is nearly that of the table before it was spoilt. Here judging whole
# rows does as well, since six rows of seven are untouched; with more columns, or more wrong cells, few rows would be.

settings = {"family": "sqrt", "n_edges": 20}
before = rs.RobustGraph(**settings).fit(clean).graph_.adjacency
shared = {
    "cells=True": rs.RobustGraph(cells=True, **settings).fit(X),
    "by rows, the default": rs.RobustGraph(**settings).fit(X),
    "classic": rs.RobustGraph(n_blocks=1, **settings).fit(X),
}
shared = {name: int(np.triu(fit.graph_.adjacency & before).sum()) for name, fit in shared.items()}
for name, number in shared.items():
    print(f"{name:22} {number} of the 20 edges of the clean table")

# %%
# Where it fails
# --------------
# Ten times a very small value may be an ordinary one, and then nothing shows. And a family that does not fit makes
# real tails look wrong: these wines are of three cultivars, and the log-log family flags dozens of cells that are
# right. Look at :meth:`~robscore.RobustGraph.check_fit` first. It takes some ten times as long as judging rows.
# See :doc:`/cells`.
