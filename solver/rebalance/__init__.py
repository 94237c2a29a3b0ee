"""Moves of running pods: the most gain by the fewest, with proof (docs/rebalance.md)."""
