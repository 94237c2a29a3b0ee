"""Devices and claims of a round before any model: kinds, and which claims may want what where."""
