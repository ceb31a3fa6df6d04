"""What is slow to import waits until it is needed."""

import subprocess
import sys

CODE = """
import sys, robscore
print(*(name for name in ("numba", "matplotlib", "networkx", "jax") if name in sys.modules))
"""


def test_importing_robscore_leaves_heavy_libraries_alone():
    result = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


EARLY = """
import sys
sys.path[:0] = {paths}
before = set(sys.modules)
import robscore.cli.signals
print(*(set(sys.modules) - before))
"""


def test_signals_are_heeded_before_larger_libraries_are_loaded():
    """Whoever presses Ctrl-C before that sees a traceback of imports."""
    code = EARLY.format(paths=sys.path)
    result = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert not {"typing", "re", "pathlib", "typer", "numpy"} & set(result.stdout.split())
