"""Queueing hints (KEP-4247): for every plugin, the events that may end a rejection, and whether one does."""
