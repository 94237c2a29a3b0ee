"""Runs a scenario: the components of a simulated cluster on one virtual clock."""

import random
from collections.abc import Callable
from typing import Protocol

from ..framework.queue.clock import SECOND
from ..framework.queue.periodic import do, next_work
from ..models.memory import no_collection
from ..models.meta import KubeObject
from ..models.node import Node
from ..models.pod import Pod
from ..models.scenario import Action, Arrivals, Cordon, Delete, Drain, Put, Scale, Scenario, Stock, Zone
from .agenda import USUAL
from .arrivals import start_arrivals
from .autoscaler import Autoscaler
from .claims import ClaimController
from .controllers import Controllers
from .daemons import Daemons
from .disruptions import Disruptions
from .drains import Drains
from .effects import Effects
from .greedy import GreedyScheduler
from .kubelet import Kubelet
from .pod_groups import PodGroups
from .record import Record
from .world import World


class Scheduler(Protocol):
    """A component that takes pods from the queue."""

    def wake(self) -> None:
        """Check the queue; called whenever something may have changed there."""


SchedulerFactory = Callable[[Effects], Scheduler]


class Simulation:
    """One run of a scenario.

    Parameters
    ----------
    scenario : Scenario
    scheduler : callable
        Makes the scheduler; kube-scheduler's loop by default.
    """

    def __init__(self, scenario: Scenario, scheduler: SchedulerFactory = GreedyScheduler) -> None:
        self.scenario = scenario
        self.world = World(scenario)
        self.disruptions = Disruptions(self.world)
        self._controllers = Controllers(self.world, self.disruptions, PodGroups(self.world))
        daemons = Daemons(self.world, self.disruptions)
        self._kubelet = Kubelet(self.world, self.disruptions)
        self._drains = Drains(self.world, self.disruptions)
        effects = Effects(self.world, self.disruptions, ClaimController(self.world))
        self._scheduler = scheduler(effects)
        self._autoscaler = (
            Autoscaler(self.world, scenario.autoscaler, daemons) if scenario.autoscaler is not None else None
        )
        self.events = 0

    @property
    def record(self) -> Record:
        """The record of the run."""
        return self.world.record

    def run(self, progress: Callable[[float], None] | None = None) -> Record:
        """Run to the end.

        Parameters
        ----------
        progress : callable, optional
            Called with the virtual time now and then (seconds).
        """
        # Few objects are in cycles, and looking for them costs time in proportion to all pods ever seen.
        with no_collection():
            return self._run(progress)

    def _run(self, progress: Callable[[float], None] | None) -> Record:
        self._begin()
        world, end = self.world, self.scenario.duration
        clock, agenda, queue = world.clock, world.agenda, world.queue
        wake = self._scheduler.wake
        while True:
            work = next_work(queue) if queue.has_waiting else None
            time = agenda.next_time
            if work is not None and (time is None or work[0] < time):
                time = work[0]
            if time is None or time > end:
                break
            if time > clock.now:
                clock.now = time
            self.events += 1
            while work is not None and work[0] <= clock.now:
                do(queue, work[1])
                work = next_work(queue)
            agenda.run_due()
            wake()
            if progress is not None and not self.events % 256:
                progress(clock.now / SECOND)
        clock.now = end
        return self.record

    def _begin(self) -> None:
        world = self.world
        world.start()
        if self._autoscaler is not None:
            self._autoscaler.start()
        for event in self.scenario.events:
            world.agenda.at(event.at, self._act, USUAL, event.action)
        world.agenda.run_due()
        self._scheduler.wake()

    # -- the scenario's events ------------------------------------------------------------

    def _act(self, action: Action) -> None:
        world = self.world
        match action:
            case Put(objects):
                for item in objects:
                    self._put(item)
            case Delete(kind, key):
                self._delete(kind, key)
            case Scale(kind, key, replicas):
                self._controllers.scale(kind, key, replicas)
            case Cordon(node, on):
                self._drains.cordon(node, on=on)
            case Drain(node):
                self._drains.drain(node)
            case Zone(label, value, dark):
                world.record.write("ZoneDown" if dark else "ZoneUp", key=label, value=value)
                self._kubelet.set_dark(label, value, dark=dark)
            case Stock(group, out):
                world.record.write("SoldOut" if out else "InStock", group=group)
                if self._autoscaler is not None:
                    self._autoscaler.set_stock(group, out=out)
            case Arrivals():
                start_arrivals(world, action, random.Random(self.scenario.seed + action.seed))

    def _put(self, item: KubeObject) -> None:
        old = self.world.objects.get(type(item), item.key)
        if isinstance(item, Pod) and isinstance(old, Pod):
            # A user's change replaces the spec; what others have added since stays.
            spec = item.spec.model_copy(
                update={
                    "node_name": old.spec.node_name,
                    "priority": old.spec.priority,
                    "preemption_policy": old.spec.preemption_policy,
                }
            )
            meta = {"labels": item.metadata.labels, "annotations": item.metadata.annotations}
            new = old.model_copy(update={"spec": spec, "metadata": old.metadata.model_copy(update=meta)})
            self.world.change(old, new)
            return
        self.world.put(item)

    def _delete(self, kind: str, key: str) -> None:
        from ..models.kinds import KINDS

        model = KINDS[kind]
        found = self.world.objects.get(model, key) if issubclass(model, KubeObject) else None
        if found is None:
            self.world.record.write("Skipped", what=f"delete {kind} {key}: there is none")
        elif isinstance(found, Pod):
            self.disruptions.delete(found)
        elif isinstance(found, Node):
            self.world.change(found, None)
        else:
            self._controllers.delete(found)
