"""How certain a fit is: influence of rows, intervals, stability, comparison, and rows that do not fit."""
