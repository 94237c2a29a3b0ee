"""Reports are read here as a pipe would get them: without colours, in the plain width."""

import pytest


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
