"""
Which family?
=============

A family says what kind of values a table holds, and a fit is as good as its family. ``family="auto"`` compares those
that the data allow, on rows that the fits have not seen. What you look at is that comparison, for three tables whose
family is known because they were simulated.
"""

import matplotlib.pyplot as plt

import robscore as rs

truth = rs.simulate.random_model(8, 8, locations=(0.5,), random_state=0)
tables = {
    family: rs.simulate.sample(family, truth.interaction, truth.location, n_rows=1500, random_state=1)
    for family in ("sqrt", "gamma", "log-log")
}
compared = {family: rs.compare_families(X) for family, X in tables.items()}

# %%
# One table of losses each
# ------------------------
# ``difference`` is to the best family, ``error`` the standard error of that; more than three of them are called
# worse.

compared["gamma"]

# %%
# All three in a picture
# ----------------------
# Bars are differences to the best, in standard errors. Families within three of them (the line) are not told apart.
# Gamma and square root with the same K differ in their location only, so the first table may be either.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), sharey=True, layout="constrained")
for ax, (family, table) in zip(axes, compared.items(), strict=True):
    judged = table[table["verdict"] != "excluded"].set_index("family")
    errors = (judged["difference"] / judged["error"]).fillna(0.0)
    ax.barh(judged.index, errors, color=["#0072B2" if verdict != "worse" else "0.7" for verdict in judged["verdict"]])
    ax.axvline(3, color="#D55E00", lw=1)
    for name, verdict in judged["verdict"].items():
        if verdict != "worse":
            ax.text(errors[name] + 0.3, name, verdict, va="center", fontsize="small", bbox={"color": "white", "pad": 1})
    ax.set_title(f"simulated as {family}", fontsize="medium")
    ax.set_xlabel("worse by so many standard errors")
plt.show()

# %%
# What ``"auto"`` takes
# ---------------------
# The line "family" of the summary says why.

model = rs.RobustGraph().fit(tables["log-log"])
print(next(line for line in model.summary().splitlines() if line.startswith("family")))

# %%
# Where it fails
# --------------
# With few rows, families are often not told apart, and whichever is ahead is taken; two halves of a table may then
# get different ones. The best family is only the best of those compared: whether it *fits* is another question
# (:doc:`does_it_fit`). Code that runs on many tables should name a family.
