"""Random rounds in which pods claim devices, on top of every other constraint family.

In the mix by construction: devices of a node, of a zone, of all nodes; some that differ in what a constraint
compares, or lack it; taints; partitions whose counters are in their slice or in one of their own; devices
that are shared by capacity, some of it taken; claims for exact numbers, for all devices, for the first of
several that can be had; claims of one pod, of several, of a pod group, allocated before and then held by
running pods, by a pod that waits, or by none; adminAccess; extended resources; claims that do not exist.
"""

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from kubestow.models.pod import PodResourceClaim, PodResourceClaimStatus
from support.builders import FIELDS, KEYS
from support.choices import Choices
from support.devices import (
    DRIVER,
    alternative,
    claim,
    device_class,
    first_of,
    gpu,
    request,
    slice_,
    slice_on,
    taint_rule,
    zone,
)
from support.group_rounds import Gatherer
from support.strategies import GPU, SMALL, Size, generate

WITH_GROUPS = Size(nodes=(2, 2, 3, 4), running=(0, 1, 2), pending=(2, 3, 4, 5), apps=2, cores=5)
TINY = Size(nodes=(1, 2, 2, 3, 4), running=(0, 1, 2, 3), pending=(1, 2, 3, 3, 4, 5), apps=2, cores=5)

MOST = 6
"""Devices of a tiny round."""

KINDS = {
    "network": 0.35,
    "models": 0.6,
    "links": 0.6,
    "taints": 0.25,
    "rules": 0.1,
    "partitions": 0.25,
    "shares": 0.25,
    "per device": 0.1,
    "all": 0.2,
    "first": 0.45,
    "match": 0.4,
    "distinct": 0.2,
    "admin": 0.15,
    "common": 0.45,
    "held": 0.5,
    "idle": 0.35,
    "made": 0.2,
    "extended": 0.2,
    "missing": 0.08,
    "outdated": 0.08,
    "careless": 0.05,
}
"""Kind of device or claim to the share of rounds that use it."""


def tiny_devices(seed):
    """Return the tiny round of a seed."""
    return equipped(Random(seed), TINY, f"tiny-devices-{seed}")


def small_devices(seed):
    """Return the small round of a seed."""
    return equipped(Random(seed), SMALL, f"small-devices-{seed}", most=16)


def tiny_mixed(seed):
    """Return the tiny round of a seed, with groups and devices."""
    return mixed(Random(seed), WITH_GROUPS, f"tiny-mixed-{seed}")


def small_mixed(seed):
    """Return the small round of a seed, with groups and devices."""
    return mixed(Random(seed), SMALL, f"small-mixed-{seed}", most=16)


tiny_device_rounds = st.randoms(use_true_random=False).map(lambda rng: equipped(rng, TINY, "tiny-devices"))


def equipped(rng, size, name, *, most=MOST):
    """Make a round and give its nodes devices, its pods claims."""
    return _Equipper(rng, generate(rng, size, name, often=0.35), most).snapshot()


def mixed(rng, size, name, *, most=MOST):
    """Make a round with pod groups and devices."""
    return _Equipper(rng, Gatherer(rng, generate(rng, size, name, often=0.25)).snapshot(), most).snapshot()


