"""
A questionnaire
===============

Answers of 1000 people to 25 questions on a scale of one to six, simulated from five traits, as in the inventories of
personality; every fifth question is asked the other way round, one answer in a hundred is missing, and forty people
ticked the ends of the scale at random. What you look at is whether the five scales come out, and who did not answer
as the others do. Answers on a scale are no measurements: for the copula each says between which bounds a number lies
that nobody sees, and associations are polychoric partial correlations.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(1)
scales = ["order", "trust", "calm", "talk", "ideas"]
traits = rng.multivariate_normal(np.zeros(5), 0.8 * np.eye(5) + 0.2, size=1000)
scale = np.repeat(np.arange(5), 5)
loadings = rng.uniform(0.5, 1.0, size=25) * np.where(np.arange(25) % 5 == 4, -1, 1)
latent = traits[:, scale] * loadings + 0.8 * rng.normal(size=(1000, 25))
bounds = [-1.5, -0.8, -0.2, 0.5, 1.3]
shifts = rng.normal(0, 0.4, size=25)  # some questions are answered with yes by nearly everybody
answers = 1.0 + np.digitize(latent / latent.std(axis=0) + shifts, bounds)
careless = np.sort(rng.choice(1000, 40, replace=False))
answers[careless] = rng.choice([1.0, 6.0], size=(40, 25))
answers[rng.random(answers.shape) < 0.01] = np.nan
X = pd.DataFrame(answers, columns=[f"{scales[k // 5]} {k % 5 + 1}" for k in range(25)])

model = rs.RobustGraph("copula", missing="impute").fit(X)
print(model.summary())

# %%
# Five clusters of questions
# --------------------------
# Nothing says which questions belong together. Dashed links are negative: those of the questions that are asked the
# other way round.

same = scale[:, None] == scale
linked = np.triu(model.graph_.adjacency)
n_within, n_between = int((linked & same).sum()), int((linked & ~same).sum())
print(f"{n_within} of 50 pairs within scales are linked, {n_between} of 250 pairs between scales")
figure, axis = plt.subplots(figsize=(9, 7), layout="constrained")
rs.plot.plot_graph(model, ax=axis)
plt.show()

# %%
# Who did not answer as the others do
# -----------------------------------

rows = model.suspicious_rows()
flagged = rows["row"][rows["flagged"]]
n_careless = int(np.isin(flagged, careless).sum())
print(f"{len(flagged)} people stand out; {n_careless} of them are among the 40 who ticked at random")
rows.head(4)

# %%
# Tables without gaps
# -------------------
# For other methods: filled answers are drawn from what the rest of the person's answers says, and are answers.

completed = model.imputations(1)[0]
print(f"{int(X.isna().sum().sum())} answers filled in, with values {sorted(np.unique(completed).astype(int).tolist())}")

# %%
# Where it fails
# --------------
# Somebody who ticks "4" everywhere is the most ordinary person of all and is never found. Scales of two or three steps
# say less about what is behind them, so that it takes more people to see an edge. Five traits make *all* questions of
# a scale depend on each other; the graph shows that as clusters, but it does not name a trait. More columns of other
# kinds: :doc:`mixed_columns`.
