"""Random rounds with groups that are evicted whole (KEP-5710, disruptionMode), in the way of pods and gangs.

In the mix by construction: two such groups over one node or several, also as replicas of a Workload, with
members of one priority or two, some of them terminating, and with more members that wait; running pods beside
them; pods and gangs of two or three levels as preemptors, some that never preempt or that fit on one node
only; a spread constraint or an anti-affinity that counts members; budgets over members, over others and over
both; guards.
"""

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from kubestow.models.kube_version import KubeVersion
from kubestow.models.scheduling import WorkloadTemplateReference
from support.builders import budget, cluster, composite, group, node, pod, workload

LEVELS = (10, 20, 30)
GUARDS = (None, None, None, None, 15, 20, 30, 35)
MOST = 7
"""Pods of a round: the exhaustive search tries them all."""

SHAPES = ("plain", "plain", "pinned", "pinned", "spread", "anti")
SPELLINGS = (("v1alpha2", "PodGroup"), ("v1alpha3", "all"), ("v1beta1", {"all": {}}))


def tiny_wholes(seed):
    """Return the tiny round of a seed."""
    return crowded(Random(seed), f"tiny-wholes-{seed}")


tiny_whole_rounds = st.randoms(use_true_random=False).map(lambda rng: crowded(rng, "tiny-wholes"))


def all_whole(snapshot):
    """Return a round in which every group is evicted whole."""

    def whole(item):
        return item.model_copy(update={"spec": item.spec.model_copy(update={"disruption_mode": "all"})})

    return replace(snapshot, name=f"{snapshot.name}-whole", pod_groups=tuple(map(whole, snapshot.pod_groups)))


def tiny_wholes_in_trees(seed):
    """Return the tiny round of a seed, its PodGroups below one CompositePodGroup."""
    rng, bare = Random(seed), tiny_wholes(seed)
    change = {
        "parent_composite_pod_group_name": "root",
        "workload_ref": WorkloadTemplateReference(workload_name="w", template_name="t"),
    }
    parts = tuple(
        item.model_copy(update={"spec": item.spec.model_copy(update=change)}) for item in bare.pod_groups
    )
    root = composite(
        "root", *(("rack",) if rng.random() < 0.2 else ()), gang=rng.choice((None, 1, 1, 2, 2, 3))
    )
    return replace(
        bare,
        name=f"{bare.name}-in-a-tree",
        kube_version=KubeVersion.V1_37,
        pod_groups=parts,
        composite_pod_groups=(root,),
    )


def tiny_whole_trees(seed):
    """Return the tiny round of a seed in a tree of which the root, or a group below it, is evicted whole."""
    rng, bare = Random(seed), tiny_wholes_in_trees(seed)
    [root] = bare.composite_pod_groups
    inner = composite("inner", gang=rng.choice((None, 1)), parent="root", disruptionMode="all")
    everything = rng.random() < 0.5
    below = {"w", "u", "g"} if rng.random() < 0.3 else {"w", "u"}
    change = {"parent_composite_pod_group_name": "inner"}
    parts = tuple(
        item.model_copy(update={"spec": item.spec.model_copy(update=change)})
        if item.metadata.name in below
        else item
        for item in bare.pod_groups
    )
    mode = {"disruption_mode": "all" if everything else "single"}
    top = root.model_copy(update={"spec": root.spec.model_copy(update=mode)})
    return replace(bare, name=f"{bare.name}-whole", pod_groups=parts, composite_pod_groups=(top, inner))


def crowded(rng, name):
    """Make a round."""
    return _Crowd(rng).snapshot(name)


