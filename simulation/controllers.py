"""The controllers of workloads: ReplicaSet, Deployment, StatefulSet, Job.

They react once to all that happened at one time. Names are the owner's and a number that is never used again
(a StatefulSet's ordinals apart), so that a run can be repeated.

Sources: kubernetes pkg/controller/{replicaset,deployment,statefulset,job}.
"""

from collections import Counter
from hashlib import sha256
from typing import Any

from ..models.annotations import COMPLETION_INDEX
from ..models.controllers import Deployment, Job, ReplicaSet, ReplicaSetSpec, StatefulSet
from ..models.meta import KubeObject
from ..models.pod import Pod, PodSchedulingGroup, PodTemplateSpec
from ..models.surplus import ordinal_of, who_goes_first
from .agenda import LATE
from .disruptions import Disruptions
from .offspring import Key, Offspring, owned_by
from .pod_groups import PodGroups
from .world import World

Workload = ReplicaSet | Deployment | StatefulSet | Job
_KINDS: dict[str, type[Workload]] = {
    "ReplicaSet": ReplicaSet,
    "Deployment": Deployment,
    "StatefulSet": StatefulSet,
    "Job": Job,
}
_HASH = "pod-template-hash"


class Controllers:
    """See the module's docstring.

    Parameters
    ----------
    world : World
    disruptions : Disruptions
        Through which surplus pods are deleted.
    pod_groups : PodGroups
        The groups of Jobs' pods.
    """

    def __init__(self, world: World, disruptions: Disruptions, pod_groups: PodGroups) -> None:
        self._world = world
        self._pod_groups = pod_groups
        self._disruptions = disruptions
        self._offspring = Offspring(world, _KINDS)
        self._sets: dict[str, dict[str, None]] = {}
        self._succeeded: Counter[Key] = Counter()
        self._done_indexes: dict[Key, set[str]] = {}
        self._dirty: dict[Key, None] = {}
        self._scheduled = False
        world.listeners.add(self._changed, "Pod", owned=True)
        world.listeners.add(self._changed, *_KINDS)

    # -- which workloads are to reconcile ------------------------------------------------------------

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        item = new if new is not None else old
        if isinstance(item, Pod):
            key = self._offspring.parent(item)
            if key is not None:
                self._pod_changed(key, old, new)
                self._touch(key)
                if key[0] == "ReplicaSet":
                    self._touch_deployment(key[1])
        elif item is not None and item.kind in _KINDS:
            if new is None:
                self._offspring.deleted(item)
            if isinstance(item, ReplicaSet) and (parent := self._offspring.parent(item)) is not None:
                sets = self._sets.setdefault(parent[1], {})
                if new is None:
                    sets.pop(item.key, None)
                else:
                    sets[item.key] = None
                self._touch(parent)
            self._touch((item.kind, item.key))

    def _touch_deployment(self, key: str) -> None:
        """Reconcile the Deployment of a ReplicaSet, if it has one: a rollout waits for pods."""
        item = self._world.objects.get(ReplicaSet, key)
        parent = self._offspring.parent(item) if item is not None else None
        if parent is not None:
            self._touch(parent)

    def _pod_changed(self, key: Key, old: KubeObject | None, new: KubeObject | None) -> None:
        self._offspring.follow(key, old, new)
        finished = isinstance(old, Pod) and not old.is_terminal
        if key[0] == "Job" and isinstance(new, Pod) and finished and new.status.phase == "Succeeded":
            self._succeeded[key] += 1
            self._done_indexes.setdefault(key, set()).add(new.metadata.annotations.get(COMPLETION_INDEX, ""))

    def _touch(self, key: Key) -> None:
        self._dirty[key] = None
        if not self._scheduled:
            self._scheduled = True
            self._world.agenda.after(0, self._run, LATE)

    def _run(self) -> None:
        self._scheduled = False
        dirty, self._dirty = self._dirty, {}
        for kind, key in dirty:
            item = self._world.objects.get(_KINDS[kind], key)
            if item is None:
                for pod in self._offspring.orphans((kind, key)):
                    self._disruptions.delete(pod)
            elif isinstance(item, Deployment):
                self._deployment(item)
            elif isinstance(item, ReplicaSet):
                self._replica_set(item)
            elif isinstance(item, StatefulSet):
                self._stateful_set(item)
            else:
                self._job(item)

    # -- kinds ------------------------------------------------------------

    def _replica_set(self, item: ReplicaSet) -> None:
        active = self._offspring.active(item)
        for _ in range(item.spec.replicas - len(active)):
            self._offspring.create(item, item.spec.template, self._offspring.next_name(item))
        surplus = len(active) - item.spec.replicas
        if surplus > 0:
            for pod in sorted(active, key=who_goes_first)[:surplus]:
                self._disruptions.delete(pod)

    def _deployment(self, item: Deployment) -> None:
        """Roll out: grow the newest ReplicaSet, shrink the others, within surge and unavailability."""
        world, spec = self._world, item.spec
        name = f"{item.name}-{_hash(spec.template)}"
        sets = [
            found
            for key in self._sets.get(item.key, ())
            if (found := world.objects.get(ReplicaSet, key)) is not None
        ]
        newest = next((each for each in sets if each.spec.template.spec == spec.template.spec), None)
        newest = newest or next((each for each in sets if each.name == name), None)
        others = [each for each in sets if each is not newest]
        if newest is None:
            newest = self._new_set(item, name)
        if item.spec.paused:
            return
        surge, unavailable = _allowances(item)
        total = newest.spec.replicas + sum(each.spec.replicas for each in others)
        if spec.strategy.type == "Recreate":
            left = any(self._offspring.pods(each) for each in others)
            for each in others:
                self._resize(each, 0)
            self._resize(newest, newest.spec.replicas if left else spec.replicas)
            return
        if newest.spec.replicas > spec.replicas:
            self._resize(newest, spec.replicas)
        elif newest.spec.replicas < spec.replicas:
            room = spec.replicas + surge - total
            if room > 0:
                self._resize(newest, min(spec.replicas, newest.spec.replicas + room))
        available = sum(self._available(each) for each in (newest, *others))
        spare = available - (spec.replicas - unavailable)
        for each in others:
            # Unavailable pods are no loss.
            broken = max(0, each.spec.replicas - self._available(each))
            cut = min(each.spec.replicas, broken + max(0, spare))
            spare -= max(0, cut - broken)
            if cut > 0:
                self._resize(each, each.spec.replicas - cut)

    def _available(self, item: ReplicaSet) -> int:
        running = (None, "Running")
        return sum(
            bool(pod.spec.node_name) and pod.status.phase in running for pod in self._offspring.active(item)
        )

    def _new_set(self, item: Deployment, name: str) -> ReplicaSet:
        template = item.spec.template
        labels = {**template.metadata.labels, _HASH: name.rpartition("-")[2]}
        template = template.model_copy(
            update={"metadata": template.metadata.model_copy(update={"labels": labels})}
        )
        first = not self._sets.get(item.key)
        made = ReplicaSet(
            metadata=owned_by(item, name, labels),
            spec=ReplicaSetSpec(
                replicas=item.spec.replicas if first else 0, selector=item.spec.selector, template=template
            ),
        )
        self._world.put(made)
        return made

    def _resize(self, item: ReplicaSet, replicas: int) -> None:
        if item.spec.replicas != replicas:
            spec = item.spec.model_copy(update={"replicas": replicas})
            self._world.change(item, item.model_copy(update={"spec": spec}))

    def _stateful_set(self, item: StatefulSet) -> None:
        start = item.spec.ordinals.start if item.spec.ordinals is not None else 0
        in_order = item.spec.pod_management_policy == "OrderedReady"
        last = start + item.spec.replicas
        for ordinal in range(start, last):
            name = f"{item.name}-{ordinal}"
            pod = self._world.pod(f"{item.namespace}/{name}")
            if pod is None:
                labels = {
                    "apps.kubernetes.io/pod-index": str(ordinal),
                    "statefulset.kubernetes.io/pod-name": name,
                }
                self._offspring.create(item, item.spec.template, name, labels)
            if in_order and (pod is None or pod.is_terminating or pod.status.phase not in (None, "Running")):
                return
        surplus = [p for p in self._offspring.active(item) if ordinal_of(p) >= last]
        for pod in sorted(surplus, key=ordinal_of, reverse=True)[: 1 if in_order else None]:
            self._disruptions.delete(pod)

    def _job(self, item: Job) -> None:
        key, spec = (item.kind, item.key), item.spec
        active = self._offspring.active(item)
        parallelism = 1 if spec.parallelism is None else spec.parallelism
        done = self._succeeded[key]
        if spec.suspend:
            wanted = 0
        elif spec.completions is None and spec.parallelism is not None:
            wanted = len(active) if done else parallelism
        else:
            wanted = min(parallelism, (1 if spec.completions is None else spec.completions) - done)
        labels = {"batch.kubernetes.io/job-name": item.name, "job-name": item.name}
        taken = self._done_indexes.get(key, set()) | {
            p.metadata.annotations.get(COMPLETION_INDEX, "") for p in active
        }
        group = self._pod_groups.of_job(item)
        named = {"scheduling_group": PodSchedulingGroup(pod_group_name=group)} if group is not None else None
        free = (str(index) for index in range(spec.completions or 0) if str(index) not in taken)
        for _ in range(wanted - len(active)):
            marks: dict[str, str] = {}
            if spec.completion_mode == "Indexed":
                marks = {COMPLETION_INDEX: next(free)}
            name = self._offspring.next_name(item)
            self._offspring.create(item, spec.template, name, {**labels, **marks}, marks, named)
        for pod in active[wanted:] if wanted < len(active) else ():
            self._disruptions.delete(pod)

    # -- pods ------------------------------------------------------------

    def scale(self, kind: str, key: str, replicas: int) -> None:
        """Set a workload's replicas, or a Job's parallelism."""
        item = self._world.objects.get(_KINDS[kind], key)
        if item is None:
            self._world.record.write("Skipped", what=f"scale {kind} {key}: there is none")
            return
        field = "parallelism" if isinstance(item, Job) else "replicas"
        spec: Any = item.spec
        self._world.change(item, item.model_copy(update={"spec": spec.model_copy(update={field: replicas})}))

    def delete(self, item: KubeObject) -> None:
        """Delete a workload, and with it what it owns."""
        for key in list(self._sets.get(item.key, ())) if item.kind == "Deployment" else ():
            found = self._world.objects.get(ReplicaSet, key)
            if found is not None:
                self._world.change(found, None)
        self._world.change(item, None)


def _hash(template: PodTemplateSpec) -> str:
    return sha256(template.model_dump_json(exclude_defaults=True).encode()).hexdigest()[:8]


def _allowances(item: Deployment) -> tuple[int, int]:
    """Return how many pods a rollout may have too many and too few."""
    rolling, replicas = item.spec.strategy.rolling_update, item.spec.replicas

    def share(value: int | str, up: bool) -> int:
        if isinstance(value, int):
            return value
        hundredths = int(value.rstrip("%")) * replicas
        return -(-hundredths // 100) if up else hundredths // 100

    surge, unavailable = share(rolling.max_surge, True), share(rolling.max_unavailable, False)
    return (surge, unavailable) if surge or unavailable else (surge, 1)
