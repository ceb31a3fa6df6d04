"""Messages of the library as the command line says them: options for arguments, rows counted from 1."""

import warnings

import numpy as np
import pytest

from robscore._tools.messages import ArgumentError, Message, Phrase, Remark, RowAt, Setting, UsageError
from robscore.cli.command_options import in_options
from robscore.cli.console import message_of, warnings_kept


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Setting("missing", "drop"), "--missing drop"),
        (Setting("n_edges", 9), "--edges 9"),
        (Setting("n_edges"), "--edges"),
        (Setting("n_blocks", "auto"), "--n-blocks auto"),
        (Setting("alpha", 0.05), "--alpha 0.05"),
        (Setting("scale", None), "--scale none"),
        (Setting("select", ["ebic", "cv"]), "--select ebic,cv"),
        (Setting("shuffle", True), "--shuffle"),
        (Setting("shuffle"), "--shuffle"),
        (Setting("shuffle", False), "--set shuffle=false"),
        (Setting("fit_location", False), "--set fit_location=false"),
        (Setting("max_memory", "2 GB"), "--set max_memory='2 GB'"),
        (Setting("max_memory", None), "--set max_memory=none"),
        (Setting("tol", np.float64(0.5)), "--set tol=0.5"),
        (Setting("fit_location", np.False_), "--set fit_location=false"),
        (Setting("max_edges"), "--set max_edges=..."),
        (RowAt(0, "row 0 of a file"), "data row 1"),
        (Phrase("Input X contains NaN", "The data have missing values"), "The data have missing values"),
    ],
)
def test_every_part_has_its_words(part, words):
    assert in_options(part) == words


def test_an_option_that_is_said_can_be_typed():
    """What the command line says about a value, it takes."""
    import shlex

    from robscore.cli.command_options import as_value

    for value in (3, 0.5, None, True, "2 GB", "and"):
        option, assignment = shlex.split(in_options(Setting("anything", value)))
        assert option == "--set"
        assert as_value(assignment.removeprefix("anything=")) == value


def test_errors_are_worded_and_stay_as_they_are_in_python():
    error = UsageError("Column 'a' (first in ", RowAt(3, "row 3"), "). Use ", Setting("missing", "drop"), ".")
    assert str(error) == "Column 'a' (first in row 3). Use missing='drop'."
    assert message_of(error) == "Column 'a' (first in data row 4). Use --missing drop."
    assert message_of(ArgumentError("n_edges", 100, "cannot be reached.")) == "--edges 100 cannot be reached."
    assert message_of(ValueError("in one\n  line")) == "in one line"
    assert message_of(FileNotFoundError(2, "No such file", "x.csv")) == "x.csv: No such file."


def test_warnings_are_kept_once_and_worded():
    remark = Remark(Message("Pass ", Setting("shuffle", True), "."), UserWarning)
    with warnings_kept() as kept:
        remark.warn()
        remark.warn()
        warnings.warn("Something else.", stacklevel=1)
    assert kept == ["Pass --shuffle.", "Something else."]
