"""Volumes of the generated rounds: zonal disks, claims that wait or are bound, and limits of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bare_round import ZONE, BareRound, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable

_DRIVER = "disk.csi.example.com"
_CLASS = "zonal"


class Volumes:
    """A claim of its own for every pod of an app.

    With probability `bound` a claim is bound to a disk in a zone, each as likely; others are made where their
    pod goes (`WaitForFirstConsumer`). A node takes `volumes_per_node` disks.
    """

    def __init__(self, made: BareRound, bound: float, volumes_per_node: int) -> None:
        self._made, self._bound = made, bound
        made.others.append(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": _CLASS},
                "provisioner": _DRIVER,
                "volumeBindingMode": "WaitForFirstConsumer",
            }
        )
        for node in made.nodes:
            name = node["metadata"]["name"]
            driver = {
                "name": _DRIVER,
                "nodeID": name,
                "topologyKeys": [ZONE],
                "allocatable": {"count": volumes_per_node},
            }
            made.others.append(
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": {"name": name},
                    "spec": {"drivers": [driver]},
                }
            )

    def __call__(self, pods: Iterable[Manifest]) -> None:
        """Give the pods of an app their claims."""
        for pod in pods:
            claim = f"data-{pod['metadata']['name']}"
            pod["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
            self._made.others += self._claim(claim)

    def _claim(self, name: str) -> list[Manifest]:
        rng = self._made.rng
        size = {"storage": "10Gi"}
        claim: Manifest = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": _CLASS,
                "resources": {"requests": size},
            },
        }
        if rng.random() >= self._bound:
            return [claim]
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        claim["spec"]["volumeName"] = f"pv-{name}"
        claim["status"] = {"phase": "Bound"}
        zone = {"key": ZONE, "operator": "In", "values": [rng.choice(self._made.zones)]}
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"pv-{name}"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "capacity": size,
                "storageClassName": _CLASS,
                "csi": {"driver": _DRIVER, "volumeHandle": f"pv-{name}"},
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "namespace": "default",
                    "name": name,
                },
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}},
            },
            "status": {"phase": "Bound"},
        }
        return [claim, volume]
