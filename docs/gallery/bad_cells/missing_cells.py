"""
Missing cells
=============

A fifth of the cells of a table are missing, so that few of its rows are complete. What you look at are three ways to
go on, and what each costs: leave out incomplete rows, fill in column medians, or fill in by the fit itself.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import robscore as rs

truth = rs.simulate.shaped_model("chain", 8, min_eigenvalue=0.3, random_state=0)
full = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=2000, random_state=1)
missing = np.random.default_rng(2).random(full.shape) < 0.2
X = pd.DataFrame(np.where(missing, np.nan, full), columns=[f"v{j}" for j in range(1, 9)])
print(f"{X.notna().all(axis=1).sum()} of {len(X)} rows are complete")

# %%
# Missing cells are an error until you say what to do about them:

try:
    rs.RobustGraph("sqrt").fit(X)
except ValueError as error:
    print(error)

# %%
# Three ways to go on
# -------------------
# Associations without a penalty, beside the true ones and those of the table before cells were missing. Medians say
# nothing of the row that they are put into, so they pull every edge towards zero. Leaving out rows is right on
# average, but little is left.

settings = {"family": "sqrt", "n_edges": 7}
models = {
    "the full table": rs.RobustGraph(**settings).fit(pd.DataFrame(full, columns=X.columns)),
    "filled in by the fit": rs.RobustGraph(missing="impute", **settings).fit(X),
    "column medians": rs.RobustGraph(**settings).fit(X.fillna(X.median())),
    "incomplete rows left out": rs.RobustGraph(missing="drop", **settings).fit(X),
}
pairs = np.triu_indices(8, 1)
edges = truth.interaction[pairs] != 0


def unpenalised(model):
    """Association of all pairs without a penalty."""
    table = model.edge_intervals().set_index(["source", "target"])["association"]
    return np.array(
        [table.get((a, b), table.get((b, a))) for a, b in zip(*X.columns.to_numpy()[list(pairs)], strict=True)]
    )


reference = -truth.interaction[pairs] / np.sqrt(np.diag(truth.interaction)[list(pairs)].prod(axis=0))
errors, slopes = {}, {}
figure, axes = plt.subplots(2, 2, figsize=(8, 6.4), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    estimate = unpenalised(model)
    errors[name] = np.sqrt(np.mean((estimate - reference) ** 2))
    slopes[name] = (estimate[edges] @ reference[edges]) / (reference[edges] @ reference[edges])
    ax.axline((0, 0), slope=1, color="0.8")
    ax.plot(reference[~edges], estimate[~edges], ".", color="0.6", label="no edge")
    ax.plot(reference[edges], estimate[edges], "o", ms=4, color="#0072B2", label="edge")
    ax.set_title(f"{name}\nerror {errors[name]:.3f}, edges × {slopes[name]:.2f}", fontsize="medium")
figure.supxlabel("true association")
figure.supylabel("estimated association")
axes[0, 0].legend(frameon=False)
plt.show()

# %%
# Completed tables
# ----------------
# ``imputations`` gives completed tables for other methods, each with other draws in the cells that are missing.

first, second = models["filled in by the fit"].imputations(2)
row = int(np.flatnonzero(missing.any(axis=1))[0])
pd.DataFrame({"as given": X.loc[row], "first": first.loc[row], "second": second.loc[row]}).T.round(2)

# %%
# Where it fails
# --------------
# Here cells are missing at random. Where a value is missing *because of what it would have been*, such as a gauge
# that fails in heavy rain, every method without a model of the gaps is biased, and this one too. See :doc:`/cells`.
