"""The common ground of every Kubernetes object that kubestow reads.

Objects are immutable, are read in the API's camelCase and are used in snake_case (`max_skew` is `maxSkew`,
`host_ip` is `hostIP`). Unknown fields are ignored and a null is read as if the field were absent, as the API
server does. Lists become tuples, maps become dictionaries; an optional field is None unless the API server
fills in a default, in which case that default is used.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

# Words that Kubernetes writes in capitals inside a field name.
_ACRONYMS = {"ip": "IP", "ips": "IPs", "id": "ID", "uri": "URI"}


def to_kube_case(name: str) -> str:
    """Return Kubernetes' spelling of a snake_case attribute: `cluster_ip` becomes `clusterIP`."""
    first, *rest = name.split("_")
    return first + "".join(_ACRONYMS.get(word) or word.capitalize() for word in rest)


def _as_utc(moment: datetime) -> datetime:
    """Move a time to UTC; a time without a zone is taken for UTC, as Kubernetes writes all of them."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Timestamp = Annotated[datetime, AfterValidator(_as_utc)]


class KubeModel(BaseModel):
    """A part of an object: frozen, camelCase in, unknown fields ignored, null as absent."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_kube_case,
        populate_by_name=True,
        extra="ignore",
        regex_engine="python-re",
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        if isinstance(data, dict) and None in data.values():
            return {name: value for name, value in data.items() if value is not None}
        return data

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the object, with changes that are not validated; values derived from old fields are dropped."""
        copy = super().model_copy(update=update, deep=deep)
        for name in copy.__dict__.keys() - type(self).model_fields.keys():
            del copy.__dict__[name]
        return copy
