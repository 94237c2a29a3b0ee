"""NodeAffinity: the pod's nodeSelector and node affinity, and what the profile adds to them.

Source: kube-scheduler 1.34.1 plugins/nodeaffinity.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from ...models.affinity import NodeAffinity as NodeAffinitySpec
from ...models.affinity import PreferredSchedulingTerm
from ...models.config import NodeAffinityArgs, PluginArgs
from ...models.selectors import CompiledTerm, NodeSelector, Requirement, requirement
from ..index.missing import Missing, condition, label_of
from ..index.node_selection import required_mask, selector_mask, term_mask
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.status import Code, Status
from .base import ScorePlugin, StaticFilter, Verdicts, default_normalize

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

REASON: Final = "node(s) didn't match Pod's node affinity/selector"
REASON_ADDED: Final = "node(s) didn't match scheduler-enforced node affinity"
REASON_CONFLICT: Final = "pod affinity terms conflict"

_NAME: Final = "metadata.name"
_POD: Final = 1
_ADDED: Final = 2


class NodeAffinity(StaticFilter, ScorePlugin):
    """Rejects nodes outside the pod's required affinity; scores the preferred terms that a node matches."""

    name: ClassVar[str] = names.NODE_AFFINITY
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNRESOLVABLE, Code.UNRESOLVABLE)

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._added = cast("NodeAffinityArgs", args).added_affinity

    def _required(self, i: int) -> NodeSelector | None:
        affinity = _node_affinity(self.cluster, i)
        return affinity.required if affinity else None

    def _added_required(self) -> NodeSelector | None:
        return self._added.required if self._added else None

    def verdicts(self, i: int) -> Verdicts | Status | None:
        """Judge every node; skips a pod that asks for nothing, rejects one whose terms contradict."""
        spec = self.cluster.pods[i].pod.spec
        required, added = self._required(i), self._added_required()
        if not spec.node_selector and required is None and self._added is None:
            return None
        if required is not None and _named_nodes(required) == frozenset():
            return Status(Code.UNRESOLVABLE, self.name, (REASON_CONFLICT,))
        matched = required_mask(self.cluster, spec.node_selector, required)
        verdicts = np.where(matched, 0, _POD).astype(np.uint8)
        if added is not None:
            verdicts[~selector_mask(self.cluster, added.compiled)] = _ADDED
        return verdicts

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say whose affinity it was."""
        return (REASON_ADDED if verdict == _ADDED else REASON,)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """List the conditions that the node fails: of the selector, and of the term that is nearest to it."""
        spec, name = self.cluster.pods[i].pod.spec, self.cluster.node_names[n]
        labels = {**self.cluster.nodes[n].metadata.labels, _NAME: name}
        failed: list[Requirement] = []
        selector = self._added_required()
        if verdict == _POD:
            wanted = [requirement(key, "In", (value,)) for key, value in sorted(spec.node_selector.items())]
            failed = [item for item in wanted if not item.matches(labels)]
            selector = self._required(i)
        if selector is not None and not selector.compiled.matches(labels, name):
            failed += _nearest(selector.compiled.terms, labels)
        return tuple(
            Missing(
                item.key,
                f"{condition(item)} wanted, the node has {label_of(labels, item.key)}",
                facts={"wanted": condition(item), "node": labels.get(item.key)},
            )
            for item in failed
        )

    def nodes(self, i: int) -> Bools | None:
        """Return the nodes that the pod names in every term (`metadata.name In`); None where it does not.

        Only these are looked at by the filters at all.
        """
        required = self._required(i)
        named = _named_nodes(required) if required is not None else None
        if named is None:
            return None
        mask = np.zeros(self.cluster.n_nodes, dtype=np.bool_)
        mask[[self.cluster.node_index[name] for name in named if name in self.cluster.node_index]] = True
        return mask

    def pre_score(self, state: "State", i: int, nodes: Ints) -> Any:
        """Parse the preferred terms; skips a pod without any, an unreadable one ends the cycle."""
        affinity = _node_affinity(self.cluster, i)
        own = affinity.preferred if affinity else ()
        terms = [*own, *(self._added.preferred if self._added else ())]
        if not terms:
            return None
        for index, term in enumerate(own):
            if term.weight and term.preference.compiled.unparsable:
                text = f'running PreScore plugin "{self.name}": [{index}]: the term cannot be parsed'
                return Status(Code.ERROR, self.name, (text,))
        return terms

    def score(self, data: list[PreferredSchedulingTerm], state: "State", i: int, nodes: Ints) -> Ints:
        """Add up the weights of the terms that match."""
        total: Ints = np.zeros(len(nodes), dtype=np.int64)
        for term in data:
            compiled = term.preference.compiled
            mask = self.cluster.memo(("node term", compiled), partial(term_mask, self.cluster, compiled))
            total += term.weight * mask[nodes]
        return total

    def normalize(self, data: Any, scores: Ints) -> Ints:
        """Scale so that the best node gets 100."""
        return default_normalize(scores)


def _node_affinity(cluster: "Cluster", i: int) -> NodeAffinitySpec | None:
    affinity = cluster.pods[i].pod.spec.affinity
    return affinity.node_affinity if affinity else None


def _nearest(terms: Sequence[CompiledTerm], labels: Mapping[str, str]) -> list[Requirement]:
    """Return the failing conditions of the term that has the fewest, the first of them."""
    readable = [(*term.labels, *term.fields) for term in terms if not term.unparsable]
    failing = [[item for item in term if not item.matches(labels)] for term in readable]
    return min(failing, key=len, default=[])


def _named_nodes(selector: NodeSelector) -> frozenset[str] | None:
    """Return the node names that the terms allow, None where some term names none or there is no term."""
    allowed: set[str] = set()
    for term in selector.node_selector_terms:
        lists = [
            frozenset(item.values)
            for item in term.match_fields
            if item.key == "metadata.name" and item.operator == "In"
        ]
        if not lists:
            return None
        allowed |= frozenset.intersection(*lists)
    return frozenset(allowed) if selector.node_selector_terms else None
