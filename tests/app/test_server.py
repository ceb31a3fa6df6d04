"""The server without a browser: who is refused, what is stored and for how long, and how work is stopped."""

import asyncio
import io
import random
import re
import socket
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from app.serving import pretending, runs, soon

from robscore.app.routes import all_of
from robscore.app.uploads import NoRoomError, display_name, receive, stored_as

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with pretending(tmp_path_factory.mktemp("served")) as running:
        yield running


@pytest.fixture
def tab(server):
    return server.tab()


def state(server, tab):
    return server.client.get(tab + "state").json()


def ended(server, tab):
    soon(lambda: state(server, tab)["job"]["state"] != "running", "the job does not end")
    return state(server, tab)


def test_without_the_token_all_is_refused(server, tab):
    bare = f"http://127.0.0.1:{server.port}/"
    token = server.address.split("/")[3]
    assert len(token) >= 32
    rest = tab[len(server.address) :]
    for start in (
        "",
        "x/",
        token[:-1] + "/",
        f"{token}x/",
        f"{token.swapcase()}/",
        f"%2F{token}/",
        f"x/{token}/",
        "é/",
    ):
        for path in ("", "assets/main.js", rest, rest + "state"):
            answer = server.client.get(bare + start + path)
            assert answer.status_code == 403
            assert token not in answer.text
    assert server.client.put(bare + "x/" + rest + "data", content=b"a,b\n").status_code == 403
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(f"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        assert connection.recv(99).startswith(b"HTTP/1.1 403")
    assert server.files() == []


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.:{port}"]
)
def test_another_name_for_this_machine_is_refused(server, tab, host):
    headers = {"host": host.format(port=server.port)}
    assert server.client.get(tab, headers=headers).status_code == 403
    assert server.client.get(tab, headers={"host": f"localhost:{server.port}"}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_pages_of_other_sites_cannot_do_anything(server, tab, origin):
    headers = {"origin": origin}
    assert server.client.put(tab + "data", content=b"a,b\n", headers=headers).status_code == 403
    assert server.client.post(tab + "stop", headers=headers).status_code == 403
    answer = server.client.get(tab, headers=headers)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "set-cookie" not in answer.headers


def test_every_answer_has_its_headers(server, tab):
    for path in (
        tab,
        tab + "state",
        server.address + "assets/main.js",
        server.address + "no",
        server.address + "../no",
    ):
        headers = server.client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_it_listens_on_the_loopback_only(server):
    port = f"{server.port:04X}"
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{port}")
    ]
    assert listening == [f"0100007F:{port}"]


def test_its_folder_is_for_one_user(server):
    (folder,) = (path for path in server.temporary.iterdir() if path.name.startswith("robscore-app-"))
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "open.html").stat().st_mode & 0o777 == 0o600
    assert server.address in (folder / "open.html").read_text()


