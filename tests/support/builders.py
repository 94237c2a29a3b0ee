"""Objects in one line, for tests: one verb per fact, nothing shared between tests.

    cluster(
        node("a", zone="z1", cpu="2"),
        pod("v").req(cpu="2").priority(0).on("a"),
        pod("p").req(cpu="1").priority(10).label(app="web").spread("zone", max_skew=1),
        budget("keep", allowed=0, app="web"),
    )

Builders are frozen: every verb returns a new one, so a half-built pod may be kept and varied. Short names of
keys: `zone`, `region` and `hostname` are the well-known labels, any other key is taken as written.
"""

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import yaml

from kubestow.models.config import KubeSchedulerConfiguration
from kubestow.models.controllers import Namespace
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from kubestow.models.meta import ObjectMeta
from kubestow.models.node import Node
from kubestow.models.pod import Pod
from kubestow.models.policy import PodDisruptionBudget
from kubestow.models.resource_api import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubestow.models.scheduling import CompositePodGroup, PodGroup, Workload
from kubestow.models.snapshot import Snapshot
from kubestow.models.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""The time of every round that tests build."""

KEYS = {
    "zone": "topology.kubernetes.io/zone",
    "region": "topology.kubernetes.io/region",
    "hostname": "kubernetes.io/hostname",
}


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class _Own:
    """The selector that asks for a pod's own labels."""


OWN = _Own()


FIELDS = {
    Namespace: "namespaces",
    Node: "nodes",
    Pod: "pods",
    PodDisruptionBudget: "pod_disruption_budgets",
    Workload: "workloads",
    PodGroup: "pod_groups",
    CompositePodGroup: "composite_pod_groups",
    StorageClass: "storage_classes",
    CSIDriver: "csi_drivers",
    CSINode: "csi_nodes",
    CSIStorageCapacity: "csi_storage_capacities",
    PersistentVolume: "persistent_volumes",
    PersistentVolumeClaim: "persistent_volume_claims",
    VolumeAttachment: "volume_attachments",
    DeviceClass: "device_classes",
    DeviceTaintRule: "device_taint_rules",
    ResourceSlice: "resource_slices",
    ResourceClaimTemplate: "resource_claim_templates",
    ResourceClaim: "resource_claims",
}
"""Kind to the snapshot's field that holds its objects, in the order of a manifest."""


def key(name):
    """Spell a short name of a label key out."""
    return KEYS.get(name, name)


