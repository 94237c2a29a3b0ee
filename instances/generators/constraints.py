"""The constraints of the families, a class each: made for a round, then called with the pods of an app.

The class's own knobs are its arguments; what is drawn is said in its docstring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .bare_round import HOSTNAME, ZONE, BareRound, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterable

_DISK = "disk.example.com/kind"
_DEDICATED = "example.com/dedicated"


class Placement:
    """Taints, node selectors and node affinity.

    A node is tainted with probability `tainted`, and has one of two kinds of disk. An app tolerates the taint
    with probability a half; independently it has, equally likely, a node selector for a kind of disk, a
    required affinity that excludes a zone, or neither.
    """

    def __init__(self, made: BareRound, tainted: float) -> None:
        self._made = made
        for node in made.nodes:
            node["metadata"]["labels"][_DISK] = made.rng.choice(["ssd", "hdd"])
            if made.rng.random() < tainted:
                node["spec"]["taints"] = [{"key": _DEDICATED, "value": "batch", "effect": "NoSchedule"}]

    def __call__(self, pods: Iterable[Manifest]) -> None:
        """Constrain the pods of an app."""
        rng = self._made.rng
        spec: Manifest = {}
        if rng.random() < 0.5:
            spec["tolerations"] = [{"key": _DEDICATED, "operator": "Exists", "effect": "NoSchedule"}]
        kind = rng.choice(["disk", "zone", "none"])
        if kind == "disk":
            spec["nodeSelector"] = {_DISK: rng.choice(["ssd", "hdd"])}
        elif kind == "zone":
            other = {"key": ZONE, "operator": "NotIn", "values": [rng.choice(self._made.zones)]}
            terms = {"nodeSelectorTerms": [{"matchExpressions": [other]}]}
            affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
            spec["affinity"] = affinity
        for pod in pods:
            pod["spec"] |= spec


class HostPorts:
    """Ports of the host: an app has one of `ports` ports, each as likely, so apps are in each other's way."""

    def __init__(self, made: BareRound, ports: int) -> None:
        self._made, self._ports = made, ports

    def __call__(self, pods: Iterable[Manifest]) -> None:
        """Constrain the pods of an app."""
        port = 9000 + self._made.rng.randrange(self._ports)
        for pod in pods:
            pod["spec"]["containers"][0]["ports"] = [{"containerPort": port, "hostPort": port}]


class Spread:
    """Topology spread over zones or hosts, either as likely, with a `maxSkew` uniform from 1 to `max_skew`.

    An app that is spread over zones has `minDomains`, all zones, with probability `min_domains`.
    """

    def __init__(self, made: BareRound, max_skew: int, min_domains: float) -> None:
        self._made, self._max_skew, self._min_domains = made, max_skew, min_domains

    def __call__(self, pods: Iterable[Manifest]) -> None:
        """Constrain the pods of an app."""
        rng = self._made.rng
        key = rng.choice([ZONE, HOSTNAME])
        constraint = {
            "maxSkew": rng.randint(1, self._max_skew),
            "topologyKey": key,
            "whenUnsatisfiable": "DoNotSchedule",
        }
        if key == ZONE and rng.random() < self._min_domains:
            constraint["minDomains"] = len(self._made.zones)
        for pod in pods:
            selector = {"matchLabels": dict(pod["metadata"]["labels"])}
            pod["spec"]["topologySpreadConstraints"] = [{**constraint, "labelSelector": selector}]


class PodAffinity:
    """Required inter-pod affinity.

    With probability `anti` an app keeps away from itself, by host; otherwise it goes, by zone, where pods of
    another app are: any other of the round, each as likely.
    """

    def __init__(self, made: BareRound, anti: float) -> None:
        self._made, self._anti = made, anti

    def __call__(self, pods: Iterable[Manifest]) -> None:
        """Constrain the pods of an app."""
        rng = self._made.rng
        away = rng.random() < self._anti
        other = rng.choice(sorted(self._made.apps))
        for pod in pods:
            app = pod["metadata"]["labels"]["app"] if away else other
            term = {
                "topologyKey": HOSTNAME if away else ZONE,
                "labelSelector": {"matchLabels": {"app": app}},
            }
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            pod["spec"].setdefault("affinity", {})["podAntiAffinity" if away else "podAffinity"] = required
