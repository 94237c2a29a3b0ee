"""Object metadata, conditions and the base class of all top-level kinds."""

from functools import cached_property
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from .base import Bool, Int64, KubeModel, StringMap, Timestamp, kept_once, shared

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_MOST_BASE = 58


def generated_name(base: str, number: int) -> str:
    """Return the name that replaces `generateName`: the base and a suffix of five letters.

    The API server draws the suffix; here it counts, so that an answer does not depend on luck. Source:
    k8s.io/apiserver/pkg/storage/names.
    """
    suffix = ""
    for _ in range(_SUFFIX_LENGTH):
        number, digit = divmod(number, len(_SUFFIX_LETTERS))
        suffix = _SUFFIX_LETTERS[digit] + suffix
    return base[:_MOST_BASE] + suffix


class OwnerReference(KubeModel):
    """Who made an object; the one with `controller` set manages it."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: Bool = False


class ObjectMeta(KubeModel):
    """The fields of `metadata` that scheduling looks at."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    generation: Int64 | None = None
    labels: Annotated[StringMap, kept_once()] = Field(default_factory=dict)
    annotations: StringMap = Field(default_factory=dict)
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    owner_references: Annotated[tuple[OwnerReference, ...], kept_once()] = ()

    @cached_property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages the object, or None."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class Condition(KubeModel):
    """A condition of a status; `status` is `True`, `False` or `Unknown`."""

    type: str = ""
    status: str = "Unknown"
    reason: str | None = None
    message: str | None = None
    last_transition_time: Timestamp | None = None


class KubeObject(KubeModel):
    """A top-level object. `namespaced` says whether its kind lives in a namespace."""

    namespaced: ClassVar[bool] = True

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = shared(ObjectMeta())

    @field_validator("metadata", mode="after")
    @classmethod
    def _settle_namespace(cls, meta: ObjectMeta) -> ObjectMeta:
        if cls.namespaced:
            return meta if meta.namespace else meta.model_copy(update={"namespace": "default"})
        return meta.model_copy(update={"namespace": ""}) if meta.namespace else meta

    @property
    def name(self) -> str:
        """The object's name within its namespace."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace; empty for a kind that is cluster-scoped."""
        return self.metadata.namespace

    @property
    def key(self) -> str:
        """`namespace/name`, or `name` for a kind that is cluster-scoped."""
        return self.metadata.key if self.namespaced else self.metadata.name
