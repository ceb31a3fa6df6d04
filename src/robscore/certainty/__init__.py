"""How far a fit can be believed: each file answers one question about it."""
