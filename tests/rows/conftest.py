"""Pieces of rows have several threads, whatever linear algebra may use where the tests run."""

import pytest

from robscore import _threads


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch):
    monkeypatch.setattr(_threads, "allowed_threads", lambda: 2)
