"""The code stays easy to find one's way in: few modules at the top, short files, short functions, every name once."""

import ast
from collections import Counter
from pathlib import Path

import robscore

PACKAGE = Path(robscore.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = Path(__file__).parent
LONGEST_FILE, LONGEST_FUNCTION, MOST_AT_THE_TOP = 600, 60, 12
MOST_REACHED_BY_TESTS = 60


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


def test_no_two_modules_have_one_name():
    """A name of a file says what question it answers, so that it is found by it; ``__init__`` is no such name."""
    names = Counter(path.stem for path in SOURCES if path.stem != "__init__")
    assert {name for name, count in names.items() if count > 1} <= {"power", "simplex"}  # those of public classes


def test_no_two_classes_have_one_name():
    defined = (node for path in SOURCES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = Counter(node.name for node in defined if isinstance(node, ast.ClassDef))
    # A family and a weight of the boundary; a family and its domain.
    assert {name for name, count in names.items() if count > 1} == {"Power", "Simplex"}


def in_a_package(name):
    """Whether this is a module inside a package of robscore, and not the front of one."""
    return name.count(".") > 1 and PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py").exists()


def exported(package):
    """What the front of a package gives."""
    front = PACKAGE.joinpath(*package.split(".")[1:], "__init__.py")
    tree = ast.parse(front.read_text(encoding="utf-8")) if front.exists() else ast.Module([], [])
    return {
        alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }


def imported(path):
    """Modules inside packages of robscore that a file imports, or names from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if in_a_package(alias.name))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("robscore"):
            if in_a_package(node.module):
                yield node.module
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if in_a_package(name) and alias.name not in exported(node.module):
                    yield name


def test_tests_use_what_is_public_or_the_front_of_a_package():
    """But for some modules, whose inner workings have laws of their own."""
    reached = {name for path in TESTS.rglob("*.py") for name in imported(path)}
    assert len(reached) <= MOST_REACHED_BY_TESTS, sorted(reached)
