"""Snapshots from the openb trace: a production GPU cluster as two CSV files, nodes and pods.

The trace was published with "Beware of Fragmentation" (USENIX ATC'23); docs/openb.md says where to get it.
Nodes have `sn, cpu_milli, memory_mib, gpu, model`; pods have `name, cpu_milli, memory_mib, num_gpu,
gpu_milli` and, in most lists, `gpu_spec` (models joined by `|`) and `qos`.  With `num_gpu` 1, `gpu_milli` is
the share of one GPU in thousandths; with more it is 1000, whole GPUs.

What the trace does not say is decided here:

- The list is one batch of pending pods, in its order: the time columns are not used, nor is the phase.
- `gpus=devices`: every GPU is a device of 1000 `milli` that several allocations may share (KEP-5075), and
  every pod with GPUs has a claim of its own; a share fits on one GPU.
- `gpus=summed`: the node offers the extended resource `example.com/gpu-milli`, the sum over its GPUs, which
  is looser.
- `qos`: guaranteed and latency-sensitive pods have priority 1000, burstable and best-effort ones 0; all have
  0 without.
- Every node takes 1000 pods, so that the number of pods never matters.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..models.errors import InputError
from ..models.features import FeatureGates
from ..models.progress import Watch, unwatched
from ..models.snapshot import Snapshot
from .device_objects import device_claim, device_class, resource_slice
from .files import read_file
from .manifests import snapshot_of
from .openb_options import OpenbOptions
from .rows import Row, rows_of

DRIVER = "gpu.openb.example.com"
GPU_MILLI = "example.com/gpu-milli"
MODEL_LABEL = "openb.example.com/gpu-model"
WHOLE_GPU = 1000
PRIORITY_OF_QOS: Mapping[str, int] = {"Guaranteed": 1000, "LS": 1000, "Burstable": 0, "BE": 0}

_POD_SLOTS = "1000"
_MOST_GPUS = 128
_NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")

Manifest = dict[str, Any]


Table = tuple[str, bytes]
"""The name of a file and its content."""


def read_openb(nodes_file: str | Path, pods_file: str | Path) -> tuple[Table, Table]:
    """Return names and contents of the trace's two files, unpacked.

    Raises
    ------
    InputError
        Where one cannot be read, or is a folder of several files.
    """
    wanted = "one table of the openb trace"
    return read_file(nodes_file, wanted), read_file(pods_file, wanted)


def load_openb(
    nodes_file: str | Path,
    pods_file: str | Path,
    options: OpenbOptions | None = None,
    *,
    now: datetime | None = None,
    feature_gates: FeatureGates | None = None,
    watch: Watch = unwatched,
) -> Snapshot:
    """Read the trace's two files into a snapshot; `watch` hears of the objects made of them.

    Raises
    ------
    InputError
        Naming file, row and column, for what is not in the shape of the trace.
    """
    return snapshot_of(
        openb_objects(*read_openb(nodes_file, pods_file), options or OpenbOptions()),
        name=f"{nodes_file} {pods_file}",
        now=now,
        feature_gates=feature_gates,
        watch=watch,
    )


def openb_objects(node_table: Table, pod_table: Table, options: OpenbOptions) -> list[Manifest]:
    """Return the Kubernetes objects that stand for the trace's two files, as JSON values.

    Raises
    ------
    InputError
        Naming file, row and column, for what is not in the shape of the trace.
    """
    nodes = [_Node.read(row) for row in rows_of(*node_table, _NODE_COLUMNS, "sn")]
    pods = [_Pod.read(row) for row in rows_of(*pod_table, _POD_COLUMNS, "name")]
    if options.shuffle is not None:
        random.Random(f"openb/nodes/{options.shuffle}").shuffle(nodes)
        random.Random(f"openb/pods/{options.shuffle}").shuffle(pods)
    if options.nodes is not None and options.nodes > len(nodes):
        raise InputError(node_table[0], "", "", f"has {len(nodes)} nodes, not the {options.nodes} asked for")
    if options.pods and not pods:
        raise InputError(pod_table[0], "", "", "has no pods to repeat")
    taken = [pods[k % len(pods)].again(k // len(pods)) for k in range(options.pods or len(pods))]
    objects: list[Manifest] = [device_class(DRIVER, DRIVER)] if options.gpus == "devices" else []
    for node in nodes[: options.nodes]:
        objects += node.objects(options)
    for pod in taken:
        objects += pod.objects(options)
    return objects


@dataclass(frozen=True)
class _Node:
    """A node of the trace."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    model: str

    @classmethod
    def read(cls, row: Row) -> "_Node":
        gpus = row.count("gpu")
        # a ResourceSlice holds so many devices, and a node's GPUs are one slice
        if gpus > _MOST_GPUS:
            row.refuse("gpu", f"must be at most {_MOST_GPUS}, not {gpus}")
        return cls(row.text("sn"), row.count("cpu_milli"), row.count("memory_mib"), gpus, row.text("model"))

    def objects(self, options: OpenbOptions) -> Iterator[Manifest]:
        room = {"cpu": f"{self.cpu_milli}m", "memory": f"{self.memory_mib}Mi", "pods": _POD_SLOTS}
        if self.gpus and options.gpus == "summed":
            room[GPU_MILLI] = str(WHOLE_GPU * self.gpus)
        labels = {"kubernetes.io/hostname": self.name}
        if self.model:
            labels[MODEL_LABEL] = self.model
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": self.name, "labels": labels},
            "status": {"allocatable": room, "capacity": dict(room)},
        }
        if self.gpus and options.gpus == "devices":
            cards = [self._device(k) for k in range(self.gpus)]
            yield resource_slice(f"{self.name}-gpus", self.name, DRIVER, devices=cards)

    def _device(self, number: int) -> Manifest:
        return {
            "name": f"gpu-{number}",
            "attributes": {"model": {"string": self.model}},
            "capacity": {"milli": {"value": str(WHOLE_GPU)}},
            "allowMultipleAllocations": True,
        }


