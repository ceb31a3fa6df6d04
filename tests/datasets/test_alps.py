"""The ridge, the simulated rain, and the reader of ECA&D's files."""

import csv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import robscore as rs
from robscore.paper.alps import MONTHS, STATIONS, YEARS

D = rs.datasets
ECAD = Path(__file__).parents[2].parent / "shared" / "data" / "ecad"


@pytest.mark.skipif(not ECAD.exists(), reason="ECA&D's data, which may not be copied into the project, are not at hand")
def test_the_real_files_give_the_known_monthly_totals():
    totals = D.read_ecad(ECAD / "ECA_blend_rr_alps30.zip", stations=STATIONS, years=YEARS, months=MONTHS, suspect="use")
    rows = list(csv.reader((ECAD / "alps30_1911_1997" / "monthly_precipitation_mm.csv").read_text().splitlines()))
    assert [str(station.id) for station in totals.stations] == rows[0][1:]
    assert list(totals.months) == [row[0] for row in rows[1:]]
    np.testing.assert_array_equal(totals.X, np.array([[float(value) for value in row[1:]] for row in rows[1:]]))
    stations = list(csv.DictReader((ECAD / "alps30_1911_1997" / "stations.csv").read_text().splitlines()))
    np.testing.assert_allclose([s.latitude for s in totals.stations], [float(s["lat"]) for s in stations], atol=1e-3)
    np.testing.assert_allclose([s.longitude for s in totals.stations], [float(s["lon"]) for s in stations], atol=1e-3)
    assert totals.suspect_days.tolist() == [int(s["n_suspect_days"]) for s in stations]
    crossing = D.crosses_ridge([[s.latitude, s.longitude] for s in totals.stations])
    assert crossing[np.triu_indices(30, k=1)].mean() == pytest.approx(0.425, abs=0.002)


STATION_LIST = """EUROPEAN CLIMATE ASSESSMENT & DATASET (ECA&D)

STAID,STANAME                                 ,CN,      LAT,       LON,HGHT

    1,NORTH, THE                              ,CH,+47:30:00,+008:30:36,  400
    2,SOUTH                                   ,IT,+45:00:00,-009:15:00,  100
    3,GAPPY                                   ,IT,+45:00:00,+009:15:00,  100
"""


