"""Run benchmarks by name, or all of them: ``python -m benchmarks [--list] [NAME ...]``.

``python -m benchmarks NAME --save`` also writes what is printed to ``docs/results/NAME.md``, with the command, the
commit and the date. Options of the benchmark itself follow two dashes: ``... wrong_cells --save -- --sets 2``.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from benchmarks.tools.pages import save

NAMES = [
    "rivals_speed",
    "growth",
    "many_columns",
    "many_rows",
    "any_rows",
    "unknown_contamination_error",
    "unknown_contamination_auc",
    "penalty_choice",
    "false_edges",
    "select_fdr",
    "gamma_weight",
    "defaults",
    "edge_intervals",
    "stability_bound",
    "equality_level",
    "bad_rows",
    "clean_rows",
    "mcd_comparison",
    "sensitivity",
    "defaults_speed",
    "alpine_months",
    "which_family",
    "mixed_marginals",
    "fit_checked",
    "groups_of_rows",
    "cautions_on_clean_rows",
    "covariates",
    "effect_intervals",
    "series",
    "rain_given_past",
    "groups_joint",
    "missing_cells",
    "wrong_cells",
    "unusual_cells",
    "ablate_cells",
    "cells_cost",
    "cellmcd_comparison",
    "mixed_tables",
    "mixed_rivals",
    "real_tables",
    "real_halves",
    "ablate_rows",
    "rain_and_answers",
    "mixed_cost",
    "walk",
]


def run(names: Sequence[str], *, only_list: bool = False) -> None:
    """Say what each benchmark shows, and run it."""
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        title = module.__doc__.splitlines()[0]
        print(f"{name}: {title}", flush=True)
        if not only_list:
            module.main()
            print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)}")
    parser.add_argument("--list", action="store_true", help="say what each benchmark shows, and stop")
    parser.add_argument("--save", action="store_true", help="write what is printed to docs/results/NAME.md")
    asked = sys.argv[1:]
    end = asked.index("--") if "--" in asked else len(asked)
    arguments, options = parser.parse_args(asked[:end]), asked[end + 1 :]
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    if options and not (arguments.save and len(arguments.names) == 1):
        parser.error("options of a benchmark need --save and one NAME; or run python -m benchmarks.NAME")
    if not arguments.save:
        run(arguments.names or NAMES, only_list=arguments.list)
        return
    for name in arguments.names or NAMES:
        print(f"written to {save(name, options)}", flush=True)


if __name__ == "__main__":
    main()
