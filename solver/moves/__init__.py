"""Moves of running pods: an order of steps in which no budget breaks, and its independent check."""
