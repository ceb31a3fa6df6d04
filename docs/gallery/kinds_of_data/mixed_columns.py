"""
Columns of any kind
===================

The table of a clinic, simulated: 800 patients, with yes/no, answers on a scale, counts, a dose that is zero for many,
and two measurements; all of them are functions of normal numbers that nobody sees. Forty rows have a device's other
units. What you look at is which of the eleven true edges are found, by a family for measurements and by the copula,
and how large the associations come out.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

pairs = {
    ("age", "pressure"): 0.4,
    ("pressure", "dose"): 0.4,
    ("pain", "dose"): 0.35,
    ("pain", "sleep"): -0.4,
    ("pain", "mood"): -0.35,
    ("sleep", "mood"): 0.35,
    ("age", "visits"): 0.3,
    ("visits", "pain"): 0.3,
    ("smokes", "marker"): 0.45,
    ("smokes", "mood"): -0.3,
    ("marker", "pressure"): 0.35,
}
names = ["age", "smokes", "pressure", "marker", "visits", "dose", "pain", "sleep", "mood"]
K = np.eye(len(names))
for (a, b), association in pairs.items():
    K[names.index(a), names.index(b)] = K[names.index(b), names.index(a)] = -association
K += max(0.2 - np.linalg.eigvalsh(K).min(), 0.0) * np.eye(len(names))
covariance = np.linalg.inv(K)
deviation = np.sqrt(covariance.diagonal())
rng = np.random.default_rng(0)
latent = rng.multivariate_normal(np.zeros(len(names)), covariance, size=800) / deviation
z = dict(zip(names, latent.T, strict=True))
X = pd.DataFrame(
    {
        "age": np.round(50 + 12 * z["age"]),
        "smokes": z["smokes"] > 0.2,
        "pressure": np.round(125 + 12 * z["pressure"]),
        "marker": np.exp(1.2 * z["marker"]),
        "visits": np.floor(1.5 * np.exp(0.6 * z["visits"])),
        "dose": np.maximum(10 * z["dose"], 0),
        "pain": np.digitize(z["pain"], [-0.5, 0.2, 0.8, 1.5]),
        "sleep": np.digitize(z["sleep"], [-1.5, -0.7, 0.2, 1.0]),
        "mood": np.digitize(z["mood"], [-1.0, 0.0, 1.0]),
    }
).astype(float)
other_units = np.sort(rng.choice(800, 40, replace=False))
X.loc[other_units, ["pressure", "marker"]] *= [0.133, 100]  # kPa for mmHg, another dilution
X.head(4)

# %%
# As measurements, and as what they are
# -------------------------------------
# The Gaussian takes answers, counts and zeros for measurements, and says so. The copula only uses that every column
# rises with its latent number.

models = {"gaussian": rs.RobustGraph("gaussian").fit(X), "copula": rs.RobustGraph("copula").fit(X)}
true = K != 0
found = {
    name: (int((model.graph_.adjacency & true).sum() / 2), int((model.graph_.adjacency & ~true).sum() / 2))
    for name, model in models.items()
}
for name, (right, false) in found.items():
    print(f"{name:<9} {right} of {len(pairs)} true edges, {false} false")
rows = models["copula"].suspicious_rows()
n_found = int(np.isin(rows["row"][rows["flagged"]], other_units).sum())
print(f"the copula leaves out {rows['flagged'].sum()} rows, {n_found} of them in other units")
print(models["gaussian"].cautions_[0])

figure, axes = plt.subplots(1, 2, figsize=(11, 5))
for axis, (name, model) in zip(axes, models.items(), strict=True):
    rs.plot.plot_graph(model, marked=("true edge", true, "not an edge"), ax=axis)
    axis.set_title(name)
plt.show()

# %%
# How large associations are
# --------------------------
# Codes of coarse answers go together less than what they stand for. Estimates without a penalty, beside the truth:

size = np.sqrt(K.diagonal())
truth = -K / np.multiply.outer(size, size)
figure, axis = plt.subplots(figsize=(5.5, 5))
slopes = {}
for name, model in models.items():
    table = model.edge_intervals()
    i, j = ([names.index(end) for end in table[side]] for side in ("source", "target"))
    slopes[name] = float(table["association"] @ truth[i, j] / (truth[i, j] @ truth[i, j]))
    axis.scatter(truth[i, j], table["association"], s=18, label=f"{name}, slope {slopes[name]:.2f}")
axis.axline((0, 0), slope=1, color="black", linewidth=0.8)
axis.set(xlabel="true association", ylabel="estimate")
axis.legend()
plt.show()

# %%
# Where it fails
# --------------
# A column of categories without an order, such as the region somebody lives in, has no latent number and has to stay
# out of the columns: ``fit(X, covariates={"region": ...})`` allows for it, and ``moderators=`` asks whether its groups
# have other graphs. Coarse columns say little about what is behind them: an edge between two yes/no columns needs many
# more rows than one between two blood values.
