"""The benchmarks' own claims, on fewer data sets than `make bench` uses."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks import penalty_choice, support_recovery


def test_the_chosen_penalty_is_near_the_best_on_the_path(capsys):
    for chosen, best in penalty_choice.main(n_sets=4).values():
        assert chosen > best - 0.1
    assert "best F1" in capsys.readouterr().out


def test_robust_paths_recover_the_graph(capsys):
    area = support_recovery.main(n_graphs=2, n_sets=1)
    assert area["clean", "GMoM, K = 200"] == pytest.approx(area["clean", "classic"], abs=0.01)
    assert area["clean", "classic"] == pytest.approx(0.855, abs=0.03)
    assert area["5 % Pareto", "GMoM, K = 200"] > area["5 % Pareto", "classic"] + 0.08
    assert "AUC" in capsys.readouterr().out
