"""Libraries that only some features need."""

from __future__ import annotations

import importlib.util

_EXTRAS = {
    "dask": "dask",
    "jax": "autodiff",
    "matplotlib": "plot",
    "networkx": "plot",
    "openpyxl": "cli",
    "pandas": "cli",
    "pyarrow": "cli",
    "starlette": "app",
    "uvicorn": "app",
}


def require(library: str) -> None:
    """Raise, naming what to install, unless a library is installed."""
    if importlib.util.find_spec(library) is None:
        raise ImportError(f"This needs {library}: pip install 'robscore[{_EXTRAS[library]}]'")
