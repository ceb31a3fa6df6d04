"""One fit, stage by stage: prepare, weigh, average, solve, choose, refit."""
