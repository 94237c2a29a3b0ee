"""What becomes of a text in each of its roles.

The same code runs twice: while words are collected its answers are of no use, then they are what is written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ...models.annotations import (
    BETA_CLASS,
    COMPLETION_INDEX,
    DO_NOT_DISRUPT,
    EXTENDED_RESOURCE_CLAIM,
    IS_DEFAULT_CLASS,
    MIGRATED_PLUGINS,
    MIRROR,
    READ_ANNOTATIONS,
    REVISION,
    RUNS_FOR,
    SAFE_TO_EVICT,
    SELECTED_NODE,
)
from ...models.images import normalized
from ...models.kinds import KINDS
from ...models.selectors import int64
from .cel import Selector

if TYPE_CHECKING:
    from collections.abc import Callable

    from .words import Words

_PUBLIC_DOMAIN: Final = re.compile(r"(?:[a-z0-9-]+\.)*(?:kubernetes\.io|k8s\.io)")
_PRIVATE_NAMES: Final = ("node-restriction.kubernetes.io", "node-role.kubernetes.io")
_KNOWN_KEYS: Final = frozenset(
    (
        *("job-name", "controller-uid", "controller-revision-hash", "pod-template-hash"),
        *("metadata.name", "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"),
        *("topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.disk.csi.azure.com/zone"),
        "topology.cinder.csi.openstack.org/zone",
    )
)
KNOWN_DRIVERS: Final = frozenset(
    (
        *("ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org"),
        *("pxd.portworx.com", "file.csi.azure.com", "csi.vsphere.vmware.com"),
    )
)
"""Drivers that took over volumes of a plugin in Kubernetes; rules know them by name."""

STANDARD_ATTRIBUTES: Final = "resource.kubernetes.io"
"""The domain of attributes that Kubernetes defines for devices of all drivers (KEP-4381)."""

_ZONES: Final = re.compile(r".*/(?:zone|region)")
_SEVERAL_ZONES: Final = "__"
_HYPHENS_OF_A_ZONE: Final = 2
_GROUPS: Final = frozenset(
    model.model_fields["api_version"].default.rpartition("/")[0] for model in KINDS.values()
)
_CONDITIONS: Final = frozenset(
    (
        *("Ready", "PodScheduled", "Initialized", "ContainersReady", "PodReadyToStartContainers"),
        *("DisruptionTarget", "NodeProvisioningInProgress", "PodResizePending", "PodResizeInProgress"),
        *("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"),
        *("Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"),
    )
)
_REASONS: Final = frozenset(
    ("Unschedulable", "SchedulingGated", "PreemptionByScheduler", "Infeasible", "Deferred")
)
_CLASS_RESOURCE: Final = "deviceclass.resource.kubernetes.io/"
_EBS: Final = re.compile(r"vol-[^/]*")
_SYSTEM_CLASS: Final = "system-"


def well_known(key: str) -> bool:
    """Whether the key of a label or taint is of Kubernetes itself, and not somebody's own."""
    if key in _KNOWN_KEYS:
        return True
    domain, _, _ = key.rpartition("/")
    return _PUBLIC_DOMAIN.fullmatch(domain) is not None and domain not in _PRIVATE_NAMES


