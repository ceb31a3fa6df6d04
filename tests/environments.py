"""The tests with the oldest versions that are promised, or with the newest there are.

``python tests/environments.py oldest`` takes Python 3.11 and the lowest versions that pyproject.toml allows;
``newest`` takes the newest Python that is on this machine or that uv can get, and the newest of everything. More
arguments go to pytest. The environments are kept in .venv-oldest and .venv-newest.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
OLDEST = (3, 11)
# What the oldest versions depend on is newer than they are, and says so.
BETWEEN_OTHERS = (
    *("-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning"),
    *("-W", "ignore:os.fork() was called:RuntimeWarning"),  # jax, of joblib's workers
)


def run(*command: str, check: bool = True, quiet: bool = False) -> subprocess.CompletedProcess:
    output = subprocess.PIPE if quiet else None
    return subprocess.run(command, cwd=ROOT, env=environment(), check=check, stdout=output, stderr=output, text=True)


def environment() -> dict[str, str]:
    """As it is, with the Pythons of pyenv on the path: its own commands hide all but one of them."""
    places = sorted(str(place) for place in Path.home().glob(".pyenv/versions/*/bin"))
    return {**os.environ, "PATH": os.pathsep.join([*places, os.environ.get("PATH", "")])}


def uv() -> str:
    """The command uv, installed beside this Python where it is not there."""
    own = Path(sys.executable).parent / "uv"
    if not own.exists() and shutil.which("uv") is None:
        run(sys.executable, "-m", "pip", "install", "--quiet", "uv")
    return str(own) if own.exists() else "uv"


def minors(listing: str) -> list[tuple[int, int]]:
    """Versions of Python that uv finds or can get, newest first, without those that are not released yet."""
    found = {
        tuple(int(part) for part in version["version"].split(".")[:2])
        for version in json.loads(listing)
        if version["implementation"] == "cpython" and version["version"].replace(".", "").isdigit()
    }
    return sorted((version for version in found if version >= OLDEST), reverse=True)


def install(command: str, version: tuple[int, int], folder: Path, *options: str) -> bool:
    """Make the environment anew; whether that was possible."""
    python = ".".join(map(str, version))
    shutil.rmtree(folder, ignore_errors=True)
    tried = run(command, "venv", "--quiet", "--python", python, str(folder), check=False, quiet=True)
    if tried.returncode == 0:
        place = ("--python", str(folder / "bin" / "python"))
        tried = run(
            command, "pip", "install", "--quiet", *place, *options, "--editable", ".[test]", check=False, quiet=True
        )
    if tried.returncode:
        print(f"Python {python} cannot be used here:\n{tried.stderr.strip()}", flush=True)
    return tried.returncode == 0


def main() -> int:
    which, *arguments = sys.argv[1:]
    folder, command = ROOT / f".venv-{which}", uv()
    if which == "oldest":
        made = OLDEST if install(command, OLDEST, folder, "--resolution", "lowest-direct") else None
    else:
        listing = run(command, "python", "list", "--output-format", "json", quiet=True).stdout
        made = next((version for version in minors(listing) if install(command, version, folder, "--upgrade")), None)
    if made is None:
        print(f"No environment for {which} could be made; is there a Python {'.'.join(map(str, OLDEST))}, or network?")
        return 1
    python = str(folder / "bin" / "python")
    run(python, "-c", "import sys; print('Python', sys.version)")
    run(command, "pip", "list", "--python", python)
    quiet = BETWEEN_OTHERS if which == "oldest" else ()
    return run(python, "-m", "pytest", *quiet, *arguments, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
