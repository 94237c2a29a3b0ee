"""VolumeZone: a volume that carries zone or region labels is used in these zones and regions.

Nodes without any such label take every volume.  A label in the old spelling is compared with the node's label
in the old spelling, or where the node lacks it in the new one; never the other way round.

Source: kube-scheduler 1.34.1 plugins/volumezone.
"""

from typing import ClassVar, Final

import numpy as np

from ...models.node import ZONE
from ..index.missing import Missing, label_of
from ..vocabulary import names
from ..vocabulary.arrays import Bools
from ..vocabulary.status import Code, Status
from ..volumes.claims import not_found
from ..volumes.migration import OLD_REGION, OLD_ZONE, REGION
from ..volumes.storage import storage_of
from ..volumes.uses import uses_of
from ..volumes.zones import LABELS, Zones, zones_of
from .base import StaticFilter, Verdicts

REASON: Final = "node(s) had no available volume zone"
NO_NAME: Final = "PersistentVolume had no name"
NO_CLASS: Final = "PersistentVolumeClaim had no pv name and storageClass name"

_NEW: Final = {OLD_ZONE: ZONE, OLD_REGION: REGION}


class VolumeZone(StaticFilter):
    """Rejects nodes outside the zones of the pod's bound volumes."""

    name: ClassVar[str] = names.VOLUME_ZONE

    def verdicts(self, i: int) -> Verdicts | Status | None:
        """Judge every node; skips a pod without zoned volumes, refuses one whose claim will get no volume."""
        labels: list[Zones] = []
        storage = storage_of(self.cluster)
        for use in uses_of(self.cluster).of(i).named_claims:
            claim = storage.claims.get(use.key)
            if claim is None:
                return self._refuse(not_found(use.name))
            volume = claim.spec.volume_name
            if not volume:
                name = storage.class_of(claim)
                if not name:
                    return self._refuse(NO_CLASS)
                if name not in storage.classes:
                    return self._refuse(f'storageclass.storage.k8s.io "{name}" not found')
                if not storage.waits_for_consumer(claim):
                    return self._refuse(NO_NAME)
                continue
            if volume not in storage.volume_number:
                return self._refuse(f'persistentvolume "{volume}" not found')
            labels += zones_of(storage.volumes[storage.volume_number[volume]])
        return self._judge(labels) if labels else None

    def _refuse(self, reason: str) -> Status:
        return Status(Code.UNRESOLVABLE, self.name, (reason,))

    def _judge(self, labels: list[Zones]) -> Verdicts:
        zoned = np.zeros(self.cluster.n_nodes, dtype=np.bool_)
        for key in LABELS:
            zoned |= self.cluster.domains(key).present
        inside = np.ones(self.cluster.n_nodes, dtype=np.bool_)
        for key, values in labels:
            mask = self._has(key, values)
            if key in _NEW:
                mask = np.where(self.cluster.domains(key).present, mask, self._has(_NEW[key], values))
            inside &= mask
        return (zoned & ~inside).astype(np.uint8)

    def _has(self, key: str, values: frozenset[str]) -> Bools:
        domains = self.cluster.domains(key)
        found = np.array([value in values for value in domains.values], dtype=np.bool_)
        return domains.to_nodes(found, missing=False)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """Tell of each volume elsewhere where it is and where the node is."""
        storage, labels = storage_of(self.cluster), self.cluster.nodes[n].metadata.labels
        found: list[Missing] = []
        for use in uses_of(self.cluster).of(i).named_claims:
            name = storage.claims[use.key].spec.volume_name
            if not name:
                continue  # it waits for its first consumer
            volume = storage.volumes[storage.volume_number[name]]
            for key, places in zones_of(volume):
                known = key if key in labels else _NEW.get(key, key)
                if labels.get(known) not in places:
                    where = " or ".join(sorted(places))
                    text = f"volume {volume.name} is in {key}={where}, the node has {label_of(labels, known)}"
                    facts = {"volume": volume.name, "topologyKey": key, "domains": sorted(places)}
                    found.append(Missing(key, text, facts=facts))
        return tuple(found)

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say that the node is elsewhere."""
        return (REASON,)
