"""What every test may rely on: repeatable hypothesis runs, no network, output as a pipe would get it."""

import signal
import socket
import threading

import pytest
from hypothesis import HealthCheck, settings
from support.sweeps import sweep_all

# A slow machine is no failure, and a failing example must be the same on every machine and every run; seeds
# beyond these are for the longer runs of a developer: pytest --hypothesis-profile=explore.
settings.register_profile(
    "kubestow", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("kubestow")

# A shell starts what runs in its background with Ctrl-C ignored, and processes of tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sweep", action="store_true", help="all rounds of the sweeps, not a sample of each")


def pytest_configure(config: pytest.Config) -> None:
    sweep_all(wanted=config.getoption("--sweep"))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches beyond this machine fails at once, with its own line in the traceback."""
    connect = socket.socket.connect

    def refuse(self, address, *args):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError("tests must not use the network")
        return connect(self, address, *args)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(autouse=True)
def _ctrl_c() -> None:
    """Ctrl-C is Python's, whatever a bare solver of another test has put in the handler's place."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output is plain text of 120 columns, as in the docs, whatever terminal or test runner is around."""
    monkeypatch.setenv("COLUMNS", "120")
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
