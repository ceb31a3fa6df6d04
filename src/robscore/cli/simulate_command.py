"""``robscore simulate``: a data set with bad rows whose true graph is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from robscore.cli.console import BAD_ARGUMENTS, Debug, Force, guarded, print_result, stop

if TYPE_CHECKING:
    from robscore.cli.output_files import Recognise

_FAMILIES = ("sqrt", "gaussian", "gamma", "truncated-gaussian", "log-log")
_NAMES = ("truth.csv", "bad_rows.csv", "data.csv")  # in the order in which they appear


def simulate(
    *,
    family: Annotated[
        str, typer.Option("--family", "-f", help="sqrt, gaussian, gamma, truncated-gaussian, log-log.")
    ] = "sqrt",
    n_rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="Observations.")] = 1000,
    n_columns: Annotated[int, typer.Option("--columns", "-m", min=2, help="Variables.")] = 30,
    n_edges: Annotated[int, typer.Option("--edges", "-e", min=0, help="Edges of the true graph.")] = 45,
    share: Annotated[float, typer.Option("--bad", min=0, max=0.49, help="Share of bad rows.")] = 0.05,
    kind: Annotated[
        Literal["pareto", "wide", "other-graph"] | None,
        typer.Option(
            "--kind",
            help="Bad rows: heavy-tailed Pareto draws (default for positive data), wide normal ones (default for "
            "gaussian), or rows of usual size from another graph.",
        ),
    ] = None,
    random_state: Annotated[int, typer.Option("--seed", min=0, help="Random seed.")] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("robscore-simulated"),
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Write a simulated data set with bad rows, and its truth: the edges, and which rows are bad.

    Example: robscore simulate --rows 2000 --columns 12 --edges 15 --bad 0.1 --out try
    """
    with guarded("robscore simulate", debug=debug):
        import numpy as np

        from robscore.cli.output_files import OutputFiles, csv_text, data_csv
        from robscore.families import get_family
        from robscore.simulate import (
            contaminate_other_graph,
            contaminate_pareto,
            contaminate_wide,
            random_model,
            sample,
        )

        if family not in _FAMILIES:
            stop(f"--family {family} is not one to simulate; use {', '.join(_FAMILIES)}.", code=BAD_ARGUMENTS)
        positive = get_family(family).domain.is_non_negative
        if kind and (kind == "wide") == positive and kind != "other-graph":
            stop(
                f"--kind {kind} does not suit --family {family}; leave it out, or use other-graph.", code=BAD_ARGUMENTS
            )
        keys = np.random.SeedSequence(random_state).spawn(3)
        model_rng, row_rng, bad_rng = (np.random.default_rng(key) for key in keys)
        truth = random_model(n_columns, n_edges, random_state=model_rng)
        names = _variables(n_columns)
        outputs = OutputFiles(out, _marks(), force=force)
        with outputs.prepared():
            X = sample(family, truth.interaction, truth.location, n_rows=n_rows, random_state=row_rng)
            bad_rows = np.zeros(0, dtype=int)
            kind = kind or ("pareto" if positive else "wide")
            if share and kind == "pareto":
                X, bad_rows = contaminate_pareto(X, share, random_state=bad_rng)
            elif share and kind == "wide":
                X, bad_rows = contaminate_wide(X, share, variance=25 * float(X.var()), random_state=bad_rng)
            elif share:
                X, bad_rows = contaminate_other_graph(X, share, n_edges=n_edges, random_state=bad_rng)
            i, j = np.nonzero(np.triu(truth.adjacency))
            true_edges = [(names[a], names[b], float(truth.interaction[a, b])) for a, b in zip(i, j, strict=True)]
            texts = (
                csv_text(("source", "target", "interaction"), true_edges),
                csv_text(("row",), ([k + 1] for k in sorted(bad_rows.tolist()))),
                data_csv(names, X),
            )
            outputs.write(dict(zip(_NAMES, texts, strict=True)))
    truth_file, bad_file, data = (out / name for name in _NAMES)
    print_result(
        f"{n_rows} simulated rows of {n_columns} variables, {n_edges} true edges, {bad_rows.size} bad rows.\n"
        f"{data}\n{truth_file}  the true edges\n{bad_file}  numbers of the bad rows, from 1\n\n"
        f"Next: robscore fit {data} --family {family}"
    )


def _variables(columns: int) -> list[str]:
    return [f"v{k + 1:0{len(str(columns))}d}" for k in range(columns)]


def _marks() -> dict[str, Recognise]:
    """Recognise the files of an earlier simulation: by first lines, the data also by the files beside it."""
    from robscore.cli.output_files import begins_with

    is_truth, is_bad = begins_with(rb"source,target,interaction\n"), begins_with(rb"row\n(\d+\n)*\d*\Z")

    def is_data(path: Path) -> bool:
        with path.open(encoding="utf-8") as file:
            names = file.readline(1 << 24).rstrip("\n").split(",")
        beside = path.parent
        return names == _variables(len(names)) and is_truth(beside / _NAMES[0]) and is_bad(beside / _NAMES[1])

    return dict(zip(_NAMES, (is_truth, is_bad, is_data), strict=True))
