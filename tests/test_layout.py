"""The code stays easy to find one's way in: few modules at the top, short files, short functions."""

import ast
from pathlib import Path

import robscore

PACKAGE = Path(robscore.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION, MOST_AT_THE_TOP = 600, 60, 12


def test_few_modules_stand_beside_the_packages():
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_AT_THE_TOP


def test_files_are_short():
    scripts = [path for name in ("report", "app") for path in (PACKAGE / name / "assets").iterdir() if path.is_file()]
    lengths = {
        f"{path.parent.name}/{path.name}": len(path.read_text(encoding="utf-8").splitlines())
        for path in [*SOURCES, *scripts]
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}


def test_functions_are_short():
    """Without their docstrings and signatures, in which options are documented."""
    long = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                length = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if length > LONGEST_FUNCTION:
                    long[f"{path.name}: {node.name}"] = length
    assert long == {}
