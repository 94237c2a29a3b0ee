"""Random rounds that mix every constraint family; to be grown with every feature.

The core is a function of a `random.Random`, so that a sweep over seeds is the same on every machine, and
hypothesis may steer the very same core (`tiny_rounds`, `small_rounds`). A tiny round can be searched
exhaustively (up to 4 nodes, 5 pending pods, a few victims); a small one cannot, but is solved in a moment.

In the mix by construction: constraints that differ only in maxSkew, or only in the nodes that take part;
selectors that do not match their own pod; matching pods without the constraint; nodes without the key; pods
under two budgets; disruptions already paid for; guarded victims; pods that terminate; self affinity.
"""

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from support.builders import budget, cluster, namespace, node, pod

APPS = ("web", "db", "job")
ZONES = ("z1", "z2", "z3")
GPU = "example.com/gpu"


@dataclass(frozen=True)
class Size:
    """How big a round may be: the numbers to choose from."""

    nodes: tuple[int, ...]
    running: tuple[int, ...]
    pending: tuple[int, ...]
    apps: int
    cores: int


TINY = Size(
    nodes=(1, 2, 2, 3, 3, 4, 4), running=(0, 1, 2, 3, 4, 5), pending=(1, 2, 3, 4, 4, 5, 5), apps=2, cores=4
)
SMALL = Size(nodes=(3, 4, 5, 6, 8), running=tuple(range(2, 16)), pending=tuple(range(4, 17)), apps=3, cores=6)

FAMILIES = {
    "spread": 0.65,
    "affinity": 0.4,
    "ports": 0.15,
    "taints": 0.2,
    "node affinity": 0.2,
    "fallback": 0.3,
    "budgets": 0.6,
    "guards": 0.25,
    "terminating": 0.25,
    "never": 0.15,
    "memory": 0.15,
    "extended": 0.1,
    "slots": 0.25,
    "unlabelled": 0.25,
    "namespaces": 0.15,
    "waiting": 0.15,
    "lopsided": 0.2,
    "wishes": 0.15,
}
"""Family to the share of rounds that use it."""


def tiny(seed):
    """Return the tiny round of a seed."""
    return generate(Random(seed), TINY, f"tiny-{seed}")


def small(seed):
    """Return the small round of a seed."""
    return generate(Random(seed), SMALL, f"small-{seed}")


def _steered(size, name):
    return st.randoms(use_true_random=False).map(lambda rng: generate(rng, size, name))


tiny_rounds = _steered(TINY, "tiny")
small_rounds = _steered(SMALL, "small")


def generate(rng, size, name, *, often=1.0):
    """Make a round of a size: nodes, running pods, pending pods, budgets.

    `often` scales how often each family is used, for rounds whose point is another one.
    """
    return _Generator(rng, size, often).round(name)


