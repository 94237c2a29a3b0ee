"""Searches that go by other shares and thresholds."""

from dataclasses import replace

from kubestow.solver.search import params


def search_with(monkeypatch, **changes):
    """Change the parameters of every search of a test."""
    monkeypatch.setattr(params, "DEFAULT", replace(params.DEFAULT, **changes))
