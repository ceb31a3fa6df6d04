"""A page on this machine for those who do not type: choose a file, fit, read the report.

The server holds no data and reads none: files go from the browser to a folder of their own, and child processes, which
the command line provides, read and fit them.
"""