@dataclass(frozen=True)
class _Pod:
    """A pod of the trace; `models` are the GPU models that it accepts, none for any."""

    name: str
    cpu_milli: int
    memory_mib: int
    gpus: int
    gpu_milli: int
    models: tuple[str, ...]
    qos: str

    @classmethod
    def read(cls, row: Row) -> "_Pod":
        gpus, milli = row.count("num_gpu"), row.count("gpu_milli")
        if gpus == 0 and milli:
            row.refuse("gpu_milli", f"must be 0 where num_gpu is 0, not {milli}")
        if gpus == 1 and not 1 <= milli <= WHOLE_GPU:
            row.refuse("gpu_milli", f"must be from 1 to {WHOLE_GPU}, a share of one GPU, not {milli}")
        if gpus > 1 and milli != WHOLE_GPU:
            row.refuse("gpu_milli", f"must be {WHOLE_GPU} where num_gpu is more than 1, not {milli}")
        qos = row.text("qos")
        if qos and qos not in PRIORITY_OF_QOS:
            row.refuse("qos", f"must be one of {', '.join(PRIORITY_OF_QOS)}, not {qos!r}")
        models = tuple(dict.fromkeys(filter(None, row.text("gpu_spec").split("|"))))
        cpu, memory = row.count("cpu_milli"), row.count("memory_mib")
        return cls(row.text("name"), cpu, memory, gpus, milli, models, qos)

    def again(self, time: int) -> "_Pod":
        """Return the pod as it stands in the list's first copy (0), in its second (1), and so on."""
        if not time:
            return self
        name = f"{self.name}-{time + 1}"
        return _Pod(name, self.cpu_milli, self.memory_mib, self.gpus, self.gpu_milli, self.models, self.qos)

    def objects(self, options: OpenbOptions) -> Iterator[Manifest]:
        requests = {"cpu": f"{self.cpu_milli}m", "memory": f"{self.memory_mib}Mi"}
        container: Manifest = {"name": "main", "image": "openb", "resources": {"requests": requests}}
        spec: Manifest = {
            "priority": PRIORITY_OF_QOS.get(self.qos, 0) if options.qos else 0,
            "containers": [container],
        }
        if self.gpus and options.gpus == "summed":
            amount = str(self.gpus * self.gpu_milli)
            # an extended resource cannot be overcommitted: its limit is its request
            container["resources"] = {
                "requests": {**requests, GPU_MILLI: amount},
                "limits": {GPU_MILLI: amount},
            }
            if self.models:
                spec["affinity"] = _one_of(self.models)
        elif self.gpus:
            claim = f"{self.name}-gpu"
            container["resources"]["claims"] = [{"name": "gpu"}]
            spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
            yield self._claim(claim)
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            # not a label: pods with different labels are different to a scheduler
            "metadata": {
                "name": self.name,
                "namespace": "default",
                "annotations": {"openb.example.com/qos": self.qos},
            },
            "spec": spec,
            "status": {"phase": "Pending"},
        }

    def _claim(self, name: str) -> Manifest:
        request: Manifest = {
            "deviceClassName": DRIVER,
            "count": self.gpus,
            "capacity": {"requests": {"milli": str(self.gpu_milli)}},
        }
        if self.models:
            listed = ", ".join(f'"{_cel_text(model)}"' for model in self.models)
            expression = f'device.attributes["{DRIVER}"].model in [{listed}]'
            request["selectors"] = [{"cel": {"expression": expression}}]
        return device_claim(name, "gpu", request)


def _cel_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _one_of(models: Sequence[str]) -> Manifest:
    chosen = {"key": MODEL_LABEL, "operator": "In", "values": list(models)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [chosen]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
