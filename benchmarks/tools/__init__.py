"""What several benchmarks share: simulated rows, clocks, results that outlive an interruption, pages of the docs."""
