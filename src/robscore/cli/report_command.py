"""``robscore report``: draw the report of an earlier fit again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from robscore.cli.console import Debug, guarded, print_result


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
    groups: Annotated[
        Path | None, typer.Option("--groups", help="File with name, group: colours the variables by their group.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is not a robscore report.")] = False,
    debug: Debug = False,
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
        from robscore.cli.output_files import OutputFiles, is_report
        from robscore.cli.signals import clearing_away
        from robscore.reading import read_coordinates, read_groups, read_outline
        from robscore.report.page import html_page
        from robscore.report.record import Record

        require("networkx")
        kept = Record.from_json(model)
        if title is not None:
            kept = replace(kept, title=title)
        if coords is not None:
            kept = replace(kept, coordinates=read_coordinates(coords, kept.names).coordinates.tolist())
        if outline is not None:
            kept = replace(kept, outline=[line.tolist() for line in read_outline(outline)])
        if groups is not None:
            kept = replace(kept, groups=read_groups(groups, kept.names))
        page = out or model.parent / "report.html"
        if page.is_dir():
            page = page / "report.html"
        inputs = {"the model.json": model, "the file of --coords": coords, "that of --outline": outline}
        inputs["that of --groups"] = groups
        outputs = OutputFiles(page.parent, {page.name: is_report}, inputs, force)
        outputs.check()
        try:
            text = html_page(kept)
        except (LookupError, TypeError, AttributeError, StopIteration, ArithmeticError) as error:
            raise ValueError(f"{model} is not a whole model.json ({error}); run `robscore fit` again.") from None
        with clearing_away():
            outputs.write({page.name: text})
    print_result(f"{page}  open it in a browser")
