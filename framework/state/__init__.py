"""The state of a round: which pod is where, and the sums over it."""
