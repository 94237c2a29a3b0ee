"""Runs of scenarios, for tests: the log as a list, and what to look for in it."""

from collections import Counter
from dataclasses import replace

from kubestow.instances import catalogue, scenarios
from kubestow.instances.scenario_loader import load_scenario
from kubestow.models.features import FeatureGates
from kubestow.models.pod import Pod
from kubestow.models.scenario import Put
from kubestow.simulation.engine import Simulation
from kubestow.simulation.greedy import GreedyScheduler


class Run:
    """A finished run."""

    def __init__(self, scenario, scheduler=GreedyScheduler):
        self.simulation = Simulation(scenario, scheduler)
        self.log = []
        self.simulation.record.sink = self.log.append
        self.record = self.simulation.run()

    def of(self, event, **what):
        """Return the entries of an event that say something."""
        return [e for e in self.log if e["event"] == event and all(e.get(k) == v for k, v in what.items())]

    def times(self, event, **what):
        return [e["t"] for e in self.of(event, **what)]

    def bound(self, pod):
        """Return the one time at which a pod was bound, and where."""
        [entry] = self.of("PodBound", pod=f"default/{pod}")
        return entry["t"], entry["node"]


def overfull(done, room):
    """Return when pods on a node asked for more than `room` cpus, by the log; nothing for never."""
    put = (e.action.objects for e in done.simulation.scenario.events if isinstance(e.action, Put))
    every = [*done.simulation.scenario.snapshot.pods, *(item for items in put for item in items)]
    asks = {
        item.key: sum(c.resources.requests["cpu"] for c in item.spec.containers)
        for item in every
        if isinstance(item, Pod)
    }
    taken = Counter()
    for pod in every:
        if isinstance(pod, Pod) and pod.spec.node_name:
            taken[pod.spec.node_name] += asks[pod.key]
    found = []
    for entry in done.log:
        if entry["event"] in ("PodBound", "PodGone", "PodFinished") and entry["node"]:
            by = asks[entry["pod"]]
            taken[entry["node"]] += by if entry["event"] == "PodBound" else -by
            if taken[entry["node"]] > room:
                found.append(entry)
    return found


def bundled(name, gates=""):
    return load_scenario(scenarios.path(name), catalogue.locate, FeatureGates.parse(gates))


def scenario(tmp_path, text, **changes):
    """Read a scenario from text."""
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    return replace(load_scenario(path), **changes)
