# The Gaussian copula of BDgraph: Rscript bdgraph.R X.csv KINDS STEPS OUT.csv; prints the seconds of the fit.
# Every kind but g has ties, so that its ranks are used as intervals ("not.cont").
suppressMessages(library(BDgraph))
given <- commandArgs(trailingOnly = TRUE)
x <- unname(as.matrix(read.csv(given[1], header = FALSE)))
tied <- as.integer(strsplit(given[2], "")[[1]] != "g")

set.seed(1)
start <- proc.time()
fit <- bdgraph(x, method = "gcgm", iter = as.integer(given[3]), not.cont = tied, cores = 1, verbose = FALSE)
taken <- sum((proc.time() - start)[1:2])

p <- fit$p_links
p <- p + t(p)
K <- fit$K_hat
association <- -K / sqrt(outer(diag(K), diag(K)))
diag(association) <- 0
write.table(rbind(p, (p > 0.5) + 0, association), given[4], sep = ",", row.names = FALSE, col.names = FALSE)
cat(taken, "\n")
