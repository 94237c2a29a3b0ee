"""Whole runs of the baseline: one pass, passes to quiescence, explanations."""
