"""Everything that kubestow raises on purpose.

::

    Exception
    ├── KubestowError            what a user can cause: one line, exit code 2
    │   └── InputError           a fault in an input: file, object, field, what would be right
    └── InternalError            a bug in kubestow, exit code 70; carries a dump
        └── BoundContradiction   a bound that a known plan disproves

Every other exception is a bug too and keeps its traceback.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

# What is quoted from an input may be as long as the input.
_HALF = 1000
# Longer than any namespace and name together: of such a word the two ends are enough.
_LONG_WORD = re.compile(r"(\S{60})\S{261,}(\S{20})")


class KubestowError(Exception):
    """Something the user can put right; its text is one line, and one that can be read."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str) -> None:
        line = _LONG_WORD.sub(r"\1…\2", " ".join(message.split()))
        if len(line) > 2 * _HALF:
            line = f"{line[:_HALF]} … {line[-_HALF:]}"
        super().__init__(line)


class InputError(KubestowError):
    """A fault in an input.

    Parameters
    ----------
    file : str
        The file as the user named it, `-` for standard input.
    object : str
        Kind and key, such as `Pod default/web-0`; empty where the fault is the whole file's.
    field : str
        The field in the API's spelling, such as `spec.containers[0].resources.requests.cpu`; empty where the
        fault is the whole object's.
    message : str
        What is wrong and what would be right.
    """

    def __init__(self, file: str, object: str, field: str, message: str) -> None:
        self.file = file
        self.object = object
        self.field = field
        self.message = message
        super().__init__(": ".join(part for part in (file, object, field, message) if part))


class InternalError(Exception):
    """A bug in kubestow: something that its own rules say cannot happen.

    Parameters
    ----------
    message : str
        What was found.
    dump : mapping, optional
        What a developer needs to see it again (JSON values).
    """

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, dump: Mapping[str, Any] | None = None) -> None:
        self.dump: dict[str, Any] = dict(dump or {})
        super().__init__(message)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: a module in C that it finds loading fails to load."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


class Unreplayed(KeyboardInterrupt):
    """Ctrl-C came twice while a plan that was found was put in words and replayed: it is not printed."""


class BoundContradiction(InternalError):
    """A tier's bound says that a plan cannot exist, and the plan exists."""
