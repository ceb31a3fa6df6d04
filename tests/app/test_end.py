"""How the command ends: by a signal, in the middle of a fit, or before it began."""

import signal
import sys

import pytest
from app.serving import COMMAND, PATIENCE, pretending, runs, served, soon
from running import rows_to_stop, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")


def begin(server):
    """A fit that would take for ever; the process that does it."""
    tab = server.tab()
    server.client.put(tab + "data?name=x.csv", content=rows_to_stop())
    server.client.post(tab + "start/fit", json=[["set", "alphas=20000"], ["set", "tol=1e-14"]])
    soon(lambda: "fit" in server.client.get(tab + "state").json()["job"]["step"], "the fit does not begin")
    (child,) = server.children()
    return child


def test_told_to_end_it_leaves_nothing(tmp_path):
    with served(tmp_path, COMMAND) as server:
        child = begin(server)
        assert server.files()
        server.process.send_signal(signal.SIGTERM)
        _, errors = server.process.communicate(timeout=PATIENCE)
        assert (server.process.returncode, errors) == (143, "robscore: Ended; its files are removed.\n")
        assert not runs(child)
        assert list(tmp_path.iterdir()) == []


def test_it_ends_at_once_whatever_is_going_on(tmp_path):
    for k in range(2):
        with pretending(tmp_path) as server:
            tab = server.tab()
            server.client.put(tab + "data?name=x.csv", content=b"a,b\n1,2\n")
            server.client.post(tab + "start/fit", json=[["slow", ""]] if k else [])
            children = server.children()
            server.process.send_signal(signal.SIGTERM)
            _, errors = server.process.communicate(timeout=PATIENCE)
            assert errors == ""
            assert not any(map(runs, children))
            assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_ctrl_c_and_a_closed_terminal(tmp_path, number, code):
    with served(tmp_path, COMMAND) as server:
        soon(server.children, "no child is in reserve")
        children = server.children()
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == code
        assert list(tmp_path.iterdir()) == []
        assert not any(map(runs, children))


def test_when_it_is_killed_its_children_end_too(tmp_path):
    with served(tmp_path, COMMAND) as server:
        child = begin(server)
        server.process.kill()
        soon(lambda: not runs(child), "the child goes on without anybody")


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path):
    with pretending(tmp_path) as server:
        ended = run("app", "--no-browser", "--port", server.port)
    assert ended.exit_code == 1
    assert ended.stderr.count("\n") == 1
    assert "use" in ended.stderr
