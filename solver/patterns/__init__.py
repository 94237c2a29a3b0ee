"""Patterns of what stands on one node: column generation, enumeration, recombination."""
