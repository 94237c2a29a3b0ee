"""Consolidation: nodes bought and nodes returned, so that what is left costs least (docs/consolidate.md)."""
