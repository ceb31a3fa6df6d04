"""Parameters, attributes and arguments that the estimators have in common, by the line that stands for them."""

from __future__ import annotations

from robscore._tools.docstrings import with_common

documented = with_common(
    {
        "{family}": """family : str or Family
    "gaussian", "sqrt", "gamma", "truncated-gaussian", "log-log", "simplex", or an object of ``rs.families``;
    "copula" is for columns of any kind. "auto" (the default of RobustGraph; that of RobustScoreMatching is "sqrt")
    takes a family that describes the data and is told apart from others, compositions included, else the copula.""",
        "{kinds}": """kinds : dict of str by column name, optional
    For family="copula": "continuous" takes a column for measurements, ties and all, "ordered" each of its values that
    several rows share for an interval, as of answers. Other columns are what the data say; ``kinds_`` tells.""",
        "{bad_rows}": """contamination : float, optional
    Share of bad rows to guard against, if known: sets the number of blocks to the paper's 4 * contamination * n.
n_blocks : int or "auto", optional
    K. 1 is classic score matching; more blocks tolerate more bad rows but add bias on skewed data. "auto" lets the
    data choose. Without it and without ``contamination`` rows are reweighted. If that is not possible, every row
    is a block of its own, so that the order does not matter; with more than 5000 rows, and for ``score``, there
    are 0.4 n blocks.
shuffle : bool, default False
    Cut a random order of the rows into blocks instead of the given one.
n_partitions : int, default 1
    With more than one, average the row weights over that many random partitions.
reweight : bool or RowRule, optional
    Drop the rows that do not belong with the others: too far from the middle, in a cluster, with one wrong
    column, or too surprising under the fit; you need not know how many, the data decide. Clean rows are hardly
    ever dropped. A :class:`robscore.RowRule` has other numbers than the default.
    On by default unless ``n_blocks`` or ``contamination`` is given. The answer then does not depend
    on the order of the rows. Tolerates about 20 % bad rows, more if they are scattered.""",
        "{cells}": """missing : {"raise", "drop", "impute"}, default "raise"
    What to do about missing values: an error; leave out incomplete rows; or fill them in, by draws from the fit
    given the observed cells of their rows, until fit and draws agree. That is right if values are missing at random
    given the observed ones, and wrong if they are missing because of what they are.
cells : bool or CellRule, default False
    Look for single wrong cells too: those that the rest of their row, and the other rows, do not expect. They are
    treated as missing. See :meth:`suspicious_cells`. A :class:`robscore.CellRule` has other numbers than the
    default.
max_memory : number of bytes, or str such as "500 MB", default "1 GB"
    Memory for what is computed from the rows and for sums over blocks; rows that do not fit are read again in
    every pass over the data. The row weights take another 50 bytes per row.""",
        "{of_covariates}": """effects_ : array of shape (m, q), or None
    What one unit of every covariate, in the order of their columns, adds to eta; None without covariates.
covariates_ : CovariateDesign, or None
    How covariates became these columns; ``covariates_.terms`` are their names.
moderations_ : dict of arrays of shape (m, m), or None
    What one unit of every moderator, or being in a group, adds to ``interaction_``, which is then what all rows
    have in common: not that of any group, and for numbers at their mean.""",
        "{of_rows}": """row_weights_ : array of shape (n, 2)
    Weights of the rows in Gamma-hat and in g-hat; each column sums to one.
n_rows_used_ : int
    Rows without missing values, or all where these are filled in.
share_dropped_ : float or None
    Share of the rows that reweighting left out altogether; None without reweighting.
n_blocks_ : int
n_blocks_criterion_ : dict of float by K, or None
    What ``n_blocks="auto"`` compared; the smallest is best.""",
        "{of_fit}": """family_ : str or Family
    The family used: the one given, or the choice of "auto".
kinds_ : dict of str
    What every column is, by its name: "continuous", "rounded", "two values", "answers", "counts", or "zeros" (one
    value in many rows). For readers; only the copula goes by it.
cautions_ : list of str
    What to be careful about, worst first; empty if all is well. Only failed convergence also raises a warning.
n_features_in_, feature_names_in_ : as in scikit-learn""",
        "{intervals}": """level : float, default 0.95
    Coverage of each interval.
fdr : float, default 0.1
    False discovery rate of the column ``significant`` (Benjamini-Hochberg over the table).""",
        "{block_size}": """block_size : int or "auto", default "auto"
    Rows that stay together, for time series. "auto" chooses it from how the rows' influences depend on those
    before them, in the order of the rows: 1 if they do not.""",
    }
)
"""Write these paragraphs into the docstring of an estimator or of one of its methods."""
