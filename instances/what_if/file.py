"""Changes from a file that can be kept (docs/what-if.md has the format)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...models import changes
from ...models.changes import Change, ChangeSet
from ...models.node import ZONE
from ..documents import the_document
from ..files import read_file
from ..raw_objects import plain
from ..scenario_reader import Section

if TYPE_CHECKING:
    from collections.abc import Callable

_KIND: Final = "WhatIf"


def load_changes(path: str | Path) -> ChangeSet:
    """Read a file of changes.

    Raises
    ------
    InputError
        For anything that is none.
    """
    file, content = read_file(path, "one file of changes")
    return read_changes(file, the_document(file, content, "changes"))


def read_changes(file: str, raw: Any) -> ChangeSet:
    """Read a document of changes."""
    top = Section(file, "", plain(raw))
    kind = top.text("kind", _KIND)
    if kind != _KIND:
        raise top.fault("kind", f"must be {_KIND}, not {kind!r}")
    top.text("apiVersion", "")
    found = ChangeSet(
        name=top.text("name", "") or Path(file).name.split(".")[0],
        title=top.text("title", ""),
        node_groups=tuple(_objects(top, "nodeGroups")),
        changes=tuple(_change(each) for each in top.sections("changes")),
    )
    top.close()
    if not found.changes:
        raise top.fault("changes", "required")
    return found


def load_profile(path: str) -> dict[str, Any]:
    """Read a KubeSchedulerConfiguration as it stands in a file.

    Raises
    ------
    InputError
        For what is none.
    """
    file, content = read_file(path, "one KubeSchedulerConfiguration")
    raw = plain(the_document(file, content, "a KubeSchedulerConfiguration"))
    section = Section(file, "", raw)
    if section.text("kind", "") != "KubeSchedulerConfiguration":
        raise section.fault("kind", "must be KubeSchedulerConfiguration")
    return dict(raw)


def _objects(section: Section, field: str) -> list[dict[str, Any]]:
    found = section.list_of(field)
    for index, item in enumerate(found):
        if not isinstance(item, dict):
            raise section.fault(f"{field}[{index}]", "is no Kubernetes object (a map)")
    return found


def _change(section: Section) -> Change:
    found = [name for name in _ACTIONS if section.has(name)]
    if len(found) != 1:
        known = ", ".join(_ACTIONS)
        raise section.fault("", f"must say one change, of {known}; it says {len(found)}")
    change = _ACTIONS[found[0]](section)
    section.close()
    return change


def _set(section: Section) -> Change:
    return changes.SetField(
        section.text("set"), section.text("field"), section.given("value", lambda value: value, None)
    )


_ACTIONS: Final[dict[str, Callable[[Section], Change]]] = {
    "addNodes": lambda section: changes.AddNodes(section.text("addNodes"), section.whole("count", 1)),
    "remove": lambda section: changes.RemoveNode(section.text("remove")),
    "cordon": lambda section: changes.CordonNode(section.text("cordon")),
    "uncordon": lambda section: changes.CordonNode(section.text("uncordon"), on=False),
    "delete": lambda section: changes.DeletePod(section.text("delete")),
    "zoneDown": lambda section: changes.ZoneDown(section.text("zoneDown"), section.text("key", ZONE)),
    "scale": lambda section: changes.ScaleWorkload(section.text("scale"), section.whole("replicas")),
    "set": _set,
    "patch": lambda section: changes.Patch(section.text("patch"), section.mapping("with")),
    "profile": lambda section: changes.UseProfile(section.mapping("profile")),
}
