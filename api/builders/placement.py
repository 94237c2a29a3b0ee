"""Where a pod under construction may go, and where it would like to be."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from .values import PREFERRED, REQUIRED, Document, at, key, selector

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    Labels = Mapping[str, str] | tuple[()]


class _Own:
    """The selector that asks for a pod's own labels, whatever they are in the end."""


OWN: Final = _Own()


@dataclass(frozen=True, kw_only=True)
class PlacedDraft:
    """A pod under construction, as far as its place goes."""

    doc: Document = field(default_factory=dict)

    def changed(self, change: Callable[[Document], object]) -> Self:
        """Return a copy with a change of its manifest, for what has no verb."""
        doc = deepcopy(self.doc)
        change(doc)
        return replace(self, doc=doc)

    # -- where it may go --

    def select(self, labels: Labels = (), /, **more: str) -> Self:
        """Set the node selector."""
        wanted = {key(k): v for k, v in {**dict(labels), **more}.items()}
        return self.changed(lambda d: d["spec"].setdefault("nodeSelector", {}).update(wanted))

    def nodes(self, name: str, operator: str, *values: str) -> Self:
        """Require node affinity: one more term, of which any may hold."""
        term = {"matchExpressions": [{"key": key(name), "operator": operator, "values": list(values)}]}
        return self.changed(
            lambda d: (
                at(d, "spec", "affinity", "nodeAffinity", REQUIRED)
                .setdefault("nodeSelectorTerms", [])
                .append(term)
            )
        )

    def tolerate(
        self, name: str = "", value: str | None = None, *, effect: str = "", operator: str | None = None
    ) -> Self:
        """Tolerate a taint; without a value any."""
        entry = {
            "key": name,
            "effect": effect,
            "operator": operator or ("Exists" if value is None else "Equal"),
            "value": value,
        }
        return self.changed(lambda d: d["spec"].setdefault("tolerations", []).append(entry))

    def spread(
        self,
        name: str,
        *,
        max_skew: int = 1,
        select: Mapping[str, Any] | _Own | None = OWN,
        when: str = "DoNotSchedule",
        min_domains: int | None = None,
        node_affinity: str = "Honor",
        node_taints: str = "Ignore",
        match_label_keys: Sequence[str] = (),
        fallback: Sequence[str] = (),
    ) -> Self:
        """Add a spread constraint; it selects the pod's own labels (at build time) unless told otherwise."""
        entry = {
            "maxSkew": max_skew,
            "topologyKey": key(name),
            "whenUnsatisfiable": when,
            "labelSelector": select if isinstance(select, _Own) else selector(select),
            "minDomains": min_domains,
            "nodeAffinityPolicy": node_affinity,
            "nodeTaintsPolicy": node_taints,
            "matchLabelKeys": list(match_label_keys),
            "fallbackCriteria": list(fallback),
        }
        return self.changed(lambda d: d["spec"].setdefault("topologySpreadConstraints", []).append(entry))

    def affinity(
        self,
        name: str,
        labels: Mapping[str, Any] | _Own | None = OWN,
        *,
        namespaces: Sequence[str] = (),
        namespace_selector: Mapping[str, Any] | None = None,
    ) -> Self:
        """Require a pod with these labels (its own by default) in the domain."""
        return self._term("podAffinity", name, labels, namespaces, namespace_selector)

    def anti(
        self,
        name: str,
        labels: Mapping[str, Any] | _Own | None = OWN,
        *,
        namespaces: Sequence[str] = (),
        namespace_selector: Mapping[str, Any] | None = None,
    ) -> Self:
        """Require that no pod with these labels (its own by default) is in the domain."""
        return self._term("podAntiAffinity", name, labels, namespaces, namespace_selector)

    def _term(
        self,
        kind: str,
        name: str,
        labels: Mapping[str, Any] | _Own | None,
        namespaces: Sequence[str],
        namespace_selector: Mapping[str, Any] | None,
    ) -> Self:
        term = {
            "topologyKey": key(name),
            "labelSelector": labels if isinstance(labels, _Own) else selector(labels),
            "namespaces": list(namespaces),
            "namespaceSelector": selector(namespace_selector),
        }
        return self.changed(lambda d: at(d, "spec", "affinity", kind).setdefault(REQUIRED, []).append(term))

    # -- what it would like --

    def wish_nodes(self, weight: int, name: str, operator: str, *values: str) -> Self:
        """Prefer nodes."""
        term = {"matchExpressions": [{"key": key(name), "operator": operator, "values": list(values)}]}
        return self._wish("nodeAffinity", {"weight": weight, "preference": term})

    def wish_beside(self, weight: int, name: str, labels: Mapping[str, Any]) -> Self:
        """Prefer domains with a pod of these labels."""
        term = {"topologyKey": key(name), "labelSelector": selector(labels)}
        return self._wish("podAffinity", {"weight": weight, "podAffinityTerm": term})

    def wish_apart(self, weight: int, name: str, labels: Mapping[str, Any]) -> Self:
        """Prefer domains without a pod of these labels."""
        term = {"topologyKey": key(name), "labelSelector": selector(labels)}
        return self._wish("podAntiAffinity", {"weight": weight, "podAffinityTerm": term})

    def _wish(self, kind: str, entry: Document) -> Self:
        return self.changed(lambda d: at(d, "spec", "affinity", kind).setdefault(PREFERRED, []).append(entry))


def own_selectors(spec: Document, own: Document) -> None:
    """Put the pod's labels where a verb left the choice open."""
    affinity = spec.get("affinity", {})
    entries = list(spec.get("topologySpreadConstraints", ()))
    for kind in ("podAffinity", "podAntiAffinity"):
        entries += affinity.get(kind, {}).get(REQUIRED, ())
    for entry in entries:
        if isinstance(entry["labelSelector"], _Own):
            entry["labelSelector"] = own
