# mgm with the extended BIC: Rscript mgm.R X.csv KINDS OUT.csv; prints the seconds of the fit.
# Kinds: g Gaussian, p Poisson, c categorical.
suppressMessages(library(mgm))
given <- commandArgs(trailingOnly = TRUE)
x <- unname(as.matrix(read.csv(given[1], header = FALSE)))
type <- strsplit(given[2], "")[[1]]
level <- ifelse(type == "c", apply(x, 2, function(column) length(unique(column))), 1)

set.seed(1)
start <- proc.time()
fit <- mgm(x, type = type, level = level, lambdaSel = "EBIC", k = 2, pbar = FALSE, warnings = FALSE, signInfo = FALSE)
taken <- sum((proc.time() - start)[1:2])

weight <- fit$pairwise$wadj
write.table(rbind(weight, (weight != 0) + 0, weight * NA), given[3], sep = ",", na = "nan", row.names = FALSE,
            col.names = FALSE)
cat(taken, "\n")
