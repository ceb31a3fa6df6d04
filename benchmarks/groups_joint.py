"""Three groups of 300 rows: F1 of each group's graph, fitted jointly with ``moderators=`` and one by one.

20 columns, 25 edges per group: 20 of them in all three groups with the same strengths and 5 of each group's own (agree
to 80 %), all 25 the same (identical), or none in common but by chance (unrelated). Everything at its defaults. Beside
it the F1 at the penalty of the joint path that is best for these truths, which no rule can beat. For identical groups
also the share of all differences between two groups that ``differences()`` rejects at 5 %; for others the share of
those differences that exist.
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import robscore as rs
from benchmarks.tools.resumable import run_resumable

N, M, EDGES, GROUPS = 300, 20, 25, ("a", "b", "c")
# Families with the least eigenvalue of K: at .1 Gaussian graphs are nearly found from one group alone.
MODELS = (("sqrt", 0.1), ("gaussian", 0.1), ("gaussian", 1.0))
COMMON = {"identical": 25, "agree to 80 %": 20, "unrelated": 0}
COLUMNS = ("jointly", "best penalty", "one by one", "rejected")


def truths(common: int, eigenvalue: float, rng: np.random.Generator) -> list[np.ndarray]:
    """Return K of every group, with one diagonal that gives all of them at least this least eigenvalue."""
    i, j = np.triu_indices(M, k=1)
    order = rng.permutation(i.size)
    found = []
    for _ in GROUPS:
        own = rng.choice(order[common:], size=EDGES - common, replace=False)
        found.append(np.append(order[:common], own))
    strengths = rng.uniform(0.5, 1.0, size=i.size) * rng.choice([-1.0, 1.0], size=i.size)
    matrices = []
    for edges in found:
        K = np.zeros((M, M))
        K[i[edges], j[edges]] = K[j[edges], i[edges]] = strengths[edges]
        matrices.append(K)
    diagonal = eigenvalue - min(float(np.linalg.eigvalsh(K)[0]) for K in matrices)
    return [K + diagonal * np.eye(M) for K in matrices]


def outcome(task: tuple[str, float, str, int]) -> list[float]:
    """Return the groups' mean F1, jointly, at best and one by one, and the share of differences that is rejected."""
    family, eigenvalue, how, seed = task
    rng = np.random.default_rng([seed, COMMON[how]])
    true = truths(COMMON[how], eigenvalue, rng)
    locations = rng.choice([0.0, 0.5, -0.5], size=(len(GROUPS), M))
    draws = [
        rs.simulate.sample(family, K, eta, n_rows=N, burn_in=200, thin=10, random_state=[seed, k])
        for k, (K, eta) in enumerate(zip(true, locations, strict=True))
    ]
    X, groups = np.concatenate(draws), np.repeat(GROUPS, N)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        joint = rs.RobustGraph(family).fit(X, moderators={"group": groups})
        alone = [rs.RobustGraph(family).fit(own) for own in draws]
        table = joint.differences()
    at = {name: k for k, name in enumerate(GROUPS)}
    names = {f"x{k}": k for k in range(M)}
    differs = np.array(
        [
            true[at[row.of]][names[row.source], names[row.target]]
            != true[at[row.against]][names[row.source], names[row.target]]
            for row in table.itertuples()
        ]
    )
    looked_at = ~differs if how == "identical" else differs
    return [
        float(np.mean([f1(joint.graph_for(name).adjacency, K) for name, K in zip(GROUPS, true, strict=True)])),
        best_f1(joint, true),
        float(np.mean([f1(model.graph_.adjacency, K) for model, K in zip(alone, true, strict=True)])),
        float((table["p_value"].to_numpy()[looked_at] <= 0.05).mean()),
    ]


def f1(edges: np.ndarray, truth: np.ndarray) -> float:
    """Return the F1 of a graph."""
    upper = np.triu_indices(M, k=1)
    found, true = edges[upper], truth[upper] != 0
    return 2 * np.count_nonzero(found & true) / max(np.count_nonzero(found) + np.count_nonzero(true), 1)


def best_f1(joint: rs.RobustGraph, true: list[np.ndarray]) -> float:
    """Return the mean F1 of the groups' graphs at the best penalty of a path."""
    means = []
    for K in joint.path_.interactions:
        common, *own = np.asarray(K).reshape(-1, M, M) != 0
        means.append(np.mean([f1(common | part, truth) for part, truth in zip(own, true, strict=True)]))
    return float(max(means))


def main(
    n_sets: int = 10, models: tuple[tuple[str, float], ...] = MODELS, groups: tuple[str, ...] = tuple(COMMON)
) -> dict[tuple[str, float, str], list[float]]:
    settings = [(*model, how) for model in models for how in groups]
    tasks = [(*setting, seed) for setting in settings for seed in range(n_sets)]
    found = np.reshape(run_resumable("groups_joint", outcome, tasks), (len(settings), n_sets, len(COLUMNS)))
    print(f"{'':<10}{'eigenvalue':>10}{'groups':>16}" + "".join(f"{name:>14}" for name in COLUMNS))
    table = {}
    for (family, eigenvalue, how), values in zip(settings, found.mean(axis=1), strict=True):
        print(
            f"{family:<10}{eigenvalue:>10}{how:>16}"
            f"{values[0]:>14.3f}{values[1]:>14.3f}{values[2]:>14.3f}{values[3]:>14.1%}"
        )
        table[family, eigenvalue, how] = values.tolist()
    print(f"{n_sets} data sets each; rejected: of identical groups all, of others the differences that exist")
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--family", choices=sorted({family for family, _ in MODELS}), help="by default all")
    parser.add_argument("--groups", nargs="+", choices=COMMON, default=tuple(COMMON))
    arguments = parser.parse_args()
    chosen = tuple(model for model in MODELS if arguments.family in (None, model[0]))
    main(arguments.sets, chosen, tuple(arguments.groups))
