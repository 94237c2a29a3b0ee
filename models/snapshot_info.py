"""What a snapshot that kubestow took of a live cluster says about itself."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar

from .base import Texts
from .meta import KubeObject


class SnapshotInfo(KubeObject):
    """When a snapshot was taken (`metadata.creationTimestamp`, the API server's clock) and what it lacks.

    Attributes
    ----------
    notes : tuple of str
        What may make the answer another one than that of the cluster.
    """

    namespaced: ClassVar[bool] = False

    api_version: str = "kubestow/v1"
    kind: str = "SnapshotInfo"
    notes: Texts = ()

    @classmethod
    def raw(cls, taken: datetime, notes: Sequence[str] = ()) -> dict[str, Any]:
        """Return one as it stands in a file."""
        time = taken.astimezone(UTC).isoformat().replace("+00:00", "Z")
        name = "taken-" + "".join(letter if letter.isalnum() else "-" for letter in time.lower())
        info: dict[str, Any] = {
            "apiVersion": cls.model_fields["api_version"].default,
            "kind": cls.model_fields["kind"].default,
            "metadata": {"name": name, "creationTimestamp": time},
        }
        return {**info, "notes": list(notes)} if notes else info
