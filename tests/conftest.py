"""Settings for all tests."""

import os
from collections import Counter

import pytest
from fuzzing import COUNTS
from hypothesis import HealthCheck, settings

# No example fails because the machine is busy.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The same examples every time where nobody looks at a failure; new ones on a developer's machine.
settings.register_profile("ci", settings.get_profile("any machine"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "any machine")

# Child processes start in other folders, where a relative path would lead nowhere, or to another installation.
if "PYTHONPATH" in os.environ:
    os.environ["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, os.environ["PYTHONPATH"].split(os.pathsep)))

collect_ignore = ["hidden"]  # what it holds cannot be imported, which is its use
# Files that `make test` leaves to `make test-long`.
_LONG = {"test_benchmarks", "test_experiments", "test_runner", "test_sweep", "test_distributed", "test_fuzz_moments"}
_LONG |= {"test_cluster", "test_page_of_app", "test_without_numba", "test_from_r", "test_picture", "test_controls"}
_elsewhere = Counter()  # cases of fuzzers in other processes


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.name.startswith("test_fuzz"):
            item.add_marker(pytest.mark.fuzz)
        if item.path.stem in _LONG:
            item.add_marker(pytest.mark.long)


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["fuzzed"] = dict(COUNTS)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    _elsewhere.update(getattr(node, "workeroutput", {}).get("fuzzed", {}))


def pytest_terminal_summary(terminalreporter):
    counts = COUNTS + _elsewhere
    if counts:
        terminalreporter.section("cases of fuzzers")
        for kind, number in sorted(counts.items()):
            terminalreporter.line(f"{number:8,} {kind}")
