"""How much every row counts: weights of block medians, tapers, and how rows are judged."""
