"""The search tier by tier: constructions, bounds, phases."""