def ago(minutes):
    """Write a time before the round as the API does."""
    return (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def selector(wanted):
    """Write a selector: None is absent, labels are matchLabels, anything else is taken as written."""
    if wanted is None:
        return None
    if {"matchLabels", "matchExpressions"} & wanted.keys():
        return dict(wanted)
    return {"matchLabels": dict(wanted)}


@dataclass(frozen=True, kw_only=True)
class NodeBuilder:
    """A node under construction."""

    doc: Mapping = field(default_factory=dict)

    def _with(self, change):
        doc = deepcopy(self.doc)
        change(doc)
        return replace(self, doc=doc)

    def label(self, labels=(), /, **more):
        return self._with(lambda d: d["metadata"]["labels"].update({**dict(labels), **more}))

    def without(self, *names):
        """Take labels away."""
        return self._with(lambda d: [d["metadata"]["labels"].pop(key(n), None) for n in names])

    def taint(self, name, value="", *, effect="NoSchedule"):
        return self._with(
            lambda d: d["spec"]["taints"].append({"key": name, "value": value, "effect": effect})
        )

    def cordoned(self):
        return self._with(lambda d: d["spec"].update(unschedulable=True))

    def image(self, name, *, size):
        return self._with(lambda d: d["status"]["images"].append({"names": [name], "sizeBytes": size}))

    def declare(self, *features):
        """Declare features (KEP-5328)."""
        return self._with(lambda d: d["status"].update(declaredFeatures=list(features)))

    def offer(self, resources=(), /, **more):
        """Change what the node has to give."""
        return self._with(lambda d: d["status"]["allocatable"].update({**dict(resources), **more}))

    def build(self):
        return Node.model_validate(self.doc)


def node(name, *, zone=None, cpu="4", memory="8Gi", pods="110"):
    """A node with its hostname label."""
    labels = {KEYS["hostname"]: name}
    if zone is not None:
        labels[KEYS["zone"]] = zone
    return NodeBuilder(
        doc={
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": []},
            "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}, "images": []},
        }
    )


@dataclass(frozen=True, kw_only=True)
class PodBuilder:
    """A pod under construction."""

    doc: Mapping = field(default_factory=dict)
    copies: int = 0

    def changed(self, change):
        """Return a copy with a change of its manifest, for what has no verb."""
        doc = deepcopy(self.doc)
        change(doc)
        return replace(self, doc=doc)

    def _spec(self, **fields):
        return self.changed(lambda d: d["spec"].update(fields))

    def _container(self, change):
        return self.changed(lambda d: change(d["spec"]["containers"][0]))

    # -- what it is --

    def named(self, name):
        return self.changed(lambda d: d["metadata"].update(name=name))

    def label(self, labels=(), /, **more):
        return self.changed(lambda d: d["metadata"]["labels"].update({**dict(labels), **more}))

    def times(self, copies):
        """Be so many pods, `name-0`, `name-1` ..."""
        return replace(self, copies=copies)

    def owned(self, owner="ReplicaSet/web"):
        """Have a controller that makes it again."""
        kind, name = owner.split("/")
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": True}
        return self.changed(lambda d: d["metadata"].update(ownerReferences=[reference]))

    def annotate(self, name, text):
        return self.changed(lambda d: d["metadata"].setdefault("annotations", {}).update({name: text}))

    # -- what it asks for --

    def req(self, resources=(), /, **more):
        """Request resources: ``req(cpu="1", memory="2Gi")``, ``req({"example.com/gpu": "1"})``."""
        wanted = {**dict(resources), **more}
        return self._container(
            lambda c: c.setdefault("resources", {}).setdefault("requests", {}).update(wanted)
        )

    def image(self, name):
        return self._container(lambda c: c.update(image=name))

    def host_port(self, port, *, protocol="TCP", ip=None):
        entry = {"containerPort": port, "hostPort": port, "protocol": protocol, "hostIP": ip}
        return self._container(lambda c: c.setdefault("ports", []).append(entry))

    # -- where it may go --

    def select(self, labels=(), /, **more):
        """Set the node selector."""
        wanted = {key(k): v for k, v in {**dict(labels), **more}.items()}
        return self.changed(lambda d: d["spec"].setdefault("nodeSelector", {}).update(wanted))

    def nodes(self, name, operator, *values):
        """Require node affinity: one more term, of which any may hold."""
        term = {"matchExpressions": [{"key": key(name), "operator": operator, "values": list(values)}]}
        return self.changed(
            lambda d: (
                _path(d, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
                .setdefault("nodeSelectorTerms", [])
                .append(term)
            )
        )

    def tolerate(self, name="", value=None, *, effect="", operator=None):
        entry = {
            "key": name,
            "effect": effect,
            "operator": operator or ("Exists" if value is None else "Equal"),
            "value": value,
        }
        return self.changed(lambda d: d["spec"].setdefault("tolerations", []).append(entry))

    def spread(
        self,
        name,
        *,
        max_skew=1,
        select=OWN,
        when="DoNotSchedule",
        min_domains=None,
        node_affinity="Honor",
        node_taints="Ignore",
        match_label_keys=(),
        fallback=(),
    ):
        """Add a spread constraint; it selects the pod's own labels (at build time) unless told otherwise."""
        entry = {
            "maxSkew": max_skew,
            "topologyKey": key(name),
            "whenUnsatisfiable": when,
            "labelSelector": select if select is OWN else selector(select),
            "minDomains": min_domains,
            "nodeAffinityPolicy": node_affinity,
            "nodeTaintsPolicy": node_taints,
            "matchLabelKeys": list(match_label_keys),
            "fallbackCriteria": list(fallback),
        }
        return self.changed(lambda d: d["spec"].setdefault("topologySpreadConstraints", []).append(entry))

    def affinity(self, name, labels=OWN, *, namespaces=(), namespace_selector=None):
        """Require a pod with these labels (its own by default) in the domain."""
        return self._term("podAffinity", name, labels, namespaces, namespace_selector)

    def anti(self, name, labels=OWN, *, namespaces=(), namespace_selector=None):
        """Require that no pod with these labels (its own by default) is in the domain."""
        return self._term("podAntiAffinity", name, labels, namespaces, namespace_selector)

    def _term(self, kind, name, labels, namespaces, namespace_selector):
        term = {
            "topologyKey": key(name),
            "labelSelector": labels if labels is OWN else selector(labels),
            "namespaces": list(namespaces),
            "namespaceSelector": selector(namespace_selector),
        }
        return self.changed(
            lambda d: (
                _path(d, "spec", "affinity", kind)
                .setdefault("requiredDuringSchedulingIgnoredDuringExecution", [])
                .append(term)
            )
        )

    # -- what it would like --

    def wish_nodes(self, weight, name, operator, *values):
        """Prefer nodes."""
        term = {"matchExpressions": [{"key": key(name), "operator": operator, "values": list(values)}]}
        return self._wish("nodeAffinity", {"weight": weight, "preference": term})

    def wish_beside(self, weight, name, labels):
        """Prefer domains with a pod of these labels."""
        term = {"topologyKey": key(name), "labelSelector": selector(labels)}
        return self._wish("podAffinity", {"weight": weight, "podAffinityTerm": term})

    def wish_apart(self, weight, name, labels):
        """Prefer domains without a pod of these labels."""
        term = {"topologyKey": key(name), "labelSelector": selector(labels)}
        return self._wish("podAntiAffinity", {"weight": weight, "podAffinityTerm": term})

    def _wish(self, kind, entry):
        return self.changed(
            lambda d: _path(d, "spec", "affinity", kind).setdefault(PREFERRED, []).append(entry)
        )

    # -- its volumes --

    def claim(self, *names):
        """Use claims by name."""
        return self._volumes({"persistentVolumeClaim": {"claimName": name}} for name in names)

    def ephemeral(self, name):
        """Have a volume whose claim is made for the pod, as `<pod>-<name>`."""
        return self._volumes([{"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])

    def disk(self, name, *, read_only=False):
        """Have a disk of Google's cloud."""
        return self._volumes([{"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}])

    def volume(self, **source):
        """Have a volume as written."""
        return self._volumes([source])

    def _volumes(self, sources):
        def add(doc):
            volumes = doc["spec"].setdefault("volumes", [])
            for source in sources:
                volumes.append({"name": f"v{len(volumes)}"} | source)

        return self.changed(add)

    # -- its rank --

    def priority(self, value):
        return self._spec(priority=value)

    def never(self):
        """Set preemptionPolicy Never."""
        return self._spec(preemptionPolicy="Never")

    def guard(self, value):
        """Set allowDisruptionByPriorityGreaterThanOrEqual (KEP-4664)."""
        return self._spec(allowDisruptionByPriorityGreaterThanOrEqual=value)

    def scheduler(self, name):
        return self._spec(schedulerName=name)

    def member(self, group):
        """Belong to a PodGroup."""
        return self._spec(schedulingGroup={"podGroupName": group})

    def replica(self, workload, group, replica=""):
        """Belong to a replica of a group of a Workload of v1alpha1."""
        return self._spec(workloadRef={"name": workload, "podGroup": group, "podGroupReplicaKey": replica})

    def gated(self, name="example.com/wait"):
        return self.changed(lambda d: d["spec"].setdefault("schedulingGates", []).append({"name": name}))

    # -- where it stands --

    def on(self, name):
        """Run on a node."""

        def run(doc):
            doc["spec"]["nodeName"] = name
            doc["status"]["phase"] = "Running"

        return self.changed(run)

    def started(self, minutes):
        """Have started so many minutes before the round."""
        return self.changed(lambda d: d["status"].update(startTime=ago(minutes)))

    def created(self, minutes):
        """Have been created so many minutes before the round."""
        return self.changed(lambda d: d["metadata"].update(creationTimestamp=ago(minutes)))

    def terminating(self):
        return self.changed(lambda d: d["metadata"].update(deletionTimestamp=ago(0)))

    def nominated(self, name):
        return self.changed(lambda d: d["status"].update(nominatedNodeName=name))

    def condition(self, kind, status, *, reason=None, minutes=5):
        entry = {"type": kind, "status": status, "reason": reason, "lastTransitionTime": ago(minutes)}
        return self.changed(lambda d: d["status"].setdefault("conditions", []).append(entry))

    def unschedulable(self, minutes=5):
        """Have been tried in vain: with it the fallback criterion PreemptionFailed holds (KEP-3990)."""
        return self.condition("PodScheduled", "False", reason="Unschedulable", minutes=minutes)

    # -- done --

    def build(self):
        """Build the one pod."""
        doc = deepcopy(self.doc)
        own = {"matchLabels": dict(doc["metadata"]["labels"])}
        _own_selectors(doc["spec"], own)
        return Pod.model_validate(doc)

    def build_all(self):
        """Build all the copies."""
        if not self.copies:
            return [self.build()]
        name = self.doc["metadata"]["name"]
        return [self.named(f"{name}-{k}").build() for k in range(self.copies)]


def pod(name, *, namespace="default"):
    """A pod that asks for nothing."""
    return PodBuilder(
        doc={
            "metadata": {"name": name, "namespace": namespace, "labels": {}},
            "spec": {"containers": [{"name": "main"}]},
            "status": {},
        }
    )


@dataclass(frozen=True, kw_only=True)
class BudgetBuilder:
    """A disruption budget under construction."""

    doc: Mapping = field(default_factory=dict)

    def disrupted(self, *names):
        """List pods whose disruption is paid for already."""
        doc = deepcopy(self.doc)
        doc["status"].setdefault("disruptedPods", {}).update(dict.fromkeys(names, ago(1)))
        return replace(self, doc=doc)

    def build(self):
        return PodDisruptionBudget.model_validate(self.doc)


def budget(name, labels=(), /, *, allowed, namespace="default", **more):
    """A budget over the pods with these labels, of which so many more may go."""
    return BudgetBuilder(
        doc={
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"minAvailable": 1, "selector": selector({**dict(labels), **more})},
            "status": {"disruptionsAllowed": allowed},
        }
    )


def group(name, *keys, gang=None, desired=None, namespace="default", version="v1alpha2", parent=None, **spec):
    """A PodGroup in one domain of each key: a gang of so many at least, else the basic policy."""
    if parent is not None:
        version, spec = "v1beta1", {**_place(name, parent), **spec}
    policy = {"gang": {"minCount": gang}} if gang else {"basic": {"desiredCount": desired}}
    topology = [{"key": key} for key in keys]
    return PodGroup.model_validate(
        {
            "apiVersion": f"scheduling.k8s.io/{version}",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"schedulingPolicy": policy, "schedulingConstraints": {"topology": topology}, **spec},
        }
    )


def composite(name, *keys, gang=None, parent=None, namespace="default", minutes=None, **spec):
    """A CompositePodGroup: a gang of so many groups at least, else the basic policy."""
    created = {} if minutes is None else {"creationTimestamp": ago(minutes)}
    return CompositePodGroup.model_validate(
        {
            "apiVersion": "scheduling.k8s.io/v1alpha3",
            "metadata": {"name": name, "namespace": namespace, **created},
            "spec": {
                "schedulingPolicy": {"gang": {"minGroupCount": gang}} if gang else {"basic": {}},
                "schedulingConstraints": {"topology": [{"key": key} for key in keys]},
                **_place(name, parent),
                **spec,
            },
        }
    )


def _place(name, parent):
    """Where a group is in a tree."""
    reference = {"workloadName": "w", "templateName": name}
    return {"workloadRef": reference, "parentCompositePodGroupName": parent}


def workload(name, *templates, namespace="default", version="v1alpha1"):
    """A Workload with templates as in a file."""
    return Workload.model_validate(
        {
            "apiVersion": f"scheduling.k8s.io/{version}",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"podGroups": list(templates)},
        }
    )


def namespace(name, **labels):
    """A namespace with labels."""
    return Namespace(metadata=ObjectMeta(name=name, labels=labels))


def cluster(*objects, name="test", gates="", configuration=None, release=DEFAULT_KUBE_VERSION):
    """Put builders, built objects and iterables of either in one snapshot.

    Parameters
    ----------
    gates : str
        Feature gates as on the command line: ``"Name=false"``.
    configuration : mapping, optional
        A KubeSchedulerConfiguration as in a file.
    release : str
        Whose kube-scheduler: ``"1.34"``.
    """
    kinds = {kind: [] for kind in FIELDS}
    for item in _flat(objects):
        kinds[type(item)].append(item)
    if configuration is not None:
        configuration = KubeSchedulerConfiguration.model_validate(configuration)
    return Snapshot(
        name=name,
        now=NOW,
        feature_gates=FeatureGates.parse(gates),
        kube_version=KubeVersion(release),
        configuration=None
        if configuration is None
        else KubeSchedulerConfiguration.model_validate(configuration),
        **{FIELDS[kind]: tuple(items) for kind, items in kinds.items()},
    )


def manifest(snapshot):
    """Write a snapshot as YAML that `kubestow solve` reads; for the messages of failing tests."""
    parts = [getattr(snapshot, name) for name in FIELDS.values()]
    documents = [
        {"apiVersion": item.api_version, "kind": item.kind}
        | _plain(item.model_dump(by_alias=True, exclude_defaults=True))
        for part in parts
        for item in part
    ]
    if snapshot.configuration is not None:
        written = _plain(snapshot.configuration.model_dump(by_alias=True, exclude_unset=True))
        documents.append(
            {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"} | written
        )
    return yaml.dump_all(
        documents, Dumper=yaml.CSafeDumper, default_flow_style=None, width=150, sort_keys=False
    )


def _flat(objects):
    for item in objects:
        if isinstance(item, PodBuilder):
            yield from item.build_all()
        elif hasattr(item, "build"):
            yield item.build()
        elif isinstance(item, Iterable) and not hasattr(item, "model_dump"):
            yield from _flat(item)
        else:
            yield item


def _plain(value):
    """Write tuples as lists, times and quantities as the API does."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")
    # quantities are exact fractions inside; written in billionths they are exact outside, too
    if isinstance(value, str) and re.fullmatch(r"\d+/\d+", value):
        return f"{int(Fraction(value) * 10**9)}n"
    return value


def _path(doc, *names):
    for name in names:
        doc = doc.setdefault(name, {})
    return doc


def _own_selectors(spec, own):
    """Put the pod's labels where a verb left the choice open."""
    affinity = spec.get("affinity", {})
    entries = list(spec.get("topologySpreadConstraints", ()))
    for kind in ("podAffinity", "podAntiAffinity"):
        entries += affinity.get(kind, {}).get(REQUIRED, ())
    for entry in entries:
        if isinstance(entry["labelSelector"], _Own):
            entry["labelSelector"] = own
