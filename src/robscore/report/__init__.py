"""What a fit leaves behind for others: a record that repeats it, and one HTML page to open."""

from robscore.report.page import write_html
from robscore.report.record import Record, record

__all__ = ["Record", "record", "write_html"]
