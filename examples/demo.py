"""Thirty columns, a thousand rows, one row in twenty is bad: the classic and the robust graph beside the truth."""

import warnings
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import robscore as rs

N_ROWS, N_COLUMNS, N_EDGES, SHARE = 1000, 30, 45, 0.05


def main(folder: Path = Path("demo")) -> None:
    truth = rs.simulate.random_model(N_COLUMNS, N_EDGES, random_state=1)
    X = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N_ROWS, random_state=2)
    X, bad_rows = rs.simulate.contaminate_pareto(X, SHARE, random_state=3)
    print(
        f"Simulated square-root data: {N_ROWS} rows, {N_COLUMNS} columns, a true graph of {N_EDGES} edges; "
        f"{bad_rows.size} rows replaced by Pareto draws.\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bad rows give the classic estimate a diagonal that it warns about
        classic = rs.RobustGraph("sqrt", n_blocks=1, n_edges=N_EDGES).fit(X)
    robust = rs.RobustGraph("sqrt", n_edges=N_EDGES).fit(X)
    graphs = {"classic score matching": classic, "robust score matching": robust}
    print(f"{'at the same number of edges':<30}{'edges':>7}{'true':>7}{'false':>7}{'missed':>8}")
    layout = rs.plot.shared_layout(truth.interaction)
    figure, axes = plt.subplots(1, 2, figsize=(13, 7.4))
    figure.subplots_adjust(left=0.02, right=0.98, top=0.87, bottom=0.07, wspace=0.05)
    for (method, model), ax in zip(graphs.items(), axes, strict=True):
        found = model.graph_.adjacency
        hits = int(np.count_nonzero(found & truth.adjacency)) // 2
        n_found = model.graph_.n_edges
        print(f"{method:<30}{n_found:>7}{hits:>7}{n_found - hits:>7}{N_EDGES - hits:>8}")
        title = f"{method}: {hits} of {N_EDGES} true edges"
        rs.plot.plot_recovery(model.interaction_, truth.interaction, layout=layout, title=title, ax=ax)
    figure.suptitle(f"With {SHARE:.0%} bad rows in simulated data, {N_EDGES} edges learnt by each method", fontsize=14)

    print(f"\nThe robust graph:\n{robust.summary()}")
    print(f"\nIts five strongest edges:\n{robust.edges().head().to_string(index=False)}")
    weight = robust.row_weights_[bad_rows].sum(axis=0)
    print(f"\nThe bad rows, {SHARE:.0%} of all, weigh {weight[0]:.1%} in Gamma and {weight[1]:.1%} in g.")
    folder.mkdir(exist_ok=True)
    picture = folder / "graphs.png"
    figure.savefig(picture, dpi=110)
    print(f"\nOpen {picture} to see both graphs.")


if __name__ == "__main__":
    main()
