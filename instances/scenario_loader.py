"""Scenarios from YAML: a cluster and what happens to it (docs/simulate.md has the format)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..models.base import parse_timestamp
from ..models.config import KubeSchedulerConfiguration
from ..models.errors import KubestowError
from ..models.features import FeatureGates
from ..models.scenario import SECOND, Pace, Scenario
from ..models.validation import check, read
from .clock import DEFAULT_START, EPOCH
from .crowds import refuse_crowds
from .documents import the_document
from .files import read_file
from .scenario_autoscaler import read_autoscaler
from .scenario_cluster import read_cluster
from .scenario_events import read_event
from .scenario_nodes import refuse_unknown_nodes
from .scenario_reader import REQUIRED, Section
from .scenario_trace import Trace, load_sktrace

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from ..models.snapshot import Snapshot

    Cluster = Callable[[FeatureGates], Snapshot]
    """Reads a cluster for a scheduler with these gates off."""

_AFTER_A_TRACE: Final = 60 * SECOND


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
        duration = top.time("duration", REQUIRED if trace is None else trace.end + _AFTER_A_TRACE)
        if duration <= 0:
            raise top.fault("duration", "must be longer than 0s")
        scheduler = top.section("scheduler")
        gates = self._feature_gates(scheduler)
        own = top.section("cluster", required=self._other_cluster is None)
        if self._other_cluster is None:
            snapshot = self._cluster(own, start, gates)
        else:
            snapshot = self._other_cluster(gates)
        refuse_crowds(snapshot, self._file)
        configuration = _configuration(scheduler)
        if configuration is not None:
            snapshot = replace(snapshot, configuration=configuration)
        optimal = scheduler.section("optimal")
        pace = _pace(scheduler, optimal, top.section("pace"))
        autoscaler = read_autoscaler(top.section("autoscaler")) if top.has("autoscaler") else None
        groups = {group.name for group in autoscaler.groups} if autoscaler is not None else set()
        sections = top.sections("events")
        events = [read_event(section, groups) for section in sections]
        refuse_unknown_nodes(sections, events, snapshot, autoscaler)
        if trace is not None:
            if not (self._other_cluster or snapshot.nodes or autoscaler or sections):
                raise own.fault(
                    "nodes", "none are there: a trace has no nodes of its own, give those it runs on"
                )
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

    def _cluster(self, section: Section, start: datetime | None, gates: FeatureGates) -> Snapshot:
        source = read_cluster(section, self._folder, self._locate)
        found = source.snapshot(name=self._file, now=start, feature_gates=gates)
        no_time = start is None and found.now == EPOCH
        return replace(found, now=DEFAULT_START) if no_time else found


def _configuration(section: Section) -> KubeSchedulerConfiguration | None:
    raw = section.mapping("configuration")
    if not raw:
        return None
    found = read(KubeSchedulerConfiguration, dict(raw), section.file)
    check(found, section.file)
    return found


def _pace(scheduler: Section, optimal: Section, section: Section) -> Pace:
    usual = Pace()
    pace = Pace(
        cycle=scheduler.time("cycle", usual.cycle),
        api=scheduler.time("preemptionDelay", usual.api),
        start=section.time("start", usual.start),
        stop=section.time("stop", usual.stop),
        retry=section.time("drainRetry", usual.retry),
        dark=section.time("evictAfter", usual.dark),
        driver=section.time("driver", usual.driver),
        optimal=optimal.time("every", usual.optimal),
        budget=optimal.time("budget", round(usual.budget * SECOND)) / SECOND,
    )
    section.close()
    if pace.optimal <= 0:
        raise optimal.fault("every", "must be longer than 0s")
    if pace.budget <= 0:
        raise optimal.fault("budget", "must be longer than 0s")
    return pace
