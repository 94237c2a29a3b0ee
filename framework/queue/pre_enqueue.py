"""PreEnqueue: pods that the queue keeps out before any scheduling attempt.

Source: kube-scheduler 1.34.1 plugins/schedulinggates, plugins/dynamicresources, plugins/defaultpreemption.
"""

from collections.abc import Callable, Mapping
from typing import Final

from ...models.features import FeatureGates
from ...models.pod import Pod
from ..dra.pod_claims import ClaimProblem
from ..events.changes import identity
from ..events.objects import ObjectStore
from ..hints.resource_claims import pod_claims
from ..vocabulary import names
from ..vocabulary.default_plugins import PRE_ENQUEUE
from ..vocabulary.profile import Profile
from .gangs import Gangs
from .queued_pod import QueuedPod

PREEMPTING: Final = "waiting for the preemption for this pod to be finished"


class PreEnqueue:
    """The PreEnqueue plugins of every profile.

    Parameters
    ----------
    profiles : mapping
        By schedulerName.
    objects : ObjectStore
        Where resource claims are looked up.
    gates : FeatureGates
    preempting : set of str
        The identities of pods whose victims are still being deleted; the preempting component keeps it up to
        date.
    gangs : Gangs
    """

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        objects: ObjectStore,
        gates: FeatureGates,
        preempting: set[str],
        gangs: Gangs,
    ) -> None:
        self._pod_claims = pod_claims(objects, gates)
        self._preempting = preempting
        checks: dict[str, Callable[[Pod], str]] = {names.DYNAMIC_RESOURCES: self._claims}
        if gangs.enabled:
            checks[names.GANG_SCHEDULING] = gangs.reason
        if gates.enabled("PodSchedulingReadiness"):
            checks[names.SCHEDULING_GATES] = _scheduling_gates
        if gates.enabled("SchedulerAsyncPreemption"):
            checks[names.DEFAULT_PREEMPTION] = self._victims
        self._checks = {
            name: {plugin: checks[plugin] for plugin in _called(profile) if plugin in checks}
            for name, profile in profiles.items()
        }

    def run(self, item: QueuedPod) -> bool:
        """Ask the plugins whether a pod may enter, the one that last refused first.

        A plugin that refuses becomes the pod's gating plugin, and one of its rejectors.

        Returns
        -------
        bool
            Whether all let it in.
        """
        checks = self._checks[item.scheduler]
        order = checks
        if item.gating_plugin in checks:
            order = {item.gating_plugin: checks[item.gating_plugin], **checks}
        for plugin, check in order.items():
            if check(item.pod):
                item.gating_plugin = plugin
                item.unschedulable_plugins.add(plugin)
                return False
        item.gating_plugin = ""
        return True

    def reason(self, item: QueuedPod) -> str:
        """Return why a pod's gating plugin keeps it out, as of now; empty if it would not any more."""
        check = self._checks[item.scheduler].get(item.gating_plugin)
        return "" if check is None else check(item.pod)

    def _claims(self, pod: Pod) -> str:
        if not pod.spec.resource_claims:
            return ""
        try:
            self._pod_claims.of(pod)
        except ClaimProblem as problem:
            return str(problem)
        return ""

    def _victims(self, pod: Pod) -> str:
        return PREEMPTING if self._preempting and identity(pod) in self._preempting else ""


def _called(profile: Profile) -> tuple[str, ...]:
    """Return the plugins that a profile calls; gates hold in any, for the API server binds no gated pod.

    So do gangs, as in a round: no profile says that it does without them.
    """
    return tuple(dict.fromkeys((*profile.points[PRE_ENQUEUE], names.SCHEDULING_GATES, names.GANG_SCHEDULING)))


def _scheduling_gates(pod: Pod) -> str:
    if not pod.spec.scheduling_gates:
        return ""
    gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
    return f"waiting for scheduling gates: {gates}" if gates else ""
