"""What builders write: keys of labels, selectors, times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Document: TypeAlias = "dict[str, Any]"
"""An object as a manifest has it."""

NOW: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""The time of every round that is built."""

KEYS: Final = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "hostname": "kubernetes.io/hostname",
}
"""Well-known keys of labels by their short names."""

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def key(name: str) -> str:
    """Spell a short name of a label key out."""
    return KEYS.get(name, name)


def ago(minutes: float) -> str:
    """Write a time before the round as the API does."""
    return (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def selector(wanted: Mapping[str, Any] | None) -> Document | None:
    """Write a selector: None is absent, labels are matchLabels, a whole selector is taken as written."""
    if wanted is None:
        return None
    if {"matchLabels", "matchExpressions"} & wanted.keys():
        return dict(wanted)
    return {"matchLabels": dict(wanted)}


def at(document: Document, *names: str) -> Document:
    """Return the part of a document that a path names, made where it is not there yet."""
    for name in names:
        document = document.setdefault(name, {})
    return document
