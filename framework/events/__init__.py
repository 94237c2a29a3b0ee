"""Cluster events and the objects that change."""
