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
