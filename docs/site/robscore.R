# robscore from R, through reticulate. source("robscore.R"), then: model <- rs$RobustGraph()$fit(X)
library(reticulate)
rs <- import("robscore", convert = FALSE)

# What robscore gives back as R knows it: tables as data frames, arrays as vectors and matrices, text as text.
# Older versions of reticulate leave the tables of pandas 3 and the arrays of NumPy 2 as they are; this does not.
as_r <- function(x) {
  if (inherits(x, "pandas.core.generic.NDFrame")) {
    columns <- lapply(py_to_r(x$to_dict("list")), function(column) unlist(lapply(column, function(cell) cell %||% NA)))
    return(as.data.frame(columns, check.names = FALSE))
  }
  if (!inherits(x, "numpy.ndarray")) return(py_to_r(x))
  rows <- py_to_r(x$tolist())
  if (is.list(rows)) do.call(rbind, rows) else rows
}
`%||%` <- function(x, otherwise) if (is.null(x)) otherwise else x
