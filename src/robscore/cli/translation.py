"""Messages of the library that do not carry their facts yet, translated as far as their text allows."""

from __future__ import annotations

import re

# Arguments of the library and what they are called here.
_OPTIONS = {
    "alpha": "alpha",
    "contamination": "contamination",
    "family": "family",
    "missing": "missing",
    "n_blocks": "n-blocks",
    "n_edges": "edges",
    "n_jobs": "jobs",
    "random_state": "seed",
    "scale": "scale",
    "select": "select",
}
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})=('[^']*'|\"[^\"]*\"|[\w.+-]*\w)")


def translated(message: str) -> str:
    """A message of the library in the words of the command line: ``missing='drop'`` becomes ``--missing drop``."""
    message = _ARGUMENT.sub(_as_option, message)
    message = re.sub(r"\(first in row (\d+)\)", lambda found: f"(first in data row {int(found[1]) + 1})", message)
    for theirs, ours in (
        ("Input X contains NaN", "The data have missing values"),
        ("Input X contains infinity", "The data contain infinity"),
        ("in data passed to RobustGraph", "in the data"),
        ("Data passed to RobustGraph hold", "The data hold"),
        ("Pass --missing", "Say --missing"),
        ("pass --scale", "say --scale"),
        ("shuffle=True", "--shuffle"),
        ("fit_location=False", "--set fit_location=false"),
        (", or an object of rs.families", ""),
        ("a diagonal_multiplier", "--set diagonal_multiplier=0.1"),
        ("raise max_iter", "say --set max_iter=100000"),
        ("lower alpha_min_ratio", "say --set alpha_min_ratio=0.0001"),
        ("raise max_edges", "say --set max_edges=NUMBER"),
        (" and these penalty_weights", ""),
    ):
        message = message.replace(theirs, ours)
    return " ".join(message.split())


def _as_option(found: re.Match[str]) -> str:
    value = found[2].strip("'\"")
    return f"--{_OPTIONS[found[1]]} {'none' if value == 'None' else value}"
