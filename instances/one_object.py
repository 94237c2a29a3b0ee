"""One object on its own, as the API server would have it once it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models.defaulting import default_pod
from ..models.kinds import find_kind
from ..models.pod import Pod
from ..models.validation import check, check_new, read

if TYPE_CHECKING:
    from ..models.config import KubeSchedulerConfiguration
    from ..models.meta import KubeObject
    from .scenario_reader import Section


def one_object(
    model: type[KubeObject | KubeSchedulerConfiguration], raw: dict[str, Any], file: str
) -> KubeObject | KubeSchedulerConfiguration:
    """Read an object, fill in its defaults and check it; a pod without a phase is pending.

    Raises
    ------
    InputError
        For what the API server would refuse.
    """
    item = read(model, raw, file)
    check_new(item, file)
    if isinstance(item, Pod):
        item = default_pod(item)
        if item.status.phase is None:
            item = item.model_copy(update={"status": item.status.model_copy(update={"phase": "Pending"})})
    check(item, file)
    return item


def object_in(section: Section, raw: Any, field: str) -> KubeObject | KubeSchedulerConfiguration:
    """Read an object that stands in a document, at a field of a section; otherwise as `one_object`."""
    if not isinstance(raw, dict):
        raise section.fault(field, "is no Kubernetes object (a map with apiVersion, kind and metadata)")
    for name in ("apiVersion", "kind"):
        if not isinstance(raw.get(name), str) or not raw[name]:
            raise section.fault(f"{field}.{name}" if field else name, "required")
    model = find_kind(raw["kind"], raw["apiVersion"])
    if model is None:
        raise section.fault(field, f"{raw['apiVersion']} {raw['kind']} is no kind that is read")
    return one_object(model, raw, section.file)
