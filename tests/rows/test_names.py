"""Names of columns tell them apart, however many there are."""

import pytest

import robscore as rs
from robscore.rows import check_names, repeated


def test_names_that_repeat_are_named_in_order():
    assert repeated(["b", "a", "b", "c", "a"]) == ["a", "b"]
    with pytest.raises(ValueError, match=r"must be unique, but '1' occurs more than once"):
        check_names([1, "1"])
    many = [f"v{k}" for k in range(7)] * 2
    with pytest.raises(ValueError, match=r"but 'v0', 'v1', 'v2', 'v3', 'v4' and 2 more occur more than once"):
        check_names(many)


def test_many_names():
    names = [f"v{k}" for k in range(50_000)]
    assert check_names(names) == names
    with pytest.raises(ValueError, match="'v7' occurs more than once"):
        rs.penalty_weights([*names, "v7"])
