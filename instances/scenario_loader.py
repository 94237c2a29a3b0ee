"""Scenarios from YAML: a cluster and what happens to it (docs/simulate.md has the format)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any, Final, get_args

from ..models.base import parse_duration, parse_timestamp
from ..models.config import KubeSchedulerConfiguration
from ..models.errors import KubestowError
from ..models.features import FeatureGates
from ..models.kinds import KINDS, find_kind
from ..models.meta import KubeObject
from ..models.node import ZONE, Node
from ..models.pod import Pod
from ..models.scenario import (
    SECOND,
    Action,
    Arrivals,
    Autoscaler,
    Cordon,
    Delete,
    Drain,
    Expander,
    Kind,
    NodeGroup,
    Pace,
    Put,
    Scale,
    Scenario,
    Stock,
    TimedEvent,
    Zone,
)
from ..models.snapshot import Snapshot
from ..models.validation import check, read
from .clock import DEFAULT_START
from .crowds import MOST_PODS, pods_of, refuse_crowds
from .documents import the_document
from .files import read_file, read_files
from .manifests import load_snapshot, parse_snapshot
from .one_object import one_object
from .scenario_nodes import refuse_unknown_nodes
from .scenario_reader import REQUIRED, Section
from .sktrace import Trace, load_sktrace

HOST: Final = "kubernetes.io/hostname"
_AFTER_A_TRACE: Final = 60 * SECOND
_SCALABLE: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job")


Cluster = Callable[[FeatureGates], Snapshot]
"""Reads a cluster for a scheduler with these gates off."""


def load_scenario(
    path: str | Path,
    locate: Callable[[str], str] = str,
    feature_gates: FeatureGates | None = None,
    cluster: Cluster | None = None,
) -> Scenario:
    """Read a scenario.

    Parameters
    ----------
    path : str or Path
        A YAML or JSON file, `-` for standard input.
    locate : callable
        From an instance's name to what to read.
    feature_gates : FeatureGates, optional
        Gates that are off beside those that the scenario switches off.
    cluster : callable, optional
        What takes the place of the scenario's own cluster, which is not read, and of its start.

    Raises
    ------
    InputError
        For anything that is no scenario.
    """
    file, content = read_file(path, "one scenario")
    document = the_document(file, content, "a scenario")
    return _Loader(file, Path(file).parent, locate, feature_gates or FeatureGates(), cluster).scenario(
        document
    )


class _Loader:
    def __init__(
        self,
        file: str,
        folder: Path,
        locate: Callable[[str], str],
        feature_gates: FeatureGates,
        cluster: Cluster | None,
    ) -> None:
        self._file = file
        self._folder = folder
        self._locate = locate
        self._gates = feature_gates
        self._other_cluster = cluster

    def scenario(self, raw: Any) -> Scenario:
        """Read the whole document."""
        top = Section(self._file, "", raw)
        kind = top.text("kind", "Scenario")
        if kind != "Scenario":
            raise top.fault("kind", f"must be Scenario, not {kind!r}")
        top.text("apiVersion", "")
        name = top.text("name", "") or Path(self._file).name.split(".")[0]
        start = top.given("start", parse_timestamp, None)
        trace = self._trace(top)
        duration = self._time(top, "duration", None if trace is None else trace.end + _AFTER_A_TRACE)
        if duration <= 0:
            raise top.fault("duration", "must be longer than 0s")
        scheduler = top.section("scheduler")
        gates = self._feature_gates(scheduler)
        own = top.section("cluster", required=self._other_cluster is None)
        if self._other_cluster is None:
            snapshot = self._cluster(own, name, start, gates)
        else:
            snapshot = self._other_cluster(gates)
        refuse_crowds(snapshot, self._file)
        configuration = self._configuration(scheduler)
        if configuration is not None:
            snapshot = replace(snapshot, configuration=configuration)
        optimal = scheduler.section("optimal")
        pace = self._pace(scheduler, optimal, top.section("pace"))
        autoscaler = self._autoscaler(top.section("autoscaler")) if top.has("autoscaler") else None
        groups = {group.name for group in autoscaler.groups} if autoscaler is not None else set()
        sections = top.sections("events")
        events = [self._event(section, groups) for section in sections]
        refuse_unknown_nodes(sections, events, snapshot, autoscaler)
        if trace is not None:
            events += trace.events
            snapshot = replace(snapshot, notes=(*snapshot.notes, *trace.notes))
        scenario = Scenario(
            name=name,
            snapshot=replace(snapshot, name=name),
            duration=duration,
            seed=top.whole("seed", 0),
            events=tuple(sorted(events, key=lambda event: event.at)),
            autoscaler=autoscaler,
            pace=pace,
            title=top.text("title", ""),
            story=top.text("story", ""),
            source=top.text("source", ""),
            facts=top.mapping("facts"),
        )
        for section in (top, scheduler, optimal):
            section.close()
        return scenario

    # -- the sections ------------------------------------------------------------

    def _trace(self, section: Section) -> Trace | None:
        path = section.text("trace", "")
        return load_sktrace(self._folder / path) if path else None

    def _feature_gates(self, section: Section) -> FeatureGates:
        text = section.text("featureGates", "")
        try:
            given = FeatureGates.parse(text)
        except KubestowError as error:
            raise section.fault("featureGates", str(error).removeprefix("--feature-gates: ")) from None
        return FeatureGates(given.off | self._gates.off)

    def _configuration(self, section: Section) -> KubeSchedulerConfiguration | None:
        raw = section.mapping("configuration")
        if not raw:
            return None
        found = read(KubeSchedulerConfiguration, dict(raw), self._file)
        check(found, self._file)
        return found

    def _cluster(self, section: Section, name: str, start: datetime | None, gates: FeatureGates) -> Snapshot:
        instance, files = section.text("instance", ""), section.texts("files")
        objects = section.list_of("objects")
        if "" in files:
            raise section.fault(
                f"files[{files.index('')}]", "is no file or folder; the scenario's own is '.'"
            )
        if instance and (files or objects):
            raise section.fault("instance", "is the whole cluster; files and objects cannot be given as well")
        raw = [*objects, *(doc for each in section.sections("nodes") for doc in self._nodes(each))]
        section.close()
        if instance:
            found = load_snapshot([self._locate(instance)], now=start, feature_gates=gates)
            if raw:
                raise section.fault("nodes", "cannot be added to an instance")
            return found
        for index, item in enumerate(raw):
            if not isinstance(item, dict):
                raise section.fault(f"objects[{index}]", "is no Kubernetes object (a map)")
        return parse_snapshot(
            read_files([self._folder / path for path in files]),
            name=self._file,
            more=raw,
            now=start or DEFAULT_START,
            feature_gates=gates,
        )

    def _nodes(self, section: Section) -> list[dict[str, Any]]:
        """Write equal nodes out, spread over zones in turn."""
        number, prefix = section.whole("count", 1), section.text("name", "node")
        if number > MOST_PODS:
            raise section.fault("count", f"must be at most {MOST_PODS}, not {number}")
        zones, labels = section.texts("zones"), section.strings("labels")
        allocatable, taints = section.mapping("allocatable"), section.list_of("taints")
        section.close()
        if not allocatable:
            raise section.fault("allocatable", "required")
        found = []
        for k in range(number):
            name = f"{prefix}-{k}"
            zone = {ZONE: zones[k % len(zones)]} if zones else {}
            found.append(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {"name": name, "labels": {HOST: name, **zone, **labels}},
                    "spec": {"taints": list(taints)},
                    "status": {"allocatable": {"pods": "110", **allocatable}},
                }
            )
        return found

    def _pace(self, scheduler: Section, optimal: Section, section: Section) -> Pace:
        usual = Pace()
        pace = Pace(
            cycle=self._time(scheduler, "cycle", usual.cycle),
            api=self._time(scheduler, "preemptionDelay", usual.api),
            start=self._time(section, "start", usual.start),
            stop=self._time(section, "stop", usual.stop),
            retry=self._time(section, "drainRetry", usual.retry),
            dark=self._time(section, "evictAfter", usual.dark),
            driver=self._time(section, "driver", usual.driver),
            optimal=self._time(optimal, "every", usual.optimal),
            budget=self._time(optimal, "budget", round(usual.budget * SECOND)) / SECOND,
        )
        section.close()
        if pace.optimal <= 0:
            raise optimal.fault("every", "must be longer than 0s")
        if pace.budget <= 0:
            raise optimal.fault("budget", "must be longer than 0s")
        return pace

    def _autoscaler(self, section: Section) -> Autoscaler:
        usual = Autoscaler(())
        expander: Any = section.text("expander", usual.expander)
        if expander not in get_args(Expander):
            raise section.fault(
                "expander", f"must be one of {', '.join(get_args(Expander))}, not {expander!r}"
            )
        groups = tuple(self._group(each) for each in section.sections("groups"))
        names = [group.name for group in groups]
        for name in names:
            if names.count(name) > 1:
                raise section.fault("groups", f"two node groups are called {name!r}")
        found = Autoscaler(
            groups=groups,
            scan=self._time(section, "scanInterval", usual.scan),
            expander=expander,
            backoff=self._time(section, "backoff", usual.backoff),
            longest_backoff=self._time(section, "longestBackoff", usual.longest_backoff),
            unneeded=self._time(section, "unneeded", usual.unneeded),
            seed=section.whole("seed", 0),
        )
        section.close()
        if found.scan <= 0:
            raise section.fault("scanInterval", "must be longer than 0s")
        return found

    def _group(self, section: Section) -> NodeGroup:
        usual = NodeGroup("", Node())
        name = section.text("name")
        template = section.section("template", required=True)
        labels, allocatable = template.strings("labels"), template.mapping("allocatable")
        zone = template.text("zone", "")
        taints = template.list_of("taints")
        template.close()
        if not allocatable:
            raise template.fault("allocatable", "required")
        raw = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {**({ZONE: zone} if zone else {}), **labels}},
            "spec": {"taints": list(taints)},
            "status": {"allocatable": {"pods": "110", **allocatable}},
        }
        node = self._object(raw, template, "")
        assert isinstance(node, Node)
        group = NodeGroup(
            name=name,
            template=node,
            least=section.whole("min", usual.least),
            most=section.whole("max", usual.most),
            price=section.number("price", usual.price),
            provisioning=self._time(section, "provisioning", usual.provisioning),
            sold_out=section.flag("soldOut"),
            refusal=self._time(section, "refusal", usual.refusal),
        )
        section.close()
        if not 0 <= group.least <= group.most:
            raise section.fault("min", f"must be between 0 and max, not {group.least}")
        return group

    # -- events ------------------------------------------------------------

    def _event(self, section: Section, groups: set[str]) -> TimedEvent:
        at = self._time(section, "at")
        found = [name for name in _ACTIONS if section.has(name)]
        if len(found) != 1:
            known = ", ".join(_ACTIONS)
            raise section.fault("", f"must say one thing that happens, of {known}; it says {len(found)}")
        action = _ACTIONS[found[0]](self, section, groups)
        section.close()
        return TimedEvent(at, action)

    def _put(self, section: Section, groups: set[str]) -> Action:
        found: list[KubeObject] = []
        for index, raw in enumerate(section.list_of("add")):
            item = self._object(raw, section, f"add[{index}]")
            if not isinstance(item, KubeObject):
                raise section.fault(f"add[{index}]", "a scheduler's configuration cannot change on the way")
            if pods_of(item) > MOST_PODS:
                raise section.fault(
                    f"add[{index}]", f"would have {pods_of(item)} pods; {MOST_PODS} is the most"
                )
            found.append(item)
        return Put(tuple(found))

    def _delete(self, section: Section, groups: set[str]) -> Action:
        kind, key = self._reference(section, "delete", tuple(KINDS))
        return Delete(kind, key)

    def _scale(self, section: Section, groups: set[str]) -> Action:
        kind, key = self._reference(section, "scale", _SCALABLE)
        replicas = section.whole("replicas")
        if replicas > MOST_PODS:
            raise section.fault("replicas", f"must be at most {MOST_PODS}, not {replicas}")
        return Scale(kind, key, replicas)

    def _cordon(self, section: Section, groups: set[str]) -> Action:
        return Cordon(section.text("cordon"))

    def _uncordon(self, section: Section, groups: set[str]) -> Action:
        return Cordon(section.text("uncordon"), on=False)

    def _drain(self, section: Section, groups: set[str]) -> Action:
        return Drain(section.text("drain"))

    def _zone_down(self, section: Section, groups: set[str]) -> Action:
        return Zone(section.text("key", ZONE), section.text("zoneDown"))

    def _zone_up(self, section: Section, groups: set[str]) -> Action:
        return Zone(section.text("key", ZONE), section.text("zoneUp"), dark=False)

    def _sold_out(self, section: Section, groups: set[str]) -> Action:
        return self._stock(section, "soldOut", groups, out=True)

    def _in_stock(self, section: Section, groups: set[str]) -> Action:
        return self._stock(section, "inStock", groups, out=False)

    def _stock(self, section: Section, field: str, groups: set[str], *, out: bool) -> Action:
        name = section.text(field)
        if name not in groups:
            known = ", ".join(sorted(groups)) or "none"
            raise section.fault(field, f"there is no node group {name!r}; there are: {known}")
        return Stock(name, out=out)

    def _arrivals(self, section: Section, groups: set[str]) -> Action:
        inner = section.section("arrivals", required=True)
        kinds = []
        for each in inner.sections("pods"):
            raw = dict(each.mapping("pod"))
            raw = {"apiVersion": "v1", "kind": "Pod", **raw}
            item = self._object(raw, each, "pod")
            if not isinstance(item, Pod):
                raise each.fault("pod", "must be a Pod")
            kinds.append(Kind(item, each.number("weight", 1.0), self._time(each, "runsFor", 0)))
            if kinds[-1].weight <= 0:
                raise each.fault("weight", "must be more than 0")
            each.close()
        found = Arrivals(
            rate=inner.number("rate"),
            lasts=self._time(inner, "for"),
            kinds=tuple(kinds),
            seed=inner.whole("seed", 0),
        )
        inner.close()
        if not found.rate > 0:
            raise inner.fault("rate", "must be more than 0 (pods a second)")
        if not kinds:
            raise inner.fault("pods", "required")
        return found

    # -- values ------------------------------------------------------------

    def _reference(self, section: Section, field: str, kinds: Sequence[str]) -> tuple[str, str]:
        text = section.text(field)
        kind, _, key = text.partition(" ")
        key = key.strip()
        if kind in KINDS and kind not in kinds:
            raise section.fault(field, f"is for {', '.join(kinds)}, not for a {kind}")
        model = KINDS.get(kind)
        if model is None or not issubclass(model, KubeObject) or not key:
            raise section.fault(field, f"must name an object (such as {kinds[0]} default/web), not {text!r}")
        if model.namespaced and "/" not in key:
            key = f"default/{key}"
        return kind, key

    def _object(self, raw: Any, section: Section, field: str) -> Any:
        if not isinstance(raw, dict):
            raise section.fault(field, "is no Kubernetes object (a map with apiVersion, kind and metadata)")
        for name in ("apiVersion", "kind"):
            if not isinstance(raw.get(name), str) or not raw[name]:
                raise section.fault(f"{field}.{name}" if field else name, "required")
        model = find_kind(raw["kind"], raw["apiVersion"])
        if model is None:
            raise section.fault(field, f"{raw.get('apiVersion')} {raw.get('kind')} is no kind that is read")
        return one_object(model, raw, self._file)

    def _time(self, section: Section, field: str, usual: int | None = None) -> int:
        def nanoseconds(value: object) -> int:
            seconds = parse_duration(value)
            if not isfinite(seconds) or not 0 <= seconds < 1e9:
                raise ValueError("must be a time from 0s on")
            return round(seconds * SECOND)

        found: int = section.given(field, nanoseconds, REQUIRED if usual is None else usual)
        return found


_ACTIONS: Final[dict[str, Callable[[_Loader, Section, set[str]], Action]]] = {
    "add": _Loader._put,  # noqa: SLF001 (of this module)
    "delete": _Loader._delete,  # noqa: SLF001
    "scale": _Loader._scale,  # noqa: SLF001
    "cordon": _Loader._cordon,  # noqa: SLF001
    "uncordon": _Loader._uncordon,  # noqa: SLF001
    "drain": _Loader._drain,  # noqa: SLF001
    "zoneDown": _Loader._zone_down,  # noqa: SLF001
    "zoneUp": _Loader._zone_up,  # noqa: SLF001
    "soldOut": _Loader._sold_out,  # noqa: SLF001
    "inStock": _Loader._in_stock,  # noqa: SLF001
    "arrivals": _Loader._arrivals,  # noqa: SLF001
}
