"""Tables of speed, memory and accuracy. Run them all with ``python -m benchmarks``, or some by name."""
