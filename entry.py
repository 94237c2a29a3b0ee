"""The entry: what a process runs first, so that a signal while kubestow is being imported is one line.

Nothing is imported here but what Python has already loaded. From the first command on, `commands/group` turns
signals into exit codes.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_WORDS = b"kubestow: interrupted\n"
_INTERRUPTED = 130


def main() -> None:
    """Run as `kubestow`."""
    _listen()
    from kubestow.cli import main as command

    _run(command)


def plugin() -> None:
    """Run as a plugin of kubectl: `kubectl-kubestow`."""
    _listen()
    from kubestow.cli import plugin as command

    _run(command)


def complete_plugin() -> None:
    """Answer kubectl's completion: `kubectl_complete-kubestow`."""
    _listen()
    from kubestow.cli import complete_plugin as command

    _run(command)


def _listen() -> None:
    """Let Ctrl-C and SIGTERM end the process at once: nothing is there yet that would have to be put away."""
    # A shell starts what runs in its background with Ctrl-C ignored, and that stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _stop)


def _run(command: Callable[[], object]) -> None:
    try:
        if signal.getsignal(signal.SIGINT) is _stop:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:  # before the command listened
        _stop()


def _stop(*_: Any) -> None:
    try:
        os.write(2, _WORDS)
    finally:  # stderr may be closed
        os._exit(_INTERRUPTED)
