"""Bounds from linear relaxations, safe against rounding."""
