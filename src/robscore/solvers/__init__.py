"""The quadratic loss, and the problems solved on it."""
