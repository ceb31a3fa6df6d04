"""Squared error of theta-hat(K) at m = 5, n = 1000, clean and with 5 % Pareto rows, 5 graphs x 10 repetitions."""

import numpy as np

import robscore as rs

BLOCKS = [1, 50, 100, 200, 400, 700, 1000]


def main() -> None:
    errors: dict[tuple[float, int], list[float]] = {(share, k): [] for share in (0.0, 0.05) for k in BLOCKS}
    for graph in range(5):
        truth = rs.simulate.random_model(5, 5, min_eigenvalue=0.5, random_state=graph)
        for repetition in range(10):
            seed = 100 * graph + repetition
            clean = rs.simulate.sample("sqrt", truth.interaction, truth.location, n_rows=1000, random_state=seed)
            for share, n_blocks in errors:
                X = rs.simulate.contaminate_pareto(clean, share, random_state=seed + 10_000).X
                model = rs.RobustScoreMatching("sqrt", n_blocks=n_blocks, scale=None).fit(X)
                error = np.sum((model.interaction_ - truth.interaction) ** 2)
                errors[share, n_blocks].append(error + np.sum((model.location_ - truth.location) ** 2))
    print(f"{'bad rows':<10}" + "".join(f"{f'K = {k}':>10}" for k in BLOCKS))
    for share in (0.0, 0.05):
        print(f"{share:<10.0%}" + "".join(f"{np.mean(errors[share, k]):>10.2f}" for k in BLOCKS))
    classic, robust = np.mean(errors[0.05, 1]), np.mean(errors[0.05, 400])
    print(f"With bad rows, K = 400 errs {classic / robust:.0f} times less than classic score matching (K = 1).")


if __name__ == "__main__":
    main()
