"""
Reading the report
==================

``robscore fit`` and ``model.report()`` write one HTML file to send to a colleague. What you look at is that page, for
the simulated rain of :doc:`/examples/bad_rows/rain`; below is how to read it.
"""

import matplotlib.pyplot as plt
import pandas as pd

import robscore as rs

rain = rs.datasets.simulated_alpine_rain()
X, bad_months = rs.simulate.contaminate_pareto(rain.X, 0.05, random_state=1)
X = pd.DataFrame(X, columns=rain.names)

model = rs.RobustGraph("sqrt").fit(X)
model.report(title="Simulated rain", coordinates=rain.coordinates, outline=[rs.datasets.alpine_ridge()])

# %%
# How to read it
# --------------
# - **The first screen** says in words what was found, how sure it is, and what to be careful about: the *cautions*,
#   worst first. Read these before the picture.
# - **A link** joins two variables that depend on each other given all others. Its *association* is the partial
#   correlation where data are Gaussian and its analogue otherwise: positive means that both rise together. Its
#   *interaction* K is in the units of the data, with the opposite sign.
# - **The interval** of a link is of the estimate without a penalty. A link whose interval contains zero may be
#   chance.
# - **Rows that do not fit** are listed with what stands out. They are no longer in the graph; whether they are errors
#   is for you to say.
# - **Methods** is a paragraph to start your own from, with every setting.
#
# The same graph as a figure
# --------------------------

rs.plot.plot_map(model, rain.coordinates, outline=[rs.datasets.alpine_ridge()])
plt.show()

# %%
# Where it fails
# --------------
# The page shows one fit. It does not say whether another family, another choice of columns or another table would
# give the same graph; ask :doc:`/examples/how_sure/stability`. With thousands of links the picture is a tangle: hide
# weak ones, or read the table.
