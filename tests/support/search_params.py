"""Searches that go by other shares and thresholds."""

from dataclasses import replace

from kubestow.solver.search import params


def search_with(monkeypatch, **changes):
    """Let every search of a test go by changed params."""
    monkeypatch.setattr(params, "DEFAULT", replace(params.DEFAULT, **changes))
