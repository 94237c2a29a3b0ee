"""TopologyPlacement: one placement for each domain of the keys that constrain a group.

Several keys may nest or cross: a placement is then a non-empty meeting of their domains.  Members that are on
nodes pin their domain, as in kube-scheduler; the proposal says nothing about them.

Sources: KEP-5732, "Candidate Placement Generation"; kube-scheduler plugins/topologyaware.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ..rules.groups import OFF_KEY, pinned_domains
from ..vocabulary import names
from ..vocabulary.domains import Domains
from ..vocabulary.status import Code, Status
from .interfaces import PlacementGenerator
from .placement import Placement, PodGroupInfo

if TYPE_CHECKING:
    from ..state.state import State


class TopologyPlacement(PlacementGenerator):
    """The proposal's generator."""

    name: ClassVar[str] = names.TOPOLOGY_PLACEMENT

    def generate_placements(
        self, state: "State", info: PodGroupInfo, parents: Sequence[Placement]
    ) -> Sequence[Placement] | Status:
        """Divide the parents by each key, domains in the order of their names."""
        found = parents
        for key in info.group.topology_keys:
            pinned = self._pinned(state, info, key)
            if isinstance(pinned, Status):
                return pinned
            domains = self.cluster.domains(key)
            numbers = {domains.numbers[pinned]} if pinned is not None else None
            found = [part for parent in found for part in _divide(parent, domains, numbers)]
        if not found:
            return Status(Code.UNSCHEDULABLE, self.name, (self.nowhere(info),))
        return found

    def nowhere(self, info: PodGroupInfo) -> str:
        """Say that there is no placement at all."""
        return f"no placement: no node has the labels {', '.join(info.group.topology_keys)}"

    def _pinned(self, state: "State", info: PodGroupInfo, key: str) -> str | Status | None:
        """Return the domain where members stand, None where none does, an error where it is not one."""
        domains = self.cluster.domains(key)
        taken = pinned_domains(self.cluster, state, info.group, key)
        if not taken:
            return None
        if OFF_KEY in taken:
            astray = next(i for i in info.scheduled if domains.ids[state.node_of[i]] == OFF_KEY)
            return self._undecided(f"no topology domain found for pod {self.cluster.pods[astray].key}")
        values = sorted(domains.values[d] for d in taken)
        if len(values) > 1:
            return self._undecided(f"more than 1 domain found for pod group: {', '.join(values)}")
        return values[0]

    def _undecided(self, why: str) -> Status:
        text = f"cannot determine domain for already scheduled pods: {why}"
        return Status(Code.ERROR, self.name, (text,))


class TopologyPlacementGenerator(TopologyPlacement):
    """The same under the name that it has in kube-scheduler."""

    name: ClassVar[str] = names.TOPOLOGY_PLACEMENT_GENERATOR


def _divide(parent: Placement, domains: Domains, numbers: set[int] | None) -> list[Placement]:
    """Return the parts of a placement that lie in a domain, in the order of the domains' names."""
    present = {int(d) for d in domains.ids[parent.nodes] if d != OFF_KEY}
    if numbers is not None:
        present &= numbers
    return [
        Placement(
            f"{parent.name}/{domains.values[d]}" if parent.name else domains.values[d],
            parent.nodes & (domains.ids == d),
        )
        for d in sorted(present, key=domains.values.__getitem__)
    ]
