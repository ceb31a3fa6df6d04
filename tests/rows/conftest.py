"""Pieces of rows have several threads, whatever linear algebra may use where the tests run."""

import pytest

from robscore._tools import threads


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch):
    monkeypatch.setattr(threads, "allowed_threads", lambda: 2)
