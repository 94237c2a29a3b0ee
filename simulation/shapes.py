"""Which pods of a simulation no rule can tell apart, so that they share slots of the index.

A pod's shape is its specification without the node, its namespace, labels and controller, and the fallback
criteria that hold for it now (KEP-3990); pods with volumes or resource claims have shapes of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from ..framework.index.fallback import criteria_held, falls_back, may_fall_back
from ..framework.vocabulary import names

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping
    from datetime import datetime

    from ..framework.vocabulary.profile import Profile
    from ..models.config import PodTopologySpreadArgs
    from ..models.features import FeatureGates
    from ..models.pod import Pod, PodSpec

_NOTHING: Final[frozenset[str]] = frozenset()
_MOST_SPECS: Final = 4096


@dataclass(slots=True)
class _Spec:
    """What is known of a specification that many pods share.

    Attributes
    ----------
    spec : PodSpec
    text : str
        Without the node: equal for equal ones.
    unlike : bool
        Whether its pods are told apart by their keys.
    may_fall_back : bool
        Whether a constraint may fall back.
    labels : dict
        Those of the last pod that had it.
    label_pairs : tuple
        The same, in order.
    """

    spec: PodSpec
    text: str
    unlike: bool
    may_fall_back: bool
    labels: dict[str, str] | None = None
    label_pairs: tuple[tuple[str, str], ...] = ()


class Shapes:
    """See the module's docstring.

    Parameters
    ----------
    profiles : mapping
        By scheduler name.
    gates : FeatureGates
    now : callable
        The time.
    seated : callable
        How many pods the index has; so many specifications are remembered.
    """

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        gates: FeatureGates,
        now: Callable[[], datetime],
        seated: Callable[[], int],
    ) -> None:
        self._now = now
        self._seated = seated
        self._falls_back = gates.enabled("PodTopologySpreadFallbackMode")
        self._spread_args = {name: _spread_args(profile) for name, profile in profiles.items()}
        self._defaulting = {
            name
            for name, args in self._spread_args.items()
            if any(c.fallback_criteria for c in args.default_constraints)
        }
        self._specs: dict[int, _Spec] = {}

    def of(self, pod: Pod) -> Hashable:
        """Return a key that only pods share that no rule can tell apart."""
        spec, metadata = pod.spec, pod.metadata
        found = self._spec(pod)
        labels = metadata.labels
        if found.labels is not labels:
            found.labels, found.label_pairs = labels, tuple(sorted(labels.items()))
        owner = metadata.controller if metadata.owner_references else None
        return (
            found.text,
            metadata.namespace,
            found.label_pairs,
            None if owner is None else (owner.api_version, owner.kind, owner.name),
            self.held(pod) if found.may_fall_back and not spec.node_name else _NOTHING,
            metadata.key if found.unlike or pod.status.container_statuses else "",
        )

    def alike(self, old: Pod, new: Pod) -> bool:
        """Whether two versions of a pod differ in no more than the node and what is judged by the time."""
        if old.metadata is not new.metadata:
            if old.metadata.labels != new.metadata.labels:
                return False
            if old.metadata.controller != new.metadata.controller:
                return False
        return old.spec is new.spec or self._spec(old).text == self._spec(new).text

    def keep(self, pods: Iterable[Pod]) -> None:
        """Forget the specifications of all other pods; these have been asked about."""
        self._specs = {id(pod.spec): self._specs[id(pod.spec)] for pod in pods}

    def held(self, pod: Pod) -> frozenset[str]:
        """Return the fallback criteria that hold for a pod now."""
        name = pod.spec.scheduler_name
        args = self._spread_args.get(name)
        if args is None or not self._falls_back:
            return _NOTHING
        if not pod.spec.topology_spread_constraints and name not in self._defaulting:
            return _NOTHING
        return criteria_held(pod, args, self._now())

    def may_fall_back(self, pod: Pod) -> bool:
        """Whether any constraint of a pod may fall back: it is judged by the time of each attempt."""
        return self._spec(pod).may_fall_back

    def fallen(self, pod: Pod, *, by_default: bool) -> list[str]:
        """Return the topology keys of a waiting pod's constraints that have fallen back now.

        `by_default` tells that it has a controller or service, so that default constraints hold for it.
        """
        constraints = pod.spec.topology_spread_constraints
        if not constraints and by_default:
            constraints = self._spread_args[pod.spec.scheduler_name].default_constraints
        held = self.held(pod)
        return [c.topology_key for c in constraints if c.is_hard and falls_back(c.fallback_criteria, held)]

    def _spec(self, pod: Pod) -> _Spec:
        """Return what is known of a pod's specification."""
        spec = pod.spec
        found = self._specs.get(id(spec))
        if found is None:
            if len(self._specs) > 2 * self._seated() + _MOST_SPECS:
                self._specs.clear()
            own = spec.model_copy(update={"node_name": None}) if spec.node_name else spec
            args = self._spread_args.get(spec.scheduler_name) if self._falls_back else None
            found = self._specs[id(spec)] = _Spec(
                spec,
                own.model_dump_json(exclude_defaults=True),
                unlike=bool(spec.volumes or spec.resource_claims),
                may_fall_back=args is not None and may_fall_back(pod, args),
            )
        return found


def _spread_args(profile: Profile) -> PodTopologySpreadArgs:
    return cast("PodTopologySpreadArgs", profile.args(names.POD_TOPOLOGY_SPREAD))
