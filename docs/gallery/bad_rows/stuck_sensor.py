"""
A stuck sensor
==============

Eight gauges down a river, a reading every hour; simulated, each gauge following the one above it. Gauge 4 sticks for
two days and repeats its last reading. Every one of these readings is ordinary by itself. What gives them away is that
the gauges above and below say something else. What you look at is which hours
stand out, and what they do to the graph.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

rng = np.random.default_rng(2)
steps = 0.5 * rng.normal(size=(720, 8))
steps[0, 0] = 0.0
for hour in range(1, 720):
    steps[hour, 0] = 0.9 * steps[hour - 1, 0] + 0.8 * rng.normal()  # what comes down the river
clean = pd.DataFrame(15 + np.cumsum(steps, axis=1), columns=[f"gauge {k}" for k in range(1, 9)]).round(2)
X = clean.copy()
X.loc[300:347, "gauge 4"] = X.loc[300, "gauge 4"]

model = rs.RobustGraph("gaussian").fit(X)
rows = model.suspicious_rows()
flagged = rows[rows["flagged"]]

# %%
# Which hours stand out
# ---------------------
# Each row is judged as a whole. Those that stand out lie in the two days, and the column ``variables`` names the
# gauge.

stuck = flagged["row"].between(300, 347)
figure, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
for name, colour in (("gauge 3", "0.75"), ("gauge 5", "0.55")):
    ax.plot(X[name], color=colour, lw=1, label=name)
ax.plot(X["gauge 4"], color="#0072B2", lw=1.5, label="gauge 4")
ax.plot(flagged["row"], X["gauge 4"].loc[flagged["row"]], "o", ms=5, color="#D55E00", label="stands out")
ax.set(xlim=(270, 380), xlabel="hour", ylabel="reading")
ax.set_title(f"{stuck.sum()} of the 48 stuck hours stand out, and {(~stuck).sum()} of the 672 others", loc="left")
ax.legend(frameon=False, ncols=2, fontsize="small")
plt.show()

# %%
flagged.head(5)

# %%
# What it does to the graph
# -------------------------
# The river is a chain. With the stuck hours in it, the classic fit nearly loses gauge 4 and links its neighbours past
# it; the robust one hardly does.

fits = {
    "before it stuck": rs.RobustGraph("gaussian").fit(clean),
    "stuck, robust": model,
    "stuck, classic": rs.RobustGraph("gaussian", n_blocks=1).fit(X),
}
pairs = {"3 – 4": (2, 3), "4 – 5": (3, 4), "past it: 3 – 5": (2, 4)}
links = {name: [fit.association_[pair] for pair in pairs.values()] for name, fit in fits.items()}
figure, ax = plt.subplots(figsize=(8, 3.4), layout="constrained")
for k, (name, values) in enumerate(links.items()):
    ax.bar(np.arange(3) + 0.27 * (k - 1), values, 0.25, label=name, color=["0.6", "#0072B2", "#D55E00"][k])
ax.set_xticks(range(3), pairs)
ax.set_ylabel("association")
ax.legend(frameon=False)
plt.show()

# %%
# Where it fails
# --------------
# An hour in which the river happens to agree with the stuck reading cannot be told from a right one, and is kept. So
# are hours in which it differs only a little, which is why the robust links are still weaker than those before.
# ``robscore fit --cells`` also looks at the order of the rows, and asks of a long run of equal values whether the
# sensor is stuck. If *all* gauges stick at once, rows repeat, and are found as a cluster.
