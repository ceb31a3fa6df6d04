"""
A questionnaire
===============

Answers of 700 people to nine questions on a scale of one to seven, simulated from two traits; thirty people ticked at
random. What you look at is the graph of the questions, and who did not answer as the others do. Answers on a scale
are no measurements: for the copula each says between which bounds a number lies that nobody sees, and associations
are polychoric partial correlations.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(1)
traits = rng.multivariate_normal([0, 0], [[1, 0.3], [0.3, 1]], size=700)
loadings = np.array([[1, 0]] * 5 + [[0, 1]] * 4)
answers = np.clip(np.round(4 + 1.1 * traits @ loadings.T + rng.normal(size=(700, 9))), 1, 7)
careless = np.sort(rng.choice(700, 30, replace=False))
answers[careless] = rng.choice([1.0, 7.0], size=(30, 9))  # the ends of the scale, at random
names = [f"sleep {k}" for k in range(1, 6)] + [f"mood {k}" for k in range(1, 5)]
X = pd.DataFrame(answers, columns=names)

model = rs.RobustGraph("copula").fit(X)
print(model.graph_)

# %%
# Two clusters of questions
# -------------------------

topic = np.array([name.split()[0] for name in names])
rs.plot.plot_graph(model, marked=("between topics", topic[:, None] != topic, "within a topic"))
plt.show()

# %%
# Who did not answer as the others do
# -----------------------------------

rows = model.suspicious_rows()
flagged = rows["row"][rows["flagged"]]
print(
    f"{len(flagged)} people stand out; {np.isin(flagged, careless).sum()} of them are among the 30 who ticked at random"
)
rows.head(4)

# %%
# Where it fails
# --------------
# Somebody who ticks "4" everywhere is the most ordinary person of all and is never found. Scales of two or three steps
# say less about what is behind them, so that it takes more people to see an edge. Two traits make *all* questions of a
# topic depend on each other; the graph shows that as a cluster, but it does not name a trait. More columns of other
# kinds: :doc:`mixed_columns`.
