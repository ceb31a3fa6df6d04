"""How row weights, average and path grow with n, m and K, with fitted exponents; and the largest case.

On one thread. Draws docs/results/growth.png and writes its numbers beside it.
"""

import csv
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools.measure import clocked, in_fresh_process, least, matrix_product_seconds
from benchmarks.tools.simulated import sparse_square_root_data
from robscore.elements.inner_products import cheapest_way
from robscore.losses.quadratic import MANY_COLUMNS

BASE = {"n": 2000, "m": 50, "K": 200}
VARIED = {
    "n": (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000),
    "m": (25, 50, 100, 200, 400, 800),
    "K": (25, 50, 100, 200, 400, 800, 1600),
}
UPPER = 3  # sizes that an exponent is fitted to
STEPS = ("weights", "average", "path")
ALPHAS, RATIO = 20, 0.1
BAD_ROWS = 5
LARGEST = {"n": 200_000, "m": 30, "K": 40_000}
RESULTS = Path(__file__).parent.parent / "docs" / "results"


def measure(n: int, m: int, K: int, unit: float = 1.0) -> dict[str, float | str]:
    """Return the way chosen for the weights of Gamma, and the seconds of each step over ``unit``."""
    X = sparse_square_root_data(n, m, m, BAD_ROWS / n)
    elements = rs.score_elements("sqrt", X)
    weighing, weights = least(lambda: clocked(lambda: rs.robust_weights(rs.score_elements("sqrt", X), K)), 1)
    averaging, loss = least(lambda: clocked(lambda: elements.average(*weights)), 1)
    solving, _ = least(lambda: clocked(lambda: rs.solve_path(loss, ALPHAS, alpha_min_ratio=RATIO)), 1)
    times = dict(zip(STEPS, (weighing / unit, averaging / unit, solving / unit), strict=True))
    return {"n": n, "m": m, "K": K, "way": cheapest_way(elements, "gamma", K, n), **times}


@threadpool_limits.wrap(limits=1)
def weigh(n: int, m: int, K: int) -> tuple[str, float]:
    """Return the way chosen for the row weights, and their seconds; rows that need no long simulation."""
    rng = np.random.default_rng(0)
    X = rng.gamma(1.0, size=(n, m))
    bad = rng.choice(n, size=n // 20, replace=False)
    X[bad] = 1 + rng.pareto(1.0, size=(bad.size, m))
    elements = rs.score_elements("sqrt", X)
    return cheapest_way(elements, "gamma", K, n), clocked(lambda: rs.robust_weights(elements, K))[0]


def exponent(sizes: np.ndarray, times: np.ndarray, upper: int = UPPER) -> float:
    """Return the least-squares slope of log time over log size, at the largest sizes."""
    return float(np.polyfit(np.log(sizes[-upper:]), np.log(times[-upper:]), 1)[0])


def draw(rows: dict[str, list[dict[str, float | str]]], path: Path) -> None:
    """Draw one panel for each of n, m and K, with the exponents in its legend."""
    import matplotlib.pyplot as plt

    from robscore.plot.style import COLOURS, DARK, DASHES, GREY, legend

    figure, panels = plt.subplots(1, len(rows), figsize=(12, 4), sharey=True, layout="constrained")
    for ax, (name, measured) in zip(panels, rows.items(), strict=True):
        sizes = np.array([row[name] for row in measured], dtype=float)
        for step, colour, dashes, marker in zip(STEPS, COLOURS, DASHES, "os^", strict=False):
            times = np.array([row[step] for row in measured], dtype=float)
            label = f"{step}: {name}$^{{{exponent(sizes, times):.1f}}}$"
            ax.loglog(sizes, times, color=colour, linestyle=dashes, marker=marker, label=label)
        fixed = ", ".join(f"{other} = {value}" for other, value in BASE.items() if other != name)
        ax.set_title(fixed, fontsize=11)
        ax.set_xlabel({"n": "rows n", "m": "columns m", "K": "blocks K"}[name])
        ax.set_xticks(sizes, [f"{size:g}" for size in sizes], fontsize=9)
        ax.minorticks_off()
        ax.grid(alpha=0.3)
        legend(ax, loc="upper left")
        if name == "m":
            ax.axvline(MANY_COLUMNS, color=GREY, linestyle=":")
            text = "  Gamma is not formed"
            ax.text(MANY_COLUMNS, 0.03, text, color=DARK, fontsize=9, transform=ax.get_xaxis_transform())
    panels[0].set_ylabel("time, in products of two 1000 x 1000 matrices")
    low, high = panels[0].get_ylim()
    panels[0].set_ylim(low, high * 6)  # room for the legends
    figure.savefig(path, dpi=130)
    plt.close(figure)


@threadpool_limits.wrap(limits=1)
def main(out: Path = RESULTS) -> None:
    unit = matrix_product_seconds()
    measure(200, 5, 20)  # compiles
    rows: dict[str, list[dict[str, float | str]]] = {}
    print(f"Times in products of two 1000 x 1000 matrices; a path has {ALPHAS} penalties, to {RATIO:g} of the largest.")
    print("".join(f"{name:>9}" for name in BASE) + f"  {'way':<10}" + "".join(f"{step:>10}" for step in STEPS))
    for name, sizes in VARIED.items():
        rows[name] = []
        for size in sizes:
            row = measure(**{**BASE, name: size}, unit=unit)
            rows[name].append(row)
            numbers = "".join(f"{row[step]:>10.2f}" for step in STEPS)
            print("".join(f"{row[part]:>9}" for part in BASE) + f"  {row['way']:<10}{numbers}", flush=True)
        fitted = (exponent(np.array(sizes, float), np.array([row[step] for row in rows[name]])) for step in STEPS)
        print(f"{'exponent of ' + name:>37}  " + "".join(f"{value:>10.2f}" for value in fitted))
    with (out / "growth.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["varied", *BASE, "way", *STEPS])
        writer.writeheader()
        for name, measured in rows.items():
            for row in measured:
                rounded = {step: f"{row[step]:.4g}" for step in STEPS}
                writer.writerow({"varied": name, **row, **rounded})
    draw(rows, out / "growth.png")
    (way, elapsed), megabytes = in_fresh_process(weigh, *LARGEST.values())
    sizes = ", ".join(f"{name} = {value}" for name, value in LARGEST.items())
    print(f"Row weights of {sizes}, {way}: {elapsed / unit:.0f} matrix products, {megabytes / 1000:.2f} GB at most.")


if __name__ == "__main__":
    main()
