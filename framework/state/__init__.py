"""What changes in a round: who is where, and the sums over it."""
