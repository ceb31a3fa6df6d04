"""What every other package may use: arguments, words, threads, progress, files. It knows nothing of score matching."""
