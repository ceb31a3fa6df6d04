"""Stands before the real numba where this folder is on PYTHONPATH, in child processes too: as if there were none."""

raise ModuleNotFoundError("No module named 'numba': hidden by the tests", name="numba")
