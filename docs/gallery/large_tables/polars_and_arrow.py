"""
Polars and Arrow streams
========================

A table need not be a pandas data frame. ``fit`` takes polars frames as they are, and lazy queries, DuckDB relations,
pyarrow datasets and anything else with the Arrow stream protocol without holding all of their rows. What you look at
is one graph, from four sources.
"""

import matplotlib.pyplot as plt
import polars as pl

import robscore as rs

rain = rs.datasets.simulated_alpine_rain(400)
X, bad_months = rs.simulate.contaminate_pareto(rain.X, 0.05, random_state=1)
towns = list(rain.names[:12])
frame = pl.DataFrame(X[:, :12], schema=towns)

# %%
# Four sources
# ------------
# The lazy query is run again in every pass, and must give its rows in the same order every time. A function that
# returns a stream is called anew.

inches = [(25.4 * pl.col(town)).alias(town) for town in towns]
sources = {
    "NumPy": X[:, :12],
    "polars": frame,
    "polars, lazy": frame.with_columns((pl.col(town) / 25.4).alias(town) for town in towns).lazy().with_columns(inches),
    "a stream": lambda: frame.to_arrow().to_reader(max_chunksize=100),
}
models = {name: rs.RobustGraph("sqrt", n_edges=14).fit(source) for name, source in sources.items()}
first = models["NumPy"].interaction_
differences = {name: float(abs(model.interaction_ - first).max() / abs(first).max()) for name, model in models.items()}
for name, difference in differences.items():
    print(f"{name:14} largest difference in K: {difference:.0e} of its largest entry")

# %%
# Tables come back as the frame that went in:

models["polars"].edges().head(4)

# %%
rs.plot.plot_map(models["a stream"], rain.coordinates[:12], outline=[rs.datasets.alpine_ridge()])
plt.show()

# %%
# Where it fails
# --------------
# A query without an order may give its rows in another one each time; then blocks of rows are not the same rows in
# every pass. Add ``order by``, or write the result to Parquet once (:doc:`parquet`). Columns of text are refused:
# choose columns with ``rs.ArrowRows(source, columns=[...])``.
