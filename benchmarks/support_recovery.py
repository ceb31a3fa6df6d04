"""Area under the ROC curve: square root, m = 100, n = 1000, 500 edges, 10 graphs x 3 data sets, scale=None."""

import numpy as np

import robscore as rs

N, M, EDGES = 1000, 100, 500


def area(X: np.ndarray, truth: np.ndarray, n_blocks: int) -> float:
    elements = rs.score_elements("sqrt", X)
    path = rs.solve_path(elements.average(*rs.robust_weights(elements, n_blocks)))
    return rs.metrics.auc(rs.metrics.roc_curve(path, truth))


def main(n_graphs: int = 10, n_sets: int = 3, m: int = M, n_edges: int = EDGES) -> dict[tuple[str, str], float]:
    areas: dict[tuple[str, str], list[float]] = {}
    for graph in range(n_graphs):
        truth = rs.simulate.random_model(m, n_edges, random_state=graph)
        for repetition in range(n_sets):
            seed = 1000 * graph + repetition
            clean = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=N, random_state=seed)
            dirty = rs.simulate.contaminate_pareto(clean, 0.05, random_state=seed + 500).X
            for rows, X in (("clean", clean), ("5 % Pareto", dirty)):
                for method, n_blocks in (("classic", 1), ("GMoM, K = 200", 200)):
                    areas.setdefault((rows, method), []).append(area(X, truth.interaction, n_blocks))
    print(f"{'rows':<14}{'method':<16}{'AUC':>7}{'± se':>8}")
    for (rows, method), values in areas.items():
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(f"{rows:<14}{method:<16}{np.mean(values):>7.3f}{error:>8.3f}")
    return {key: float(np.mean(values)) for key, values in areas.items()}


if __name__ == "__main__":
    main()
