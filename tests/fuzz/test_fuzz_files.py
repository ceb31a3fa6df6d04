"""Files that are cut off or have wrong bytes in them: rows that are finite, or an error that names the file."""

import numpy as np
import pandas as pd
import pytest
from fuzzing import count, examples
from hostile import Dice, only_ours, seeds
from hypothesis import example, given, settings

import robscore as rs

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A few Parquet files that are as they should be."""
    folder = tmp_path_factory.mktemp("whole")
    X = np.random.default_rng(0).gamma(2.0, size=(40, 3))
    frame = pd.DataFrame(X, columns=["basel", "bern", "chur"])
    kinds = {
        "plain": (frame, {}),
        "index": (frame.set_index("chur"), {}),
        "groups": (frame.astype("float32"), {"row_group_size": 9}),
        "gzip": (frame.assign(days=range(40)), {"compression": "gzip"}),
    }
    for name, (table, options) in kinds.items():
        table.to_parquet(folder / f"{name}.parquet", **options)
    return sorted(folder.iterdir())


def damaged(dice, whole):
    """The bytes with some of them changed, left out, put in twice, or cut off."""
    part = bytearray(whole)
    for _ in range(dice.pick([0, 1, 1, 2, 5])):
        size = len(part)
        at = int(dice.rng.integers(0 if dice.rng.random() < 0.5 else size // 2, size))
        what = dice.pick(["bit", "byte", "byte", "cut", "drop", "twice"])
        if what == "bit":
            part[at] ^= 1 << int(dice.rng.integers(8))
        elif what == "byte":
            part[at] = int(dice.rng.integers(256))
        elif what == "cut":
            del part[at:]
        elif what == "drop":
            del part[at : at + 7]
        else:
            part[at:at] = part[at : at + 9]
        if len(part) < 20:
            break
    return bytes(part)


@settings(max_examples=examples(0.05, 60))
@given(seed=seeds)
@example(seed=492_903_402_763)  # numbers of rows below zero
def test_parquet_files(files, tmp_path_factory, seed):
    dice = Dice(seed)
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    path.write_bytes(damaged(dice, dice.pick(files).read_bytes()))
    with only_ours("Parquet files", ["damaged.parquet"]):
        rows = rs.ParquetRows(path)
        (found,) = rows.pieces(np.array([0, rows.n_rows]))
        assert found.shape == (rows.n_rows, rows.n_columns)
        count("Parquet files, read")


@settings(max_examples=examples(0.02, 20))
@given(seed=seeds)
def test_notes_of_pandas_in_parquet_files(tmp_path_factory, seed):
    dice = Dice(seed)
    note = dice.pick([
        b"", b"{", b"null", b"[]", b"3", b'{"index_columns": null}', b'{"index_columns": 3}', b"\xff\xfe",
        b'{"index_columns": [{"kind": "range"}, "bern"]}', b"[" * 5000, b'{"columns": []}',
    ])  # fmt: skip
    table = pq.ParquetFile(_plain(tmp_path_factory)).read().replace_schema_metadata({b"pandas": note})
    path = tmp_path_factory.getbasetemp() / "noted.parquet"
    pq.write_table(table, path)
    with only_ours("Parquet files", ["noted.parquet"]):
        rows = rs.ParquetRows(path)
        assert set(rows.names) >= {"basel", "chur"}


def _plain(tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "plain.parquet"
    if not path.exists():
        X = np.random.default_rng(0).gamma(2.0, size=(40, 3))
        pd.DataFrame(X, columns=["basel", "bern", "chur"]).to_parquet(path)
    return path
