"""A cluster after changes: a snapshot in, a snapshot out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...models import changes
from ...models.changes import Change, Changed, ChangeSet
from ...models.config import KubeSchedulerConfiguration
from ...models.errors import KubestowError
from ...models.validation import check, read
from ..manifests import snapshot_of
from .fields import patch, set_field
from .nodes import add, cordon, remove, zone_down
from .pods import delete
from .workloads import scale

if TYPE_CHECKING:
    from ...models.snapshot import Snapshot


def changed_by(snapshot: Snapshot, change_set: ChangeSet) -> Changed:
    """Make changes, one after the other.

    DaemonSets' pods of new nodes and the status of budgets are left to the caller: they follow rules of the
    framework.

    Raises
    ------
    KubestowError
        Where a change cannot be made, with the change's place.
    """
    groups = _groups(snapshot, change_set)
    changed = Changed(change_set=change_set, snapshot=snapshot)
    for number, change in enumerate(change_set.changes):
        try:
            changed = _made(changed, change, snapshot, groups)
        except KubestowError as error:
            action = next(iter(change.document()))
            raise KubestowError(f"{change_set.name}: changes[{number}]: {action}: {error}") from None
    return changed


def _groups(snapshot: Snapshot, change_set: ChangeSet) -> Snapshot | None:
    if not change_set.node_groups:
        return None
    name = f"{change_set.name}: nodeGroups"
    return snapshot_of(change_set.node_groups, name=name, feature_gates=snapshot.feature_gates)


def _made(changed: Changed, change: Change, original: Snapshot, groups: Snapshot | None) -> Changed:
    match change:
        case changes.AddNodes():
            return add(changed, change, original, groups)
        case changes.RemoveNode():
            return remove(changed, change)
        case changes.CordonNode():
            return cordon(changed, change)
        case changes.DeletePod():
            return delete(changed, change)
        case changes.ZoneDown():
            return zone_down(changed, change)
        case changes.ScaleWorkload():
            return scale(changed, change)
        case changes.SetField():
            return set_field(changed, change)
        case changes.Patch():
            return patch(changed, change)
        case changes.UseProfile():
            return _profile(changed, change)


def _profile(changed: Changed, change: changes.UseProfile) -> Changed:
    configuration = read(KubeSchedulerConfiguration, change.configuration, "")
    check(configuration, "")
    return replace(changed, snapshot=replace(changed.snapshot, configuration=configuration))
