"""GET requests to an API server, tried again where that may help, a bounded number of times.

A page that was cut off, a server that is busy (429 and 5xx, after as long as its `Retry-After` asks for) and
one that does not answer are tried again; all else that is no answer is `Refused` at once.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import orjson

from ...models.errors import KubestowError
from ..files import unpack
from .redaction import redacted

TRIES: Final = 6
FIRST_TRIES: Final = 3
"""As long as the server has not answered at all, it may be one that is not there."""

LONGEST_WAIT: Final = 30.0
"""Seconds; a server that asks for more is asked again after these."""

_FIRST_WAIT: Final = 0.2
_TRIED_AGAIN: Final = frozenset((429, 500, 502, 503, 504))
_HEADERS: Final = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "kubestow"}
_SHOWN: Final = 300


class Answer(NamedTuple):
    """What a server answered, and the time on its clock (None where it did not say)."""

    document: dict[str, Any]
    time: datetime | None


class Refused(Exception):
    """An answer that is none.

    Attributes
    ----------
    status : int
        HTTP's.
    document : dict
        The server's `Status` object, empty where it sent none.
    """

    def __init__(self, status: int, document: dict[str, Any], words: str) -> None:
        super().__init__(words)
        self.status = status
        self.document = document


class Client:
    """Asks one API server.

    Parameters
    ----------
    connect : callable
        Makes a new connection to the server.
    sleep : callable, optional
        Waits that many seconds.
    """

    def __init__(
        self, connect: Callable[[], HTTPConnection], sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self._connect = connect
        self._sleep = sleep
        self._connection: HTTPConnection | None = None
        self._tries = FIRST_TRIES

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        """Return the answer to a GET request.

        Raises
        ------
        Refused
            If the server answers that it will not.
        KubestowError
            If there is no answer after `TRIES` tries, or `FIRST_TRIES` where there never was one.
        """
        target = f"{path}?{urlencode(query)}" if query else path
        wait = _FIRST_WAIT
        for left in reversed(range(self._tries)):
            try:
                response, body = self._ask(target)
            except (OSError, HTTPException) as error:
                self.close()
                problem, asked = f"the connection was lost: {str(error) or type(error).__name__}", ""
            else:
                if response.status == 200:
                    self._tries = TRIES
                    return _answer(path, response, body)
                refused = _refused(response, body)
                if response.status not in _TRIED_AGAIN:
                    raise refused
                problem, asked = str(refused), response.headers.get("Retry-After", "")
            if left:
                self._sleep(min(float(asked), LONGEST_WAIT) if asked.isdecimal() else wait)
                wait *= 2
        raise KubestowError(f"the cluster does not answer {path} after {self._tries} tries: {problem}")

    def _ask(self, target: str) -> tuple[HTTPResponse, bytes]:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request("GET", target, headers=_HEADERS)
        response = self._connection.getresponse()
        return response, response.read()


def _answer(path: str, response: HTTPResponse, body: bytes) -> Answer:
    try:
        document = orjson.loads(unpack(path, body))
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise KubestowError(f"what answers {path} is no API server: it sent no JSON object")
    return Answer(document, _time(response.headers.get("Date", "")))


def _time(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _refused(response: HTTPResponse, body: bytes) -> Refused:
    """Return what the server says: a Status object, or a line of text such as the proxy writes."""
    try:
        document = orjson.loads(unpack("", body))
    except (orjson.JSONDecodeError, KubestowError):
        document = None
    if isinstance(document, dict) and document.get("kind") == "Status":
        return Refused(response.status, document, redacted(str(document.get("message", "")))[:_SHOWN])
    text = redacted(" ".join(body.decode(errors="replace").split()))
    return Refused(response.status, {}, text[:_SHOWN] or f"{response.status} {response.reason}")
