"""Helpers for every other package, none specific to score matching: arguments, messages, threads, progress, files."""
