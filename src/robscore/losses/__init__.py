"""The quadratic score-matching losses that averaged elements are."""
