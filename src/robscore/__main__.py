"""``python -m robscore`` is the command line too."""

from robscore.cli import main

main()