class _Crowd:
    """The choices that hold for a whole round, and the objects that follow from them."""

    def __init__(self, rng):
        self.rng = rng
        self.shape = rng.choice(SHAPES)
        self.names = "abcd"[: rng.choice((1, 2, 2, 3, 3, 4))]
        self.cores = {n: rng.randint(1, 3 if len(self.names) < 3 else 2) for n in self.names}
        self.replicas = self.chance(0.1)

    def chance(self, share):
        """Whether something that so large a share of rounds or pods has is here."""
        return self.rng.random() < share

    def snapshot(self, name):
        """Put the round together."""
        rng = self.rng
        nodes = [
            node(n, zone=f"z{k % 2}", cpu=str(self.cores[n])).label(rack=f"r{k % 2}")
            for k, n in enumerate(self.names)
        ]
        labels = rng.sample(({"app": "x"}, {"app": "y"}, {"tier": "front"}), rng.choice((0, 1, 1, 2)))
        budgets = [budget(f"b{k}", by, allowed=rng.choice((0, 0, 1, 1, 2))) for k, by in enumerate(labels)]
        running = self._running()
        pending = self._pending()[: MOST - len(running)]
        return cluster(nodes, running, pending, budgets, self._groups(), name=name)

    def _groups(self):
        rng = self.rng
        version, mode = rng.choice(SPELLINGS)
        keys = ("rack",) if self.chance(0.2) else ()
        gang = group("g", *keys, gang=rng.choice((1, 2, 2, 3)))
        if self.replicas:
            policy = {"gang": {"minCount": 1}}
            return [workload("w", {"name": "w", "policy": policy, "disruptionMode": mode}), gang]
        least = rng.choice((1, 1, 2, 3, None if version == "v1alpha2" else 1))
        return [
            group("w", *keys, gang=least, version=version, disruptionMode=mode),
            group("u", gang=1, disruptionMode=rng.choice(("Pod", "PodGroup"))),
            gang,
        ]

    def _member(self, item, name):
        return item.replica("w", "w", name) if self.replicas else item.member(name)

    def _running(self):
        rng, found = self.rng, []
        own = rng.choice((0, 0, 5))
        for n, cores in self.cores.items():
            for _ in range(rng.choice((cores, cores, cores, max(0, cores - 1)))):
                item = pod(f"v{len(found)}").label(app=rng.choice("xy"), tier=rng.choice(("front", "back")))
                item = item.req(cpu="1").on(n).started(rng.randint(1, 9)).priority(rng.choice((0, 0, 5, 10)))
                if self.chance(0.7):
                    item = self._member(item, rng.choice("wwwu"))
                    item = item.priority(own) if self.chance(0.75) else item
                guard = rng.choice(GUARDS)
                item = item if guard is None else item.guard(guard)
                found.append(item.terminating() if self.chance(0.08) else item)
        return rng.sample(found, min(len(found), 4))

    def _pending(self):
        rng = self.rng
        levels = rng.sample(LEVELS, rng.choice((1, 2, 2, 3)))
        gang = rng.choice((0, 0, 2, 2, 3))
        found = [
            self._incoming(f"p{k}").priority(levels[k % len(levels)]) for k in range(rng.choice((1, 1, 2, 3)))
        ]
        level = rng.choice(levels)
        found += [
            self._incoming(f"m{k}").priority(level if self.chance(0.8) else rng.choice(levels)).member("g")
            for k in range(gang)
        ]
        if self.chance(0.3):
            more = self._member(self._incoming("more"), "w").priority(rng.choice((0, *levels)))
            found.insert(rng.randint(0, len(found)), more)
        return found

    def _incoming(self, name):
        rng = self.rng
        item = pod(name).label(app=rng.choice("xyz"), tier="new").created(rng.randint(1, 9))
        item = item.req(cpu=rng.choice(("1", "1", "1", "2")))
        if self.chance(0.1):
            item = item.never()
        if self.shape == "pinned" or self.chance(0.15):
            item = item.nodes("hostname", "In", rng.choice(self.names))
        if self.shape == "spread" and self.chance(0.6):
            item = item.spread("hostname", select={"app": rng.choice("xy")}, max_skew=rng.choice((1, 1, 2)))
        if self.shape == "anti" and self.chance(0.6):
            item = item.anti("hostname", {"app": rng.choice("xy")})
        return item
