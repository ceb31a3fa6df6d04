"""Helpers for every other package: arguments, words, threads, progress, files. Nothing specific to score matching."""