def test_100_megabytes_pass_through_little_memory(server, tab):
    def peak():
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) * 1024

    piece = b"1.25,2.5,3.75,5.0\n" * (MEGABYTE // 18)
    size = 100 * MEGABYTE // len(piece) * len(piece)
    before = peak()
    pieces = (piece for _ in range(size // len(piece)))
    answer = server.client.put(tab + "data?name=large.csv", content=pieces)
    assert answer.json()["file"] == {"name": "large.csv", "size": size}
    assert size > 99 * MEGABYTE
    assert peak() - before < 30 * MEGABYTE
    (stored,) = server.files()
    assert stored.stat().st_size == size
    server.client.put(tab + "data?name=small.csv", content=b"a,b\n1,2\n")  # a new file takes its place
    assert [path.stat().st_size for path in server.files()] == [8]
    server.client.post(tab + "leave")
    soon(lambda: server.files() == [], "the file is still there")


async def nothing():
    for piece in ():
        yield piece


async def cut_off():
    yield b"a,b\n"
    raise ConnectionError


def test_a_file_that_does_not_fit_or_does_not_come_leaves_nothing(tmp_path):
    with pytest.raises(NoRoomError, match=r"huge\.csv has 1099511627776 MB"):
        asyncio.run(receive(nothing(), "huge.csv", tmp_path, 1 << 60))
    with pytest.raises(ConnectionError):
        asyncio.run(receive(cut_off(), "x.csv", tmp_path))
    assert list(tmp_path.iterdir()) == []


HOSTILE = [
    "../../evil.csv",
    "/etc/passwd",
    "..\\..\\evil.csv",
    "x\0y.csv",
    "a" * 500 + ".csv",
    "<b>.csv",
    "CON",
    ".",
    "",
    "x.csv\n",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_never_paths(server, name):
    tab = server.tab()
    before = set(server.files())
    answer = server.client.put(tab + "data", params={"name": name}, content=b"a,b\n1,2\n")
    assert answer.status_code == 200
    (stored,) = set(server.files()) - before
    assert stored.parent.name == tab.split("/")[-2]
    assert re.fullmatch(r"[0-9a-f]{32}(\.csv)?", stored.name)
    assert "/" not in display_name(name)
    assert "\\" not in display_name(name.replace("\0", "").replace("\n", ""))
    assert stored_as(name) != stored_as(name)


def test_work_goes_on_and_ends(server, tab):
    assert server.client.post(tab + "start/fit", json=[]).status_code == 400  # there is no file yet
    server.client.put(tab + "data?name=x.csv", content=b"a,b\n1,2\n")
    assert server.client.post(tab + "start/dance", json=[]).status_code == 400
    assert server.client.post(tab + "start/fit", content=b"{").status_code == 400
    server.client.post(tab + "start/fit", json=[])
    shown = ended(server, tab)
    assert shown["fits"] == [1]
    assert (shown["job"]["step"], shown["job"]["done"], shown["job"]["left"]) == ("pretending", 1, 7.0)
    report = server.client.get(tab + "fits/1/report.html")
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts allow-downloads;")
    assert report.text == "x.csv"
    kept = server.client.get(tab + "fits/1/report.html?keep")
    assert kept.headers["content-disposition"].startswith("attachment")
    with zipfile.ZipFile(io.BytesIO(server.client.get(tab + "fits/1/all").content)) as packed:
        assert packed.namelist() == ["robscore-results/edges.csv", "robscore-results/report.html"]
    for path in ("fits/1/answer.json", "fits/1/..%2fanswer.json", "fits/2", "fits/1/%2e%2e/%2e%2e/open.html"):
        assert server.client.get(tab + path).status_code == 404


def test_results_that_are_asked_for_twice_at_once_are_packed_whole(tmp_path):
    (tmp_path / "results").mkdir()
    content = random.Random(0).randbytes(3 * MEGABYTE)
    (tmp_path / "results" / "rows.csv").write_bytes(content)

    async def ask():
        job = SimpleNamespace(folder=tmp_path)
        return await asyncio.gather(*(all_of(job) for _ in range(4)))

    for answer in asyncio.run(ask()):
        with zipfile.ZipFile(answer.path) as packed:
            assert packed.read("robscore-results/rows.csv") == content
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["results", "robscore-results.zip"]


@pytest.mark.parametrize(("how", "error"), [("wrong", "wrong"), ("killed", "lack of memory")])
def test_work_that_fails_says_why_and_leaves_nothing(server, tab, how, error):
    server.client.put(tab + "data?name=x.csv", content=b"a,b\n1,2\n")
    server.client.post(tab + "start/look", json=[[how, ""]])
    job = ended(server, tab)["job"]
    assert job["state"] == "failed"
    assert error in job["error"]
    soon(lambda: not list(server.temporary.rglob("look-*")), "its folder is still there")


def begin_slow(server, tab):
    server.client.put(tab + "data?name=x.csv", content=b"a,b\n1,2\n")
    server.client.post(tab + "start/fit", json=[["slow", ""]])
    soon(lambda: list(server.temporary.glob(f"*/{tab.split('/')[-2]}/fit-1/half")), "the fit does not begin")
    (child,) = server.children()
    return child


def test_cancelling_kills_the_child_and_clears_away(server, tab):
    child = begin_slow(server, tab)
    answer = server.client.post(tab + "stop").json()
    assert answer["job"]["state"] == "cancelled"
    assert not runs(child)
    assert not list(server.temporary.rglob("half"))
    server.client.post(tab + "start/fit", json=[])  # and then another
    assert ended(server, tab)["fits"] == [2]


def test_a_closed_tab_is_cleared_away_and_one_loaded_again_is_not(server, tab):
    other = server.tab()
    server.client.put(other + "data?name=y.csv", content=b"a,b\n1,2\n")
    child = begin_slow(server, tab)
    server.client.post(tab + "leave")
    server.client.post(other + "leave")
    server.client.get(other + "state")
    soon(lambda: not runs(child), "the fit still runs")
    soon(lambda: not list(server.temporary.rglob(tab.split("/")[-2])), "its files are still there")
    assert server.client.get(other + "state").json()["file"]["name"] == "y.csv"
    gone = server.client.get(tab + "state")
    assert gone.status_code == 410
    assert "away" in gone.json()["error"]
    assert server.client.get(tab).status_code == 303  # the page itself leads to a new one


@pytest.mark.long  # waits for seconds
def test_a_tab_that_says_nothing_is_cleared_away(server, tab):
    child = begin_slow(server, tab)
    soon(lambda: not runs(child), "the fit still runs")
    soon(lambda: not list(server.temporary.rglob(tab.split("/")[-2])), "its files are still there")
