"""The verbs: the only place where the core meets files, clock and environment; one file per group of them."""
