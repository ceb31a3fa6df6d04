"""Cells, files of all kinds, and what can happen to them: for fuzzers of the command line."""

import gzip
from datetime import datetime

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from robscore.reading.cell_values import MISSING

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=20).map(str),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["1e400", "-1e-400", "007", "+.5", "5.", "1E5", "1e", "--1", "1_0", "0x1p3", "1.2.3", "٣", " 7 "]),
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8),
    st.text('",;\t|\n\r a1', max_size=6),
    st.sampled_from([*MISSING, "True", "false", "Zürich", "inf", "x" * 300]),
)
CELLS = st.one_of(NUMBERS, NUMBERS, TEXTS)


NOON = datetime(2024, 1, 1, 12)  # so that files are the same whenever they are made, and seeds find what they found


def whole_files(folder):
    """One of each kind."""
    X = np.random.default_rng(0).gamma(2.0, size=(12, 3)).round(3)
    frame = pd.DataFrame(X, columns=["a", "b", "ü"])
    frame.insert(0, "day", [f"2024-01-{k + 1:02d}" for k in range(12)])
    text = frame.to_csv(index=False)
    contents = {
        "x.csv": text.encode(),
        "x.tsv": text.replace(",", "\t").encode("utf-16"),
        "x.csv.gz": b"",
        "x.txt": b"",
    }
    contents["x.csv.gz"] = gzip.compress(contents["x.csv"], mtime=0)
    contents["x.txt"] = frame.to_csv(index=False, sep=";", decimal=",").encode("cp1252")
    frame.to_parquet(folder / "x.parquet")
    with pd.ExcelWriter(folder / "x.xlsx", engine="openpyxl") as writer:
        frame.to_excel(writer, index=False)
        writer.book.properties.created = writer.book.properties.modified = NOON
    frame.to_feather(folder / "x.feather")
    frame.to_stata(folder / "x.dta", write_index=False, version=118, time_stamp=NOON)
    frame.to_json(folder / "x.jsonl", orient="records", lines=True)
    typed = ("x.parquet", "x.xlsx", "x.feather", "x.dta", "x.jsonl")
    return {**contents, **{name: (folder / name).read_bytes() for name in typed}}


@st.composite
def corrupted(draw, contents):
    """A file of any kind with some bytes changed, cut out, doubled or put in."""
    name = draw(st.sampled_from(sorted(contents)))
    content = bytearray(contents[name])
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(content)))
        much = draw(st.integers(0, 30))
        change = draw(st.sampled_from(["flip", "cut", "double", "end", "insert"]))
        if change == "flip" and at < len(content):
            content[at] ^= draw(st.integers(1, 255))
        elif change == "cut":
            del content[at : at + much]
        elif change == "double":
            content[at:at] = content[at : at + much] * draw(st.sampled_from([1, 1, 100]))
        elif change == "end":
            del content[at:]
        else:
            content[at:at] = draw(
                st.sampled_from([b'"', b",", b"\n", b"\r", b"\0", b";", b"\t", b"=", b"\xff\xfe", b"1e999"])
            )
    return name, bytes(content)
