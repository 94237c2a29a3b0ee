"""`kubectl proxy` on a socket that only this user reaches: the cluster with the credentials of kubectl.

Certificates, tokens, OIDC and credential plugins are kubectl's own business, so that a cluster that kubectl
reaches is one that kubestow reaches. The proxy refuses everything but GET.
"""

import re
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Final

from ...models.errors import KubestowError
from .redaction import redacted

START_SECONDS: Final = 60.0
"""How long kubectl may take to start; a credential plugin may ask its user something."""

_END_SECONDS: Final = 5.0
_RESPONSE_SECONDS: Final = 90.0
_ALL_BUT_GET: Final = "^([^G]|G[^E]|GE[^T]|GET.)"
_API: Final = "^/apis?(/.*)?$"
# What kubectl says of itself; everything else on its stderr is a credential plugin that talks to its user.
_OWN_WORDS: Final = re.compile(
    r"^(?:[IWEF]\d{4} |\d{4}/\d\d/\d\d [\d:.]+ http(?:util)?: |error: |Error: |The connection to the server )"
)
_LOG_PREFIX: Final = re.compile(r"^(?:[IWEF]\d{4} \S+ +\d+ [^]]*\] |\d{4}/\d\d/\d\d \S+ )")
# Ends the proxy, and takes its socket away, where this process could not: it was killed.
_WATCH: Final = 'read -r _; kill "$0" 2>/dev/null; rm -f "$1/api.sock"; rmdir "$1" 2>/dev/null'


class SocketConnection(HTTPConnection):
    """HTTP over a Unix socket.

    Parameters
    ----------
    path : str
        Where the socket is.
    """

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=_RESPONSE_SECONDS)
        self._path = path

    def connect(self) -> None:
        """Open the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Proxy:
    """A running `kubectl proxy`."""

    def __init__(self, process: subprocess.Popen[bytes], path: str) -> None:
        self._process = process
        self._path = path
        self._words: deque[str] = deque(maxlen=20)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def connection(self) -> HTTPConnection:
        """Return a new connection to the cluster.

        Raises
        ------
        KubestowError
            If the proxy has ended.
        """
        if self._process.poll() is not None:
            raise KubestowError(f"kubectl proxy has ended: {self.complaint()}")
        return SocketConnection(self._path)

    def wait(self) -> None:
        """Wait until the proxy serves.

        Raises
        ------
        KubestowError
            If it ends instead, or takes too long.
        """
        out = self._process.stdout
        assert out is not None
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            if not selector.select(START_SECONDS):
                raise KubestowError(f"kubectl proxy has not started within {START_SECONDS:.0f} s")
        if out.readline():
            return
        self._process.wait()
        raise KubestowError(f"kubectl proxy cannot start: {self.complaint()}")

    def complaint(self) -> str:
        """Return what kubectl complained of last."""
        self._process.wait()
        self.close()
        words = [_LOG_PREFIX.sub("", line) for line in self._words]
        return words[-1].removeprefix("error: ") if words else f"exit code {self._process.returncode}"

    def close(self) -> None:
        """Wait for the last words of a proxy that has ended."""
        self._listener.join(_END_SECONDS)

    def _listen(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as err:
            for raw in err:
                line = redacted(raw.decode(errors="replace").rstrip())
                if _OWN_WORDS.match(line):
                    self._words.append(line)
                elif line:
                    _relay(line)


def _relay(line: str) -> None:
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


@contextmanager
def kubectl_proxy(options: Sequence[str]) -> Iterator[Proxy]:
    """Run `kubectl proxy` with these options of kubectl (`--context=…`) until the block is left.

    Raises
    ------
    KubestowError
        If there is no kubectl, or it cannot start the proxy.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise KubestowError("a live cluster is read through a Unix socket, which this system does not have")
    with tempfile.TemporaryDirectory(prefix="kubestow-", ignore_cleanup_errors=True) as folder:
        path = str(Path(folder, "api.sock"))
        command = (
            *("kubectl", "proxy", f"--unix-socket={path}"),
            *(f"--reject-methods={_ALL_BUT_GET}", f"--accept-paths={_API}", *options),
        )
        process = start(command)
        proxy = Proxy(process, path)
        try:
            with _watched(process.pid, folder):
                proxy.wait()
                yield proxy
        finally:
            end(process)
            proxy.close()


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start kubectl; its answers are read through pipes.

    Raises
    ------
    KubestowError
        If there is none.
    """
    try:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError:
        raise KubestowError(
            "kubectl is not on the PATH; a live cluster is read with kubectl's credentials"
        ) from None
    except OSError as error:
        raise KubestowError(f"kubectl cannot be started: {error.strerror}") from None


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process, by force where it does not hear."""
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


@contextmanager
def _watched(pid: int, folder: str) -> Iterator[None]:
    """End the process of that number even if this one is killed: the watch's pipe closes with it."""
    quiet = subprocess.DEVNULL
    watch = subprocess.Popen(
        ("sh", "-c", _WATCH, str(pid), folder),
        stdin=subprocess.PIPE,
        stdout=quiet,
        stderr=quiet,
        start_new_session=True,
    )
    try:
        yield
    finally:
        end(watch)
