"""F1 at the penalty that calibrated eBIC chooses, beside the best on the path: m = 30, n = 1000, 45 edges, 10 sets."""

import numpy as np

import robscore as rs


def main(n_sets: int = 10) -> dict[tuple[str, str], tuple[float, float]]:
    scores: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for seed in range(n_sets):
        truth = rs.simulate.random_model(30, 45, random_state=seed)
        clean = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed + 100)
        dirty = rs.simulate.contaminate_pareto(clean, 0.05, random_state=seed + 200).X
        for rows, X, method, n_blocks in (
            ("clean", clean, "classic", 1),
            ("clean", clean, "GMoM", None),
            ("5 % Pareto", dirty, "GMoM", None),
        ):
            model = rs.RobustGraph("sqrt", n_blocks=n_blocks).fit(X)
            on_path = [rs.metrics.f1_score(K, truth.interaction) for K in model.path_.interactions]
            chosen = rs.metrics.f1_score(model.interaction_, truth.interaction)
            scores.setdefault((rows, method), []).append((chosen, max(on_path), model.graph_.n_edges))
    print(f"{'rows':<14}{'method':<10}{'chosen F1':>10}{'best F1':>10}{'edges':>8}")
    for (rows, method), values in scores.items():
        chosen, best, edges = np.mean(values, axis=0)
        print(f"{rows:<14}{method:<10}{chosen:>10.3f}{best:>10.3f}{edges:>8.1f}")
    return {key: (float(np.mean(v, axis=0)[0]), float(np.mean(v, axis=0)[1])) for key, v in scores.items()}


if __name__ == "__main__":
    main()