class _Generator:
    def __init__(self, rng, size, often):
        self.rng = rng
        self.size = size
        self.families = {family for family, share in FAMILIES.items() if self.chance(share * often)}
        self.levels = sorted(rng.sample((-5, 0, 10, 100), rng.randint(1, 3)))
        self.low = (-10, -10, *self.levels) if self.chance(0.7) else self.levels
        self.cores = self.pick(2, size.cores)
        self.apps = rng.sample(APPS, rng.randint(1, size.apps))

    def uses(self, family):
        return family in self.families

    def chance(self, share):
        return self.rng.random() < share

    def pick(self, *choices):
        return self.rng.choice(choices)

    def round(self, name):
        nodes = self._nodes()
        running = self._running()
        pending = self._pending()
        spaces = [namespace("other", team="blue")] if self.uses("namespaces") else []
        return cluster(nodes, running, pending, self._budgets(), spaces, name=name)

    # -- nodes --

    def _nodes(self):
        count = self.pick(*self.size.nodes)
        zones = ZONES[: self.rng.randint(1, 3)]
        built, self.rooms = [], {}
        for k in range(count):
            name = f"n{k + 1}"
            cores = self.rng.randint(1, self.cores)
            if self.uses("lopsided"):
                cores = 1 if k else self.size.cores
            slots = self.rng.randint(1, 4) if self.uses("slots") else 110
            item = node(name, zone=zones[k % len(zones)], cpu=str(cores), memory="4Gi", pods=str(slots))
            item = item.label(disk=self.pick("ssd", "hdd"))
            if self.uses("unlabelled") and self.chance(0.4):
                item = item.without(self.pick("zone", "zone", "hostname"))
            if self.uses("taints") and self.chance(0.4):
                item = item.taint(
                    "dedicated", self.pick("a", "b"), effect=self.pick("NoSchedule", "NoExecute")
                )
            if self.uses("taints") and self.chance(0.1):
                item = item.cordoned()
            if self.uses("wishes") and self.chance(0.2):
                item = item.taint("busy", effect="PreferNoSchedule")
            if self.uses("extended") and self.chance(0.7):
                item = item.offer({GPU: str(self.rng.randint(1, 2))})
            self.rooms[name] = [cores * 1000, slots]
            built.append(item)
        return built

    # -- pods that run --

    def _running(self):
        built = []
        for k in range(self.pick(*self.size.running)):
            milli = self.pick(0, 500, 1000, 1000, 2000)
            fitting = [n for n, (cpu, slots) in self.rooms.items() if cpu >= milli and slots]
            # now and then a node is over-committed, as after a change of its allocatable
            if not fitting or self.chance(0.03):
                fitting = list(self.rooms)
            name = self.pick(*fitting)
            room = self.rooms[name]
            room[0] -= milli
            room[1] -= 1
            item = self._labelled(f"v{k}").on(name).started(self.rng.randint(1, 9))
            item = item.priority(self.pick(*self.low))
            if milli:
                item = item.req(cpu=f"{milli}m")
            if self.uses("guards") and self.chance(0.5):
                item = item.guard(self.pick(5, 50, 100, 101))
            if self.uses("terminating") and self.chance(0.3):
                item = item.terminating()
            if self.uses("ports") and self.chance(0.4):
                item = self._port(item)
            if self.uses("affinity") and self.chance(0.3):
                item = item.anti(self.pick("zone", "hostname"), {"app": self.pick(*self.apps)})
            built.append(item)
        self.running = built
        return built

    # -- pods that wait --

    def _pending(self):
        left = self.pick(*self.size.pending)
        built, bases = [], []
        while left:
            copies = min(left, self.pick(1, 1, 2, 3))
            left -= copies
            base = self._variant(self.rng.choice(bases)) if bases and self.chance(0.4) else self._template()
            bases.append(base)
            item = base.named(f"p{len(bases)}").created(self.rng.randint(1, 9))
            built.append(item.times(copies) if copies > 1 else item)
        if self.uses("waiting"):
            built.append(self._labelled("gated").req(cpu="1").priority(100).gated())
            built.append(self._labelled("foreign").req(cpu="1").scheduler("other-scheduler"))
        return built

    def _template(self):
        item = self._labelled("p").priority(self.pick(*self.levels, self.levels[-1]))
        if self.chance(0.85):
            item = item.req(cpu=f"{self.pick(500, 1000, 1000, 1500, 2000)}m")
        if self.uses("memory"):
            item = item.req(memory=self.pick("1Gi", "1500Mi", "2147483649", "3Gi"))
        if self.uses("extended") and self.chance(0.6):
            item = item.req({GPU: "1"})
        if self.uses("never") and self.chance(0.6):
            item = item.never()
        if self.uses("ports") and self.chance(0.6):
            item = self._port(item)
        if self.uses("taints") and self.chance(0.5):
            item = item.tolerate("dedicated", self.pick("a", "b", None))
        if self.uses("node affinity") and self.chance(0.6):
            item = self._placed(item)
        if self.uses("fallback"):
            item = self._tried(item)
        if self.uses("spread") and self.chance(0.8):
            for name in self.pick(("zone",), ("zone",), ("hostname",), ("zone", "hostname")):
                item = self._spread(item, name)
        if self.uses("affinity") and self.chance(0.7):
            item = self._affinity(item)
        if self.uses("wishes"):
            item = self._wishing(item)
        return item

    def _variant(self, base):
        """Change one thing about a template: the rest stays equal."""
        change = self.rng.randrange(5)
        spread = base.doc["spec"].get("topologySpreadConstraints")
        if change == 0 and spread:
            return base.changed(_other_skew)
        if change == 1 and spread:
            return base.select(disk=self.pick("ssd", "hdd"))
        if change == 2 and spread:
            return base.changed(lambda d: d["spec"].pop("topologySpreadConstraints"))
        if change == 3:
            return base.priority(self.pick(*self.levels))
        return base.req(cpu="1")

    def _labelled(self, name):
        space = "other" if self.uses("namespaces") and self.chance(0.3) else "default"
        item = pod(name, namespace=space)
        if self.chance(0.92):
            item = item.label(app=self.pick(*self.apps), tier=self.pick("front", "back"))
        return item

    def _port(self, item):
        return item.host_port(self.pick(80, 80, 443), ip=self.pick(None, None, "10.0.0.1", "10.0.0.2"))

    def _placed(self, item):
        if self.chance(0.5):
            return item.select(disk=self.pick("ssd", "hdd"))
        return item.nodes("zone", self.pick("In", "NotIn"), self.pick(*ZONES))

    def _tried(self, item):
        outcome = self.rng.random()
        if outcome < 0.8:
            item = item.unschedulable()
        if outcome < 0.3:
            item = item.condition("NodeProvisioningInProgress", self.pick("False", "True"))
        return item

    def _spread(self, item, name):
        labels = {"app": self.pick(*self.apps)}
        select = self.pick("own", "own", "own", "own", "app", "app", "tier", "nothing", "anything")
        criteria = ()
        if self.uses("fallback") and self.chance(0.7):
            criteria = self.pick(
                ("PreemptionFailed",),
                ("NodeProvisioningFailed",),
                ("PreemptionFailed", "NodeProvisioningFailed"),
            )
        soft = not criteria and self.chance(0.1)
        facts = {
            "max_skew": self.pick(1, 1, 2),
            "when": "ScheduleAnyway" if soft else "DoNotSchedule",
            "min_domains": None if soft else self.pick(None, None, None, 2, 3),
            "node_affinity": self.pick("Honor", "Honor", "Ignore"),
            "node_taints": self.pick("Ignore", "Ignore", "Honor"),
            "fallback": criteria,
        }
        chosen = {"app": labels, "tier": {"tier": "front"}, "nothing": None, "anything": {}}
        if select != "own":
            facts["select"] = chosen[select]
        elif self.chance(0.1):
            facts |= {"select": labels, "match_label_keys": ("tier",)}
        return item.spread(name, **facts)

    def _affinity(self, item):
        name = self.pick("zone", "zone", "hostname")
        other = {"app": self.pick(*self.apps)}
        where = {}
        if self.uses("namespaces"):
            where = self.pick(
                {},
                {"namespaces": ["other"]},
                {"namespace_selector": {}},
                {"namespace_selector": {"team": "blue"}},
            )
        kind = self.rng.randrange(6)
        if kind == 0:
            return item.affinity(name)
        if kind == 1:
            return item.affinity(name, other, **where)
        if kind == 2:
            return item.affinity("zone", other, **where).affinity("hostname", {"tier": "front"})
        if kind == 3:
            return item.anti(name)
        if kind == 4:
            return item.anti(name, other, **where)
        return item.affinity("zone", other).anti("hostname")

    def _wishing(self, item):
        labels = {"app": self.pick(*self.apps)}
        weight = self.pick(1, 10, 100)
        if self.chance(0.5):
            item = item.wish_nodes(self.pick(5, 50), "disk", "In", self.pick("ssd", "hdd"))
        if self.chance(0.4):
            item = item.wish_beside(weight, self.pick("zone", "hostname"), labels)
        if self.chance(0.4):
            item = item.wish_apart(weight, self.pick("zone", "hostname"), labels)
        if self.chance(0.4):
            item = item.spread("zone", when="ScheduleAnyway", max_skew=self.pick(1, 2), select=labels)
        return item

    # -- budgets --

    def _budgets(self):
        if not self.uses("budgets"):
            return []
        names = [item.doc["metadata"]["name"] for item in self.running]
        built = []
        for k in range(self.rng.randint(1, 3)):
            labels = self.pick(*({"app": app} for app in self.apps), {"tier": "front"}, {"tier": "back"})
            item = budget(f"b{k}", labels, allowed=self.pick(0, 0, 1, 1, 2))
            if names and self.chance(0.15):
                item = item.disrupted(self.pick(*names))
            built.append(item)
        return built


def _other_skew(doc):
    constraint = doc["spec"]["topologySpreadConstraints"][0]
    constraint["maxSkew"] = 3 - constraint["maxSkew"]
