"""``robscore demo``: simulated Alpine rain with bad rows, classic and robust side by side on a map."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from robscore._version import __version__
from robscore.cli.console import Debug, Force, guarded, print_result

if TYPE_CHECKING:
    from robscore.cli.output_files import Recognise
    from robscore.datasets import AlpineRain
    from robscore.estimators import RobustGraph

ROWS, SHARE, EDGES = 261, 0.05, 45


def demo(
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("robscore-demo"),
    seed: Annotated[int, typer.Option("--seed", min=0, help="Random seed of the simulation.")] = 0,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Simulate rain at 30 Alpine towns, spoil one month in twenty, and learn the graph twice.

    Example: robscore demo --out demo
    """
    with guarded("robscore demo", debug=debug, interrupted="Stopped; run it again."):
        from robscore.cli.fit_results import fit_outputs, summary, write
        from robscore.cli.output_files import OutputFiles, begins_with
        from robscore.cli.run_fit import Plan, run
        from robscore.datasets import simulated_alpine_rain
        from robscore.reading import ReadOptions

        rain = simulated_alpine_rain(ROWS, random_state=seed)
        texts, n_bad = _data(rain, seed)
        data = OutputFiles(out, _marks(texts), force=force)
        plan = Plan(
            data=out / "rain.csv",
            read=ReadOptions(id="month"),
            settings={"family": "sqrt", "n_edges": EDGES, "random_state": 0},
            coordinates=out / "towns.csv",
            outline=out / "ridge.csv",
            title=f"Simulated rain at 30 Alpine towns, {SHARE:.0%} of the months spoilt",
        )
        picture = begins_with(rb"(?s)\x89PNG.{1,200}Software\x00robscore ")
        outputs = fit_outputs(plan, out, force=force, more={"map.png": picture})
        with data.prepared():
            outputs.check()
            data.write(texts)
            fitted = run(plan)
            assert fitted.classic is not None
            methods = {"classic": fitted.classic, "robust": fitted.model}
            found = {method: _judge(model, rain) for method, model in methods.items()}
            written = write(fitted, outputs, {"map.png": _drawn(methods, found, rain, n_bad)})
    print_result(
        f"Simulated rain of {ROWS} months at {len(rain.names)} towns; {n_bad} months were replaced by heavy-tailed "
        f"noise.\nThe true graph has {EDGES} edges, none across the main Alpine ridge. Asked for {EDGES} edges,\n"
    )
    for method, judged in found.items():
        print_result(f"  {method:<7}  finds {judged.true:>2} true edges, and {judged.across:>2} that cross the ridge")
    print_result(f"\n{summary(fitted.record, out, written)}\n{out / 'map.png'}  both graphs in one picture\n")
    print_result(
        f"The same from the file: robscore fit {out / 'rain.csv'} --coords {out / 'towns.csv'} --edges {EDGES}"
    )
    print_result(f"Now open {out / 'report.html'}")


class Judged(NamedTuple):
    """How many edges of a graph are true, and how many cross the ridge."""

    true: int
    across: int


def _data(rain: AlpineRain, seed: int) -> tuple[dict[str, str], int]:
    """Return the spoilt data, the towns and the ridge, as files, and how many rows were spoilt."""
    import numpy as np

    from robscore.cli.output_files import data_csv
    from robscore.datasets import alpine_ridge
    from robscore.simulate import contaminate_pareto

    X, bad_rows = contaminate_pareto(rain.X, SHARE, random_state=seed + 1)
    months = [f"{1990 + k // 12}-{k % 12 + 1:02d}" for k in range(ROWS)]
    texts = {
        "rain.csv": data_csv(rain.names, np.round(X, 1), months, "month"),
        "towns.csv": data_csv(("latitude", "longitude"), rain.coordinates, rain.names, "name"),
        "ridge.csv": data_csv(("latitude", "longitude"), alpine_ridge()),
    }
    return texts, int(bad_rows.size)


def _marks(texts: dict[str, str]) -> dict[str, Recognise]:
    """Recognise the data of an earlier demo: rain by the names of its towns; the rest is always the same."""
    from robscore.cli.output_files import begins_with, is_exactly

    header = texts["rain.csv"].partition("\n")[0] + "\n"
    known = {name: is_exactly(text) for name, text in texts.items()}
    return {**known, "rain.csv": begins_with(re.escape(header.encode()))}


def _judge(model: RobustGraph, rain: AlpineRain) -> Judged:
    import numpy as np

    from robscore.datasets import crosses_ridge

    found = np.triu(model.graph_.adjacency)
    across = crosses_ridge(rain.coordinates)
    return Judged(int(np.count_nonzero(found & (rain.interaction != 0))), int(np.count_nonzero(found & across)))


def _drawn(methods: dict[str, RobustGraph], found: dict[str, Judged], rain: AlpineRain, n_bad: int) -> bytes:
    """Return both graphs on one map, as a PNG."""
    from matplotlib.figure import Figure

    from robscore.datasets import alpine_ridge, crosses_ridge
    from robscore.plot import plot_map

    figure = Figure(figsize=(14, 5.9))
    figure.subplots_adjust(left=0.045, right=0.99, top=0.86, bottom=0.14, wspace=0.1)
    for ax, (method, model) in zip(figure.subplots(1, 2), methods.items(), strict=True):
        plot_map(
            model,
            rain.coordinates,
            outline=[alpine_ridge()],
            marked=("crosses the ridge", crosses_ridge(rain.coordinates), "on one side of the ridge"),
            title=f"{method.capitalize()} score matching: {found[method].true} of {EDGES} true edges found",
            ax=ax,
        )
    figure.suptitle(f"Simulated monthly rain, {n_bad} of {ROWS} months replaced by heavy-tailed noise", fontsize=14)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=110, metadata={"Software": f"robscore {__version__}"})
    return picture.getvalue()
