"""Every sentence that the program can print is found in the source, for somebody to read; some words are never used."""

import pytest
from sentences import main, sentences


@pytest.fixture(scope="module")
def texts():
    return [sentence.text for sentence in sentences()]


def test_sentences_are_collected_whole_from_python_and_from_pages(texts, capsys):
    assert len(texts) > 800
    for whole in (
        "Input X contains NaN | The data have missing values",  # what two kinds of readers are told
        "Pass missing=impute to fill them in, or missing=drop to leave out incomplete rows",  # with names of arguments
        "Skip the picture",  # of a page
        "The column ${answer.labels} labels the rows.",  # of its script
    ):
        assert any(whole in text for text in texts), whole
    assert not any("Raise unless these are kinds" in text for text in texts)  # documentation
    main("labels the rows.")
    assert "app/assets/columns.js:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "riddle",
    [
        "count for nothing",
        "called by the column",
        "equal ones",
        "so many halves",
        "incomplete rows were not used",
        "entries that are not positive, so",
        "(Gamma)",
        "believe neither",
        "Keep every few",
        "when it has",
    ],
)
def test_no_sentence_is_a_riddle(texts, riddle):
    assert not [text for text in texts if riddle in text]