def daily(number, *, gap=False, suspect=False):
    lines = ["some preamble", "", "STAID, SOUID,    DATE,   RR, Q_RR"]
    for day in range(1, 32):
        amount, quality = 10 * number + day, 0
        if gap and day == 7:
            amount, quality = -9999, 9
        if suspect and day == 9:
            quality = 1
        lines.append(f"{number:6d},   123,200101{day:02d},{amount:5d},{quality:5d}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "stations.txt").write_text(STATION_LIST)
    (tmp_path / "RR_STAID000001.txt").write_text(daily(1, suspect=True))
    (tmp_path / "RR_STAID000002.txt").write_text(daily(2))
    (tmp_path / "RR_STAID000003.txt").write_text(daily(3, gap=True))
    return tmp_path


SPAN = {"years": (2001, 2001), "months": [1]}


def test_folders_and_zip_files_are_read_alike(folder, tmp_path):
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.glob("*.txt"):
            file.write(path, f"inside/{path.name}")
    for source in (folder, archive):
        totals = D.read_ecad(source, suspect="use", **SPAN)
        assert [s.id for s in totals.stations] == [1, 2]  # the third misses a day
        np.testing.assert_allclose(totals.X, [[(31 * 10 + 496) / 10, (31 * 20 + 496) / 10]])
        assert totals.months == ("2001-01",)
        assert totals.suspect_days.tolist() == [1, 0]
    north, south = totals.stations
    assert north.name == "NORTH,THE"
    assert (north.latitude, north.longitude) == pytest.approx((47.5, 8.51))
    assert south.longitude == pytest.approx(-9.25)


def test_stations_are_chosen_by_box_and_suspect_days_can_count_as_missing(folder):
    totals = D.read_ecad(folder, box=(47.0, 48.0, 8.0, 9.0), suspect="use", **SPAN)
    assert [s.id for s in totals.stations] == [1]
    assert [s.id for s in D.read_ecad(folder, **SPAN).stations] == [2]


def test_months_with_missing_or_suspect_days_are_nan_on_request(folder):
    text = daily(1, suspect=True)
    later = [line.replace(",200101", ",200103") for line in daily(1).splitlines()[3:]]
    (folder / "RR_STAID000001.txt").write_text(text + "\n".join(later) + "\n")
    totals = D.read_ecad(folder, stations=[1], years=(2001, 2001), months=[1, 3], incomplete="nan")
    np.testing.assert_array_equal(np.isnan(totals.X), [[True], [False]])
    assert totals.suspect_days.tolist() == [1]
    with pytest.raises(ValueError, match=r"2001-01.*1 days are marked as suspect.*incomplete='nan'"):
        D.read_ecad(folder, stations=[1], years=(2001, 2001), months=[1, 3])


@pytest.mark.parametrize(
    ("spoil", "options", "error", "match"),
    [
        (lambda f: f / "nowhere", {}, FileNotFoundError, "does not exist"),
        (lambda f: (f / "stations.txt").unlink(), {}, FileNotFoundError, "no file stations.txt"),
        (lambda f: (f / "stations.txt").write_text("nothing"), {}, ValueError, "lists no station"),
        (lambda f: (f / "RR_STAID000001.txt").write_text("cut"), {}, ValueError, "no line of column names"),
        (
            lambda f: (f / "RR_STAID000001.txt").write_text(daily(1)[:-12]),
            {},
            ValueError,
            "RR_STAID000001.txt is cut off|not a whole number",
        ),
        (
            lambda f: (f / "RR_STAID000001.txt").write_text(daily(1).replace("20010105", "20010104")),
            {},
            ValueError,
            "RR_STAID000001.txt holds a day twice",
        ),
        (
            lambda f: (f / "RR_STAID000001.txt").write_text(daily(2)),
            {},
            ValueError,
            r"RR_STAID000001.txt holds days of station 2",
        ),
        (
            lambda f: (f / "stations.txt").write_text(STATION_LIST.replace("+45:00:00,-009:15:00", "+45,-9")),
            {},
            ValueError,
            "stations.txt has a line that cannot be read",
        ),
        (lambda f: None, {"years": 1911}, ValueError, "years=1911 must be a pair"),
        (lambda f: None, {"stations": [1, 1]}, ValueError, "must be different numbers"),
        (lambda f: None, {"stations": [1], "box": (0, 1, 0, 1)}, ValueError, "given without box"),
        (lambda f: None, {"stations": [3]}, ValueError, r"Station 3 \(GAPPY\) has no complete record of 2001-01"),
        (lambda f: None, {"stations": [77]}, ValueError, "no daily file for station 77"),
        (lambda f: None, {"stations": [1], "years": (1999, 2001)}, ValueError, "no complete record of 1999-01"),
        (lambda f: None, {"years": (2005, 2001)}, ValueError, r"years=\(2005, 2001\)"),
        (lambda f: None, {"suspect": "maybe"}, ValueError, "suspect='maybe'"),
        (lambda f: None, {"box": (0, 1, 0, 1)}, ValueError, "no station inside box"),
    ],
)
def test_files_that_cannot_be_used_are_named(folder, spoil, options, error, match):
    changed = spoil(folder)
    path = changed if isinstance(changed, Path) else folder
    with pytest.raises(error, match=match):
        D.read_ecad(path, **{**SPAN, **options})


def test_a_broken_zip_file_is_named(tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(b"not a zip")
    with pytest.raises(ValueError, match="is not a zip file"):
        D.read_ecad(path)


def test_a_damaged_member_of_a_zip_file_is_named(folder, tmp_path):
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in folder.glob("*.txt"):
            file.write(path, path.name)
    content = bytearray(archive.read_bytes())
    start = content.index(b"RR_STAID000001.txt") + 60
    for k in range(start, start + 40):
        content[k] ^= 255
    archive.write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"RR_STAID000001.txt in .* cannot be read"):
        D.read_ecad(archive, **SPAN)


@pytest.mark.long
@pytest.mark.skipif(not ECAD.exists(), reason="ECA&D's data, which may not be copied into the project, are not at hand")
def test_table_1_on_the_real_data(tmp_path):
    from robscore.paper import reproduce
    from robscore.paper.alps import Alps

    rows = reproduce(Alps(str(ECAD / "ECA_blend_rr_alps30.zip")), quick=True, out=tmp_path).rows
    assert {row["alps_fdr"] for row in rows if row["contamination"] == 0} == {0}
    fdr = {row["method"]: row["alps_fdr"] for row in rows if row["contamination"] == 0.05}
    assert fdr["GMoM"] < 6 < fdr["classic"] < fdr["Gaussian graphical model"]


def test_the_ridge_parts_the_towns_as_a_map_does():
    rain = D.simulated_alpine_rain(10)
    south = {"Turin", "Aosta", "Novara", "Milan", "Lugano", "Locarno", "Bergamo", "Verona", "Trento", "Bolzano"}
    south |= {"Belluno", "Udine"}
    crossing = D.crosses_ridge(rain.coordinates)
    is_south = np.array([name in south for name in rain.names])
    np.testing.assert_array_equal(crossing, is_south[:, None] != is_south[None])
    edges = (rain.interaction != 0) & ~np.eye(30, dtype=bool)
    assert not (edges & crossing).any()
    assert edges.sum() == 90


def test_simulated_rain_follows_its_model():
    rain = D.simulated_alpine_rain(3000)
    model = rs.RobustScoreMatching("sqrt", n_blocks=1).fit(rain.X)
    scale = np.sqrt(np.outer(rain.interaction.diagonal(), rain.interaction.diagonal()))
    assert np.abs((model.interaction_ - rain.interaction) / scale).mean() < 0.05
    np.testing.assert_array_equal(rain.X[:100], D.simulated_alpine_rain(100).X)


def test_coordinates_must_be_coordinates():
    with pytest.raises(ValueError, match="latitude and a longitude"):
        D.crosses_ridge([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="n_rows=0"):
        D.simulated_alpine_rain(0)


@pytest.mark.long
@pytest.mark.skipif(not ECAD.exists(), reason="ECA&D's data, which may not be copied into the project, are not at hand")
def test_reweighting_leaves_real_rain_alone_and_drops_bad_months():
    totals = D.read_ecad(ECAD / "ECA_blend_rr_alps30.zip", stations=STATIONS, years=YEARS, months=MONTHS, suspect="use")
    crossing = D.crosses_ridge(np.array([[station.latitude, station.longitude] for station in totals.stations]))
    unusual = np.flatnonzero(~rs.RobustGraph("sqrt", n_edges=45).fit(totals.X).row_weights_.any(axis=1))
    assert unusual.size <= 2  # of 261: a month without rain at a single station, for one
    for share in (0.05, 0.2):
        dirty, bad = rs.simulate.contaminate_pareto(totals.X, share, random_state=0)
        graph = rs.RobustGraph("sqrt", n_edges=45).fit(dirty)
        dropped = np.flatnonzero(~graph.row_weights_.any(axis=1))
        assert np.isin(bad, dropped).mean() > 0.9
        assert np.isin(dropped, [*bad, *unusual]).mean() > 0.9
        assert crossing[graph.graph_.adjacency].mean() < 0.03
