"""Independent components of a round, solved apart, and where that work runs."""
