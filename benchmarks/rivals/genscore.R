# The classic path of genscore: Rscript genscore.R X.csv RATIO HOW-MANY TOLERANCE K.csv; prints the seconds of the fits.
# Square-root model ("exp"), h = x^1.5, eta free and profiled out, K symmetric with a free diagonal.
suppressMessages(library(genscore))
given <- commandArgs(trailingOnly = TRUE)
x <- unname(as.matrix(read.csv(given[1], header = FALSE)))

start <- proc.time()[["elapsed"]]
elements <- get_elts(get_h_hp("pow", 1.5), x, setting = "exp", domain = make_domain("R+", p = ncol(x)),
                     centered = FALSE, profiled_if_noncenter = TRUE, scale = "", diagonal_multiplier = 1)
largest <- lambda_max(elements, "symmetric")
fit <- NULL
path <- list()
for (lambda in largest * as.numeric(given[2])^seq(0, 1, length.out = as.integer(given[3]))) {
  fit <- get_results(elements, "symmetric", lambda, tol = as.numeric(given[4]), maxit = 10000, previous_res = fit)
  path[[length(path) + 1]] <- matrix(fit$K, ncol(x))
}
seconds <- proc.time()[["elapsed"]] - start

write.table(do.call(rbind, path), given[5], sep = ",", row.names = FALSE, col.names = FALSE)
cat(seconds, "\n")
