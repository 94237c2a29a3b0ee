"""What a snapshot that kubestow took of a live cluster says about itself."""

from typing import ClassVar

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
