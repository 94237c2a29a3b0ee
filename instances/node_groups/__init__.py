"""Nodes that can be bought, from files (docs/provision.md has the formats)."""