class Texts:
    """Other texts for those of objects, by role.

    Attributes
    ----------
    numeric : set of str
        Keys of labels and taints whose values are compared as numbers; numbers stay there.
    opaque : dict
        Selectors of devices that look into texts, each once.
    """

    def __init__(self, words: Words) -> None:
        self.numeric: set[str] = set()
        self.opaque: dict[str, None] = {}
        self._words = words
        self._simple: dict[str, Callable[[str], str]] = {
            "group": self._group,
            "kind": self._kind,
            "condition": lambda text: text if text in _CONDITIONS else self._words.word("name", text),
            "ran": lambda text: self._words.word("image", normalized(text)) if text else text,
            "key": self.key,
            "request": lambda text: "/".join(self._words.word("name", part) for part in text.split("/")),
            "resource": self._resource,
            "driver": self._driver,
            "attribute_name": self._qualified,
            "expression": self._expression,
            "ebs": self._ebs,
            "consumer": lambda text: text if text in ("pods", "podgroups") else words.word("name", text),
            "priority": self._priority,
        }
        self._maps: dict[str, Callable[[str, Any], tuple[str, Any]]] = {
            "labels": lambda key, value: (self.key(key), self.value(key, value)),
            "amounts": lambda name, amount: (self._resource(name), amount),
            "named": lambda name, value: (self._words.word("name", name), value),
            "qualified": lambda name, value: (self._qualified(name), value),
            "kept_names": lambda name, value: (name, value),
        }

    def rewritten(self, role: str, value: Any) -> Any:
        """Return the new value of a field of that role: of a text, a list of texts, or a map."""
        if isinstance(value, list):
            return [self.rewritten(role, item) for item in value]
        if isinstance(value, dict):
            if role == "annotations":
                return self._annotations(value)
            each = self._maps.get(role)
            return None if each is None else dict(each(key, item) for key, item in value.items())
        if not isinstance(value, str):
            return value
        if role == "keep":
            return value
        if role == "reason":
            return value if value in _REASONS else None
        simple = self._simple.get(role)
        return simple(value) if simple is not None else self._words.word(role, value)

    def value(self, key: str, text: Any) -> Any:
        """Return the new value of a label or taint."""
        if not isinstance(text, str) or (key in self.numeric and int64(text) is not None):
            return text
        if _ZONES.fullmatch(key) and well_known(key):
            return _SEVERAL_ZONES.join(map(self._zone, text.split(_SEVERAL_ZONES)))
        return self._words.word("value", text)

    def key(self, key: str) -> str:
        """Return the new key of a label or taint; Kubernetes' own stay."""
        if well_known(key):
            return key
        domain, _, name = key.rpartition("/")
        if domain in _PRIVATE_NAMES:
            return f"{domain}/{self._words.word('key', name)}"
        return self._words.word("key", key)

    def _zone(self, text: str) -> str:
        """Return the word for a zone or region; how many hyphens one has tells zones of one region apart."""
        if text.count("-") == _HYPHENS_OF_A_ZONE and not self._words.settled:
            region, _, last = text.rpartition("-")
            self._words.word("zone", region)
            self._words.word("suffix", last)
            self._words.make(text, region, "-", last)
        return self._words.word("zone", text)

    def _group(self, text: str) -> str:
        """Return a group, or an apiVersion, of which the version stays."""
        group, slash, version = text.rpartition("/") if "/" in text else (text, "", "")
        if not slash and group == "v1":
            return text
        return f"{group if group in _GROUPS else self._words.word('driver', group)}{slash}{version}"

    def _kind(self, text: str) -> str:
        return text if text in KINDS else self._words.word("kind", text)

    def _resource(self, name: str) -> str:
        if name.startswith(_CLASS_RESOURCE):
            return _CLASS_RESOURCE + self._words.word("name", name.removeprefix(_CLASS_RESOURCE))
        return name

    def _driver(self, text: str) -> str:
        known = text in KNOWN_DRIVERS or text.startswith("kubernetes.io/")
        return text if known else self._words.word("driver", text)

    def _qualified(self, name: str) -> str:
        """Return the name of an attribute or capacity; its domain is that of a driver, or names none."""
        domain, slash, own = name.rpartition("/")
        return f"{self._driver(domain)}/{own}" if slash else name

    def _expression(self, text: str) -> str:
        selector = Selector(text)
        if selector.opaque and not self._words.settled:
            self.opaque[text] = None
        return selector.rewritten(self._driver, lambda word: self._words.word("attribute", word))

    def _ebs(self, text: str) -> str:
        """Return a volume's id; of one with a zone before it, the last part is what the driver knows."""
        if not text.startswith("aws://"):
            return self._words.word("ebs" if _EBS.fullmatch(text) else "name", text)
        last = text.removeprefix("aws://").partition("/")[2].strip("/")
        return f"aws:///{self._words.word('ebs' if _EBS.fullmatch(last) else 'name', last)}"

    def _priority(self, text: str) -> str:
        return text if text.startswith(_SYSTEM_CLASS) else self._words.word("priority", text)

    def _annotations(self, annotations: dict[str, Any]) -> dict[str, Any]:
        return {
            key: self._annotation(key, text) for key, text in annotations.items() if key in READ_ANNOTATIONS
        }

    def _annotation(self, key: str, text: Any) -> Any:
        if not isinstance(text, str):
            return text
        if key == SELECTED_NODE:
            return self._words.word("node", text)
        if key == BETA_CLASS:
            return self._words.word("name", text)
        if key == MIRROR:
            return self._words.word("uid", text)
        if key in (IS_DEFAULT_CLASS, EXTENDED_RESOURCE_CLAIM):
            return text if text == "true" else ""
        if key in (SAFE_TO_EVICT, DO_NOT_DISRUPT):
            return text if text in ("true", "false") else ""
        if key == MIGRATED_PLUGINS:
            return ",".join(name for name in text.split(",") if name.startswith("kubernetes.io/"))
        if key in (REVISION, COMPLETION_INDEX, RUNS_FOR):
            return text if int64(text) is not None else ""
        return ""
