"""Builders, strategies and oracles that the tests share."""
