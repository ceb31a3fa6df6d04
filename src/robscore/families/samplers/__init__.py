"""How rows of a family are drawn: directly, by Gibbs sweeps with exact conditionals, or by slices."""
