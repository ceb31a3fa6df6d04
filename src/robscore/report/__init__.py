"""What a fit leaves for others: a record that repeats it, and one HTML page."""

from robscore.report.page import Page, write_html
from robscore.report.record import Record, record

__all__ = ["Page", "Record", "record", "write_html"]
