"""Run benchmarks by name, or all of them: ``python -m benchmarks [--list] [NAME ...]``."""

import argparse
import importlib

NAMES = [
    "weights_speed",
    "weights_growth",
    "path_speed",
    "many_columns",
    "unpenalised_accuracy",
    "support_recovery",
    "blind_accuracy",
    "blind_recovery",
    "penalty_choice",
    "defaults",
    "edge_intervals",
    "stability_bound",
    "equality_level",
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)}")
    parser.add_argument("--list", action="store_true", help="say what each benchmark shows, and stop")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"no benchmark called {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        title = module.__doc__.splitlines()[0]
        print(f"{name}: {title}", flush=True)
        if not arguments.list:
            module.main()
            print(flush=True)


if __name__ == "__main__":
    main()
