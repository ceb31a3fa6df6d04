"""kill -9 and SIGTERM at random moments of a fit: no half-written file under a final name, and no input touched."""

import signal
import sys
import time

import numpy as np
import pytest
from fuzzing import count, examples
from running import FILES, ended, rows_to_stop, started


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_whatever_the_moment_files_are_whole_and_inputs_untouched(tmp_path):
    """Moments of a whole run, redrawn each time; the files that there are equal those of a run in peace."""
    folder = tmp_path
    content = rows_to_stop()
    (folder / "x.csv").write_bytes(content)
    begun = time.monotonic()
    assert ended(started(folder))[0] == 0
    length = time.monotonic() - begun
    whole = {name: (folder / "out" / name).read_bytes() for name in FILES}
    for k in range(examples(0.001, few=1)):
        for name in FILES:
            (folder / "out" / name).unlink(missing_ok=True)
        process = started(folder)
        time.sleep(np.random.default_rng().uniform(0.3, 1.05) * length)
        number = signal.SIGTERM if k % 2 else signal.SIGKILL
        process.send_signal(number)
        code, _ = ended(process)
        found = {
            entry.name: entry.read_bytes() for entry in (folder / "out").iterdir() if not entry.name.startswith(".")
        }
        assert code in (0, 128 + number, -number)  # -15 before the command begins, or when Python is clearing up
        assert (folder / "x.csv").read_bytes() == content
        assert found == {name: whole[name] for name in found}
        if number == signal.SIGTERM:
            assert len(list((folder / "out").iterdir())) in (0, len(FILES))
        for part in (folder / "out").glob(".*"):
            part.unlink()
        count("moments of a fit at which it was killed")
