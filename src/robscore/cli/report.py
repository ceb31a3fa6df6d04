"""``robscore report``: draw the report of an earlier fit again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robscore.cli.console import guarded


def report(
    model: Annotated[Path, typer.Argument(help="A model.json that `robscore fit` wrote.", show_default=False)],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file. [default: report.html beside model.json]")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Another title.")] = None,
    coords: Annotated[
        Path | None, typer.Option("--coords", help="File with name, latitude, longitude: draws a map.")
    ] = None,
    outline: Annotated[
        Path | None, typer.Option("--outline", help="File with latitude, longitude: lines under the map.")
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the whole traceback of an error.")] = False,
) -> None:
    """Draw the report of an earlier fit again, without fitting and without the data.

    Examples
    --------
    - robscore report results/model.json

    - robscore report results/model.json --title 'Rain, 1911-1997' --coords stations.csv --out map.html
    """
    with guarded("robscore report", debug=debug):
        from dataclasses import replace

        from robscore._tools.optional import require
        from robscore.cli.reading import read_coordinates, read_outline
        from robscore.report.page import write_html
        from robscore.report.record import Record

        require("networkx")
        kept = Record.from_json(model)
        if title is not None:
            kept = replace(kept, title=title)
        if coords is not None:
            kept = replace(kept, coordinates=read_coordinates(coords, kept.names).tolist())
        if outline is not None:
            kept = replace(kept, outline=[line.tolist() for line in read_outline(outline)])
        page = out or model.parent / "report.html"
        if page.is_dir():
            page = page / "report.html"
        try:
            write_html(kept, page)
        except (KeyError, TypeError, IndexError, AttributeError, StopIteration) as error:
            raise ValueError(f"{model} is not a whole model.json ({error}); run `robscore fit` again.") from None
    typer.echo(f"{page}  open it in a browser")
