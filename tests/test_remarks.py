"""Remarks become warnings: as Python users read them, from the line they wrote, with the facts."""

import warnings

import pytest

from robscore._tools.messages import Message, Remark, Setting, first_few, first_few_parts


def test_a_warning_reads_as_the_remark_and_carries_its_parts():
    remark = Remark(Message("Pass ", Setting("shuffle", True), "."), RuntimeWarning)
    with pytest.warns(RuntimeWarning, match=r"^Pass shuffle=True\.$") as caught:
        remark.warn()
    assert caught[0].message.message.parts == ("Pass ", Setting("shuffle", True), ".")
    assert str(remark.message) == "Pass shuffle=True."
    with pytest.warns(UserWarning, match=r"^Plain\.$") as caught:
        Remark("Plain.", UserWarning).warn()
    assert caught[0].message.message.parts == ("Plain.",)


def test_a_warning_comes_from_the_line_that_is_asked_for():
    def fit():
        Remark("Here.", UserWarning).warn(stacklevel=2)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
        Remark("There.", UserWarning).warn()
    assert [warning.filename for warning in caught] == [__file__] * 2
    assert caught[1].lineno == caught[0].lineno + 1


def test_the_first_few_of_messages_with_parts():
    few = [Message("in ", Setting("a", k)) for k in range(7)]
    listed = first_few_parts(few, "; ")
    assert str(listed) == first_few([f"in a={k}" for k in range(7)], "; ")
    assert str(listed).endswith("in a=4 and 2 more")
    assert listed.worded(lambda part: f"--{part.name}").startswith("in --a; in --a")
    assert str(first_few_parts([])) == first_few([]) == ""
