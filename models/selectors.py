"""Label selectors and node selectors, as read and as compiled for matching.

A selector is compiled once into a small hashable value, so that equal selectors of many pods are equal keys
and are evaluated once.

Sources: apimachinery labels/selector.go, component-helpers scheduling/corev1/nodeaffinity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from pydantic import Field

from .base import KubeModel, StringMap, Texts

LabelOperator = Literal["In", "NotIn", "Exists", "DoesNotExist"]
NodeOperator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
_LABEL_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_INT64 = range(-(2**63), 2**63)
_DIGITS = 19


def int64(text: str) -> int | None:
    """Read what Go's strconv.ParseInt(text, 10, 64) accepts, else None."""
    digits = text.lstrip("+-0") or "0"
    if not _INTEGER.fullmatch(text) or len(digits) > _DIGITS:
        return None
    number = -int(digits) if text.startswith("-") else int(digits)
    return number if number in _INT64 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One compiled condition on one label. `values` are sorted and unique."""

    key: str
    operator: NodeOperator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy the condition."""
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                if value is None or len(self.values) != 1:
                    return False
                have, want = int64(value), int64(self.values[0])
                if have is None or want is None:
                    return False
                return have > want if self.operator == "Gt" else have < want


@lru_cache(maxsize=1 << 16)
def requirement(key: str, operator: NodeOperator, values: tuple[str, ...] = ()) -> Requirement:
    """Return the shared compiled form of a condition."""
    return Requirement(key, operator, tuple(sorted(set(values))))


@dataclass(frozen=True, slots=True)
class CompiledSelector:
    """A label selector ready to match: all requirements hold; none at all matches everything."""

    requirements: tuple[Requirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the selector matches every set of labels because it asks for nothing."""
        return not self.requirements

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels satisfy every requirement."""
        return all(item.matches(labels) for item in self.requirements)

    def and_also(self, *more: Requirement) -> "CompiledSelector":
        """Return the selector with further requirements."""
        return compile_requirements((*self.requirements, *more))


def compile_requirements(requirements: tuple[Requirement, ...]) -> CompiledSelector:
    """Return a selector with its requirements in a canonical order, each once."""
    return CompiledSelector(
        tuple(sorted(set(requirements), key=lambda item: (item.key, item.operator, item.values)))
    )


class LabelSelectorRequirement(KubeModel):
    """One entry of `matchExpressions`."""

    key: str
    operator: LabelOperator
    values: Texts = ()


class LabelSelector(KubeModel):
    """A selector over labels; an empty one matches everything (an absent one, None, matches nothing)."""

    match_labels: StringMap = Field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()

    @cached_property
    def compiled(self) -> CompiledSelector:
        """The hashable form used for matching and grouping."""
        return compile_requirements(
            (
                *(requirement(key, "In", (value,)) for key, value in self.match_labels.items()),
                *(requirement(item.key, item.operator, item.values) for item in self.match_expressions),
            )
        )

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether the selector selects an object with these labels."""
        return self.compiled.matches(labels)


@dataclass(frozen=True, slots=True)
class CompiledTerm:
    """One term of a node selector: all its conditions hold; one without conditions matches no node.

    `unparsable` marks a term that upstream cannot parse: it matches no node, and as a preference it makes the
    scheduling cycle an error.
    """

    labels: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    unparsable: bool = False

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether a node with these labels and this name satisfies the term."""
        if self.unparsable or not (self.labels or self.fields):
            return False
        return all(item.matches(labels) for item in self.labels) and all(
            item.matches({"metadata.name": name}) for item in self.fields
        )


@dataclass(frozen=True, slots=True)
class CompiledNodeSelector:
    """A node selector ready to match: any term holds; no term at all matches no node."""

    terms: tuple[CompiledTerm, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether a node with these labels and this name satisfies any term."""
        return any(term.matches(labels, name) for term in self.terms)


class NodeSelectorRequirement(KubeModel):
    """One entry of a term's `matchExpressions` or `matchFields`."""

    key: str
    operator: NodeOperator
    values: Texts = ()


def _label_condition_parses(item: NodeSelectorRequirement) -> bool:
    """Tell what apimachinery's labels.NewRequirement accepts."""
    if item.operator in ("Exists", "DoesNotExist"):
        return not item.values
    if not all(_LABEL_VALUE.fullmatch(value) for value in item.values):
        return False  # a negative number, too, is no label value
    if item.operator in ("Gt", "Lt"):
        return len(item.values) == 1 and int64(item.values[0]) is not None
    return bool(item.values)


def _field_condition_parses(item: NodeSelectorRequirement) -> bool:
    """Tell what a condition on a node's fields may be: its name, in or not in one value."""
    return item.key == "metadata.name" and item.operator in ("In", "NotIn") and len(item.values) == 1


class NodeSelectorTerm(KubeModel):
    """Conditions on a node that must all hold; a term without any matches no node."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the term has no condition."""
        return not self.match_expressions and not self.match_fields

    @cached_property
    def compiled(self) -> CompiledTerm:
        """The hashable form used for matching and grouping."""
        return CompiledTerm(
            labels=compile_requirements(
                tuple(requirement(item.key, item.operator, item.values) for item in self.match_expressions)
            ).requirements,
            fields=compile_requirements(
                tuple(requirement(item.key, item.operator, item.values) for item in self.match_fields)
            ).requirements,
            unparsable=not (
                all(_label_condition_parses(item) for item in self.match_expressions)
                and all(_field_condition_parses(item) for item in self.match_fields)
            ),
        )

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether a node with these labels and this name satisfies the term."""
        return self.compiled.matches(labels, name)


class NodeSelector(KubeModel):
    """Terms of which one must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()

    @cached_property
    def compiled(self) -> CompiledNodeSelector:
        """The hashable form used for matching and grouping."""
        return CompiledNodeSelector(tuple(term.compiled for term in self.node_selector_terms))

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether a node with these labels and this name satisfies any term."""
        return self.compiled.matches(labels, name)
