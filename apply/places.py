"""Where objects are in the API: the path of each, and what kubectl calls it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Place:
    """An object of the API.

    Attributes
    ----------
    api_version, resource : str
        `v1` or `group/version`, and the plural, such as `pods`.
    namespace, name : str
        `namespace` is empty for what belongs to the whole cluster.
    """

    api_version: str
    resource: str
    namespace: str
    name: str

    @classmethod
    def of(cls, resource: str, key: str, api_version: str = "v1") -> Place:
        """Return the place of what kubestow calls `namespace/name`, or `name` where it has no namespace."""
        namespace, _, name = key.rpartition("/")
        return cls(api_version, resource, namespace, name)

    @property
    def collection(self) -> str:
        """The path of all objects of the kind, in the namespace if there is one."""
        root = "api" if self.api_version == "v1" else "apis"
        scope = f"namespaces/{quote(self.namespace, safe='')}/" if self.namespace else ""
        return f"/{root}/{self.api_version}/{scope}{self.resource}"

    @property
    def path(self) -> str:
        """The path of the object."""
        return f"{self.collection}/{quote(self.name, safe='')}"

    @property
    def argument(self) -> str:
        """What kubectl takes for the object: `pods/NAME`, with version and group where there is a group."""
        group, slash, version = self.api_version.partition("/")
        kind = f"{self.resource}.{version}.{group}" if slash else self.resource
        return f"{kind}/{self.name}"
