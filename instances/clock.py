"""The time of a round: the newest timestamp of its input, so that a run can be repeated."""

from datetime import UTC, datetime
from typing import Any

from ..models.base import parse_timestamp

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

DEFAULT_START = datetime(2026, 1, 1, tzinfo=UTC)
"""The time of day at which a scenario or a script starts that has no timestamp."""

# Free text, templates of objects that do not exist, and the large parts of an object that hold no time.
_SKIPPED = frozenset(
    ("annotations", "labels", "fieldsV1", "template", "containers", "initContainers", "volumes", "images")
)
_SHORTEST = len("2026-03-01T08:00:00Z")


class Clock:
    """Keeps the newest timestamp that it has been shown.

    Attributes
    ----------
    newest : datetime
        That timestamp; the epoch before the first one.
    """

    def __init__(self) -> None:
        self.newest = EPOCH
        self._known = ""

    def look_at(self, value: dict[str, Any] | list[Any]) -> None:
        """Look for timestamps in a raw object, outside its labels, annotations and templates."""
        for key, item in value.items() if type(value) is dict else enumerate(value):
            kind = type(item)
            if kind is str:
                if len(item) >= _SHORTEST and item[10] == "T" and item[4] == "-" and item != self._known:
                    self._show(item)
            elif (kind is dict or kind is list) and key not in _SKIPPED:
                self.look_at(item)

    def _show(self, text: str) -> None:
        try:
            moment = parse_timestamp(text)
        except ValueError:
            return
        if moment >= self.newest:
            self.newest, self._known = moment, text
