"""The README's Python code runs as it stands."""

import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_python_examples_run(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL))
    assert code
    exec(compile(code, str(README), "exec"), {})
    assert capsys.readouterr().out


def test_the_demo_runs(capsys, tmp_path, monkeypatch):
    import runpy

    monkeypatch.chdir(tmp_path)

    runpy.run_path(str(README.parent / "examples" / "demo.py"), run_name="__main__")
    assert "robust score matching" in capsys.readouterr().out
    assert (tmp_path / "demo" / "graphs.png").stat().st_size > 10_000
