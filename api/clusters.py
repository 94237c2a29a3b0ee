"""Where a round comes from: a file, a live cluster, a bundled instance, or builders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ..models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from ..models.snapshot import Snapshot
from .arguments import text, whole
from .frames import Frame, frame
from .shown import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from rich.console import RenderableType

Instance: TypeAlias = "Cluster | Snapshot | str | Path"
"""What functions take: a cluster, or what `load` loads one from."""


@dataclass(frozen=True, eq=False, repr=False)
class Cluster(Shown):
    """A cluster with its pending pods: one round.

    Attributes
    ----------
    snapshot : Snapshot
        The objects, as all rooms of kubestow take them.
    """

    snapshot: Snapshot

    @property
    def name(self) -> str:
        """What the round is called: its file, the bundled instance, the live cluster."""
        return self.snapshot.name

    def report(self) -> RenderableType:
        """Return a line: nodes and pods."""
        from rich.text import Text

        from ..reports.words import count

        pods = [pod for pod in self.snapshot.pods if not pod.is_terminal]
        running = sum(bool(pod.spec.node_name) for pod in pods)
        return Text(
            f"{self.name}: {count(len(self.snapshot.nodes), 'node')}, {count(running, 'running pod')}, "
            f"{count(len(pods) - running, 'waiting pod')}, kube-scheduler {self.snapshot.kube_version}"
        )

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each pod: namespace, name, node (None: waiting), priority."""
        return frame(
            {
                "namespace": pod.namespace,
                "pod": pod.name,
                "node": pod.spec.node_name or None,
                "priority": pod.spec.priority or 0,
                "phase": pod.status.phase or None,
            }
            for pod in self.snapshot.pods
        )

    def to_manifest(self) -> str:
        """Return what kubestow reads of the objects, as YAML."""
        from .builders.rounds import manifest

        return manifest(self.snapshot)


def load(
    source: str | Path,
    *,
    kube_version: str = DEFAULT_KUBE_VERSION,
    now: datetime | None = None,
    expand: bool = False,
    feature_gates: str = "",
) -> Cluster:
    """Load a cluster, as the command line does.

    Parameters
    ----------
    source : str or Path
        A file or folder of manifests, or the name of a bundled instance.
    kube_version : str
        Whose kube-scheduler: 1.34, 1.36 or 1.37.
    now : datetime, optional
        The time of the round; the newest timestamp of the input by default.
    expand : bool
        Whether workloads get the pods that they lack.
    feature_gates : str
        ``"Name=false,..."``

    Raises
    ------
    InputError
        For what cannot be read, or what an API server would refuse.
    """
    from ..instances import catalogue
    from ..instances.manifests import load_snapshot
    from ..models.features import FeatureGates

    text("feature_gates", feature_gates)
    version = _release(kube_version)
    snapshot = load_snapshot(
        [catalogue.locate(str(source))],
        now=now,
        expand=expand,
        feature_gates=FeatureGates.parse(feature_gates),
    )
    return Cluster(replace(snapshot, name=str(source), kube_version=version))


def live(
    *,
    context: str = "",
    kubeconfig: str = "",
    kube_version: str = DEFAULT_KUBE_VERSION,
    expand: bool = False,
    feature_gates: str = "",
) -> Cluster:
    """Load the cluster that kubectl reaches; nothing is asked of it but lists (docs/live.md).

    Parameters
    ----------
    context, kubeconfig : str
        In kubectl's words; each kubectl's own where it is empty.
    kube_version, expand, feature_gates
        As in `load`.

    Raises
    ------
    KubestowError
        Where kubectl does not reach it, or may not list what is needed.
    """
    from ..instances.live.cluster import Target, live_snapshot
    from ..models.features import FeatureGates

    text("feature_gates", feature_gates)
    version = _release(kube_version)
    snapshot = live_snapshot(
        Target(context, kubeconfig), expand=expand, feature_gates=FeatureGates.parse(feature_gates)
    )
    return Cluster(replace(snapshot, kube_version=version))


def cluster(
    *objects: Any,
    name: str = "cluster",
    kube_version: str = DEFAULT_KUBE_VERSION,
    feature_gates: str = "",
    configuration: Mapping[str, Any] | None = None,
) -> Cluster:
    """Put builders, built objects and iterables of either together as a cluster.

    Parameters
    ----------
    configuration : mapping, optional
        A KubeSchedulerConfiguration as in a file.

    Raises
    ------
    KubestowError
        For what is no object, what an API server would refuse, and two of a kind with the same name.
    """
    from .builders.rounds import snapshot_of
    from .checks import admissible

    text("feature_gates", feature_gates)
    return Cluster(
        admissible(
            snapshot_of(
                *objects,
                name=name,
                gates=feature_gates,
                configuration=configuration,
                release=_release(kube_version).value,
            )
        )
    )


def generate(
    family: str, seed: int = 0, *, kube_version: str = DEFAULT_KUBE_VERSION, **knobs: int | float | str
) -> Cluster:
    """Make a round of a family of generators (docs/generators.md has them, and their knobs).

    Parameters
    ----------
    family : str
        As `kubestow generate` lists it.
    seed : int
        Another one gives another round; the same gives the same.
    kube_version : str
        As in `load`.
    **knobs
        Other values than the family's defaults.

    Raises
    ------
    KubestowError
        Where there is no such family or knob, or a value is out of range.
    """
    from ..instances.generators import registry
    from ..instances.manifests import snapshot_of

    version = _release(kube_version)
    whole("seed", seed, 0)
    text("family", family)
    made = snapshot_of(registry.generate(family, seed, **knobs), name=f"{family}-{seed}")
    return Cluster(replace(made, kube_version=version))


def _release(kube_version: str) -> KubeVersion:
    text("kube_version", kube_version)
    return KubeVersion.parse(kube_version, option="kube_version")


def snapshot_from(instance: Instance) -> Snapshot:
    """Return the snapshot of whatever stands for a cluster; files and bundled instances are loaded."""
    if isinstance(instance, Snapshot):
        return instance
    return instance.snapshot if isinstance(instance, Cluster) else load(instance).snapshot
