"""Random rounds in which pods have volumes, on top of every other constraint family.

In the mix by construction: volumes that only some claims can take, of different sizes on one node; claims
that several pods use; volumes that are made where a zone or free storage allows; limits, also exceeded ones;
disks; ReadWriteOncePod claims in use; volumes attached without a pod; volumes reserved for a claim; selected
nodes.
"""

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from kubestow.models.volumes import Volume
from support.builders import FIELDS
from support.choices import Choices
from support.storage import (
    MAKE,
    NOW,
    WAIT,
    attachment,
    claim,
    csi_driver,
    csi_node,
    free,
    storage_class,
    volume,
)
from support.strategies import SMALL, TINY, ZONES, generate

KINDS = {
    "static": 0.7,
    "made": 0.4,
    "bound": 0.5,
    "shared": 0.5,
    "exclusive": 0.3,
    "limits": 0.6,
    "disks": 0.3,
    "attachments": 0.2,
    "reserved": 0.2,
    "capacity": 0.4,
}
"""Kind of volume to the share of rounds that use it."""


def tiny_volumes(seed):
    """Return the tiny round of a seed."""
    return furnished(Random(seed), TINY, f"tiny-volumes-{seed}")


def small_volumes(seed):
    """Return the small round of a seed."""
    return furnished(Random(seed), SMALL, f"small-volumes-{seed}")


tiny_volume_rounds = st.randoms(use_true_random=False).map(lambda rng: furnished(rng, TINY, "tiny-volumes"))


def furnished(rng, size, name):
    """Make a round and give its pods volumes."""
    return _Furnisher(rng, generate(rng, size, name)).snapshot()


class _Furnisher(Choices):
    def __init__(self, rng, bare):
        super().__init__(rng, KINDS)
        self.bare = bare
        self.nodes = [node.name for node in bare.nodes]
        self.storage = [WAIT, MAKE, NOW, storage_class("both", zones=self.pick(None, ZONES[:1], ZONES[1:]))]
        self.recipes = {}
        self.count = 0

    def snapshot(self):
        """Furnish every pod, then add what the nodes and the drivers say."""
        self.pool = [f"shared-{k}" for k in range(self.rng.randint(1, 2))]
        for space in ("default", "other"):
            for name in self.pool:
                self._pooled(name, space)
        pods = tuple(self._pod(pod) for pod in self.bare.pods)
        self._free_volumes()
        self._nodes()
        parts = {field: [] for field in FIELDS.values()}
        for item in self.storage:
            parts[FIELDS[type(item)]].append(item)
        found = {field: tuple(items) for field, items in parts.items() if items}
        return replace(self.bare, pods=pods, **found)

    # -- claims that several pods may use --

    def _pooled(self, name, space):
        exclusive = self.uses("exclusive") and self.chance(0.7)
        modes = ("ReadWriteOncePod",) if exclusive else ("ReadWriteOnce",)
        kind = self.pick("bound", "bound", "wait", "both", "make")
        if kind == "bound":
            self._bound(name, space, modes)
        else:
            self.storage.append(claim(name, self.pick(1, 2), kind, namespace=space, modes=modes))

    def _bound(self, name, space="default", modes=("ReadWriteOnce",)):
        """Add a claim with the volume that it is bound to."""
        full = f"{space}-{name}"
        places = {"on": self.rng.sample(self.nodes, self.rng.randint(1, len(self.nodes)))}
        if self.chance(0.5):
            places = {"zones": self.rng.sample(ZONES, 2)} if self.chance(0.5) else {}
        labels = {"topology.kubernetes.io/zone": self.pick("z1", "z1__z2")} if self.chance(0.2) else {}
        self.storage.append(claim(name, 1, "make", namespace=space, modes=modes, to=full))
        self.storage.append(
            volume(
                full,
                1,
                "make",
                modes=modes,
                to=f"{space}/{name}",
                phase="Bound",
                handle=full,
                labels=labels,
                **places,
            )
        )
        if self.uses("attachments") and self.chance(0.5):
            self.storage.append(attachment(self.pick(*self.nodes), full))

    # -- pods --

    def _pod(self, pod):
        template = pod.name.partition("-")[0]
        if template not in self.recipes:
            running = bool(pod.spec.node_name)
            self.recipes[template] = self._recipe(running) if self.chance(0.5 if running else 0.75) else []
        volumes = [
            Volume.model_validate({"name": f"v{k}"} | self._source(pod, *ingredient))
            for k, ingredient in enumerate(self.recipes[template])
        ]
        return pod.model_copy(update={"spec": pod.spec.model_copy(update={"volumes": tuple(volumes)})})

    def _recipe(self, running):
        """Choose what a pod, and every pod like it, brings."""
        kinds = [("bound",)] * (self.uses("bound") or running)
        if not running:
            kinds += [("wait", self.pick(1, 2, 4)), ("both", self.pick(1, 2))] * self.uses("static")
            kinds += [("make", self.pick(1, 2))] * self.uses("made")
        kinds += [("shared", self.pick(*self.pool))] * (self.uses("shared") or self.uses("exclusive"))
        kinds += [("disk", self.pick("d1", "d2"), self.chance(0.5))] * self.uses("disks")
        return [self.rng.choice(kinds) for _ in range(self.pick(1, 1, 2))] if kinds else []

    def _source(self, pod, kind, *facts):
        if kind == "shared":
            return {"persistentVolumeClaim": {"claimName": facts[0]}}
        if kind == "disk":
            return {"gcePersistentDisk": {"pdName": facts[0], "readOnly": facts[1]}}
        self.count += 1
        name = f"own-{self.count}"
        if kind == "bound":
            self._bound(name, pod.namespace)
        else:
            self._wanted(name, pod.namespace, kind, facts[0])
        return {"persistentVolumeClaim": {"claimName": name}}

    def _wanted(self, name, space, kind, size):
        facts = {}
        if self.chance(0.15):
            facts["select"] = {"media": "ssd"}
        if kind != "wait" and self.chance(0.1):
            facts["selected"] = self.pick(*self.nodes)
        if self.chance(0.03):
            kind = "now"
        self.storage.append(claim(name, size, kind, namespace=space, **facts))
        if self.uses("reserved") and self.chance(0.4):
            place = [self.pick(*self.nodes)]
            self.storage.append(volume(f"for-{name}", size, kind, on=place, to=f"{space}/{name}"))

    # -- volumes that wait, and nodes --

    def _free_volumes(self):
        if not self.uses("static"):
            return
        for k in range(self.rng.randint(1, 5)):
            places = {"on": [self.pick(*self.nodes)]}
            if self.chance(0.3):
                places = {"zones": [self.pick(*ZONES)]} if self.chance(0.5) else {}
            modes = ("ReadWriteOncePod",) if self.chance(0.3) else ("ReadWriteOnce",)
            labels = {"media": self.pick("ssd", "hdd")}
            size, kind = self.pick(1, 2, 2, 4, 5), self.pick("wait", "wait", "wait", "both")
            self.storage.append(volume(f"free-{k}", size, kind, labels=labels, modes=modes, **places))

    def _nodes(self):
        if self.uses("limits"):
            self.storage += [
                csi_node(name, volumes=self.pick(0, 1, 1, 2, 2, 3)) for name in self.nodes if self.chance(0.8)
            ]
        if self.uses("capacity"):
            self.storage.append(csi_driver(capacity=True))
            self.storage += [
                free(self.pick(1, 2, 5), storage=self.pick("make", "both"), zone=zone) for zone in ZONES
            ]