class _Equipper(Choices):
    def __init__(self, rng, bare, most):
        super().__init__(rng, KINDS)
        self.bare = bare
        self.left = most
        self.objects = []
        self.stock = {}
        self.free = {}
        self.recipes = {}
        self.count = 0

    def snapshot(self):
        """Equip nodes first, then running pods, then the others."""
        self.objects.append(device_class("gpu"))
        self.objects.append(device_class("fine", f'device.driver == "{DRIVER}" && {self._model("a")}'))
        if self.uses("extended"):
            self.objects.append(device_class("served", f'device.driver == "{DRIVER}"', serves=GPU))
        for node in self.bare.nodes:
            self._local(node.name)
        self._network()
        if self.uses("rules"):
            self.objects.append(taint_rule("rule", "worn", "NoSchedule", device=self.pick("g0", "g1")))
        self.groups = {group.key: group for group in self.bare.pod_groups}
        self.pool = self._common() if self.uses("common") or self.uses("idle") else []
        pods = tuple(self._pod(pod) for pod in self.bare.pods)
        found = {"pod_groups": tuple(self.groups.values())}
        parts = {field: [] for field in FIELDS.values()}
        for item in self.objects:
            parts[FIELDS[type(item)]].append(item)
        found |= {field: tuple(items) for field, items in parts.items() if items}
        return replace(self.bare, pods=pods, **found)

    # -- devices --

    def _local(self, node):
        if self.uses("partitions") and self.left >= 3 and self.chance(0.5):
            self._partitions(node)
            return
        number = min(self.left, self.pick(0, 1, 2, 2, 3))
        self.left -= number
        devices = [self._device(f"g{k}") for k in range(number)]
        if self.uses("per device") and devices and self.chance(0.6):
            places = [self.pick({"nodeName": node}, {"nodeName": node}, {"allNodes": True}) for _ in devices]
            devices = [device | place for device, place in zip(devices, places, strict=True)]
            self.objects.append(slice_(f"{node}-each", *devices, pool=node, perDeviceNodeSelection=True))
        elif devices:
            self.objects.append(slice_on(node, *devices, of=self.pick(1, 1, 1, 1, 1, 1, 2)))
        if self.uses("outdated") and devices and self.chance(0.5):
            old = gpu("old", model="a", link=0)
            self.objects.append(slice_on(node, old, name=f"{node}-old", generation=0))
        self.stock[node] = [(node, device) for device in devices if device.get("nodeName", node) == node]

    def _partitions(self, node):
        """A card that is taken as a whole, or in halves."""
        self.left -= 3
        takes = {"full": "4", "half-0": "2", "half-1": self.pick("2", "2", "3")}
        devices = [
            self._device(f"{name}", takes={"card": {"memory": amount}}) for name, amount in takes.items()
        ]
        counters = {"card": {"memory": "4"}}
        if self.chance(0.5):
            self.objects.append(slice_on(node, *devices, counters=counters))
        else:
            self.objects.append(slice_on(node, *devices, of=2))
            self.objects.append(slice_(f"{node}-counters", pool=node, of=2, counters=counters, nodeName=node))
        self.stock[node] = [(node, device) for device in self.rng.sample(devices, 1)]

    def _network(self):
        number = min(self.left, self.pick(1, 2)) if self.uses("network") else 0
        if not number:
            return
        self.left -= number
        devices = [self._device(f"n{k}") for k in range(number)]
        zones = [node.metadata.labels.get(KEYS["zone"]) for node in self.bare.nodes]
        where = self.pick({"nodeSelector": zone(self.pick(*zones) or "z1")}, {"allNodes": True})
        self.objects.append(slice_("net", *devices, **where))

    def _device(self, name, **more):
        facts = {}
        if self.uses("models") and self.chance(0.9):
            facts["model"] = self.pick("a", "a", "a", "b")
        if self.uses("links") and self.chance(0.9):
            facts["link"] = self.pick(0, 0, 1)
        if self.uses("taints") and self.chance(0.4):
            facts["taints"] = [(self.pick("worn", "slow"), self.pick("NoSchedule", "NoExecute", "None"))]
        if self.uses("shares") and self.chance(0.5):
            policy = self.pick(
                None,
                {"default": "1"},
                {"default": "2", "validRange": {"min": "2", "step": "2", "max": "4"}},
                {"default": "2", "validValues": ["2", "4"]},
            )
            facts |= {"shared": True, "capacity": {"memory": ("4", policy) if policy else "4"}}
        return gpu(name, **facts, **more)

    def _model(self, *values):
        """An expression that takes devices of some models; one that minds the missing attribute, mostly."""
        listed = ", ".join(f'"{value}"' for value in values)
        asked = f'device.attributes["{DRIVER}"].model in [{listed}]'
        if self.uses("careless"):
            return asked
        known = f'"{DRIVER}" in device.attributes && "model" in device.attributes["{DRIVER}"]'
        return f"{known} && {asked}"

    # -- what is asked for --

    def _wanted(self, admin=True):
        """Choose what a claim asks for: requests and constraints."""
        requests = [self._request(f"r{k}", admin) for k in range(self.pick(1, 1, 1, 1, 2))]
        facts = {}
        names = [item["name"] for item in requests]
        if self.uses("match") and self.chance(0.5):
            facts["match"] = self.pick("model", "link")
        if self.uses("distinct") and self.chance(0.5):
            facts["distinct"] = self.pick("model", "link")
        if facts and self.chance(0.3):
            facts["over"] = [self.pick(*names)]
        return requests, facts

    def _request(self, name, admin):
        if self.uses("first") and self.chance(0.6):
            alternatives = [self._want() for _ in range(self.pick(2, 2, 3))]
            if self.chance(0.6):
                # the last one can be had easily: what comes before is what is wanted
                alternatives[-1] = ((), {"of": "gpu", "tolerate": ("worn", "slow")})
                alternatives[0][1].update(count=2, mode=None)
            return first_of(
                name, *(alternative(f"a{k}", *e, **want) for k, (e, want) in enumerate(alternatives))
            )
        expressions, want = self._want()
        if admin and self.uses("admin") and self.chance(0.4):
            want["admin"] = True
        return request(name, *expressions, **want)

    def _want(self):
        fine = "fine" if self.uses("models") else "gpu"
        want = {"of": self.pick("gpu", "gpu", "gpu", fine)}
        expressions = (
            (self._model(self.pick("a", "a", "b")),) if self.uses("models") and self.chance(0.3) else ()
        )
        if self.uses("all") and self.chance(0.4):
            want["mode"] = "All"
        else:
            want["count"] = self.pick(1, 1, 1, 1, 2)
        if self.uses("taints") or self.uses("rules"):
            want["tolerate"] = self.pick((), ("worn",), ("worn", "slow"))
        if self.uses("shares") and self.chance(0.6):
            want["capacity"] = {"memory": self.pick("1", "2", "3")}
        return expressions, want

    # -- claims that several pods may use --

    def _common(self):
        names = []
        for k in range(self.pick(1, 1, 2)):
            name = f"common-{k}"
            if self.uses("idle") and self.chance(0.6) and self._idle(name):
                names.append(name)
            elif self.uses("common"):
                requests, facts = self._wanted()
                self.objects.append(claim(name, *requests, **facts))
                names.append(name)
        return names

    def _idle(self, name):
        """Add a claim that has its devices already, reserved for no pod, a waiting one or a running one."""
        node = self.pick(*(node.name for node in self.bare.nodes))
        took = self._take(node)
        if took is None:
            return False
        waiting = [
            pod.name for pod in self.bare.pods if not pod.spec.node_name and pod.namespace == "default"
        ]
        there = [
            pod.name for pod in self.bare.pods if pod.spec.node_name == node and pod.namespace == "default"
        ]
        users = self.pick([], [], self.rng.sample(waiting, 1) if waiting else [], there[:1])
        self.objects.append(claim(name, request("r"), has=[took], at=node, users=users))
        return True

    def _take(self, node):
        """Take a free device of a node, as an allocation has it; None where there is none."""
        free = self.free.setdefault(node, list(self.stock.get(node, ())))
        if not free:
            return None
        pool, device = free.pop()
        if not device["allowMultipleAllocations"]:
            return "r", pool, device["name"]
        amounts = {f"{DRIVER}/memory": self.pick("1", "2")}
        return (
            "r",
            pool,
            device["name"],
            {"shareID": f"share-{node}-{len(free)}", "consumedCapacity": amounts},
        )

    # -- pods --

    def _pod(self, pod):
        if pod.namespace != "default":
            return pod
        if pod.spec.node_name:
            return self._running(pod)
        template = pod.name.partition("-")[0]
        if template not in self.recipes:
            self.recipes[template] = self._recipe() if self.chance(0.75) else []
        entries, statuses = [], []
        for k, (source, content) in enumerate(self.recipes[template]):
            entry, status = self._entry(pod, f"e{k}", source, content)
            entries.append(entry)
            statuses += status
        return self._with(pod, entries, statuses)

    def _running(self, pod):
        took = self._take(pod.spec.node_name) if self.uses("held") and self.chance(0.6) else None
        if took is None:
            return pod
        name = f"of-{pod.name}"
        self.objects.append(claim(name, request("r"), has=[took], at=pod.spec.node_name, users=[pod.name]))
        return self._with(pod, [PodResourceClaim(name="e0", resource_claim_name=name)], [])

    def _with(self, pod, entries, statuses):
        return pod.model_copy(
            update={
                "spec": pod.spec.model_copy(update={"resource_claims": tuple(entries)}),
                "status": pod.status.model_copy(update={"resource_claim_statuses": tuple(statuses)}),
            }
        )

    def _recipe(self):
        """Choose the claims of a pod, and of every pod like it."""
        sources = ["own"] * 3 + ["common"] * 2 * bool(self.pool) + ["made"] * self.uses("made")
        sources += ["group"] * 2 if self.groups else []
        found = []
        for source in (self.pick(*sources) for _ in range(self.pick(1, 1, 1, 1, 2))):
            found.append((source, self.pick(*self.pool) if source == "common" else self._wanted()))
        return found

    def _entry(self, pod, entry, source, content):
        """Write an entry of a pod, with the claim where it is the pod's own."""
        if source == "common":
            return PodResourceClaim(name=entry, resource_claim_name=content), []
        reference = pod.spec.scheduling_group
        group = self.groups.get(f"{pod.namespace}/{reference.pod_group_name}") if reference else None
        if source == "group" and group is not None:
            return self._of_group(group, entry, content)
        requests, facts = content
        self.count += 1
        name = f"own-{self.count}"
        if not (self.uses("missing") and self.chance(0.3)):
            owner = pod.name if source == "made" else None
            self.objects.append(claim(name, *requests, owner=owner, **facts))
        if source == "made":
            made = PodResourceClaim(name=entry, resource_claim_template_name="t")
            return made, [PodResourceClaimStatus(name=entry, resource_claim_name=name)]
        return PodResourceClaim(name=entry, resource_claim_name=name), []

    def _of_group(self, group, entry, content):
        """Write an entry that is the group's: one claim for all members."""
        name = f"of-{group.name}-{entry}"
        item = PodResourceClaim(name=entry, resource_claim_name=name)
        if item not in group.spec.resource_claims:
            requests, facts = content
            self.objects.append(claim(name, *requests, **facts))
            spec = group.spec.model_copy(update={"resource_claims": (*group.spec.resource_claims, item)})
            self.groups[group.key] = group.model_copy(update={"spec": spec})
        return item, []
