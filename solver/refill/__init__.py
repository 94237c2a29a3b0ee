"""Refill search: who leaves is chosen by sums, then nodes are filled to the brim with who comes."""
