"""What upstream's parsers refuse: a hint that meets it cannot tell.

Source: k8s.io/apimachinery pkg/labels/selector.go (NewRequirement), component-helpers
scheduling/corev1/nodeaffinity.
"""

import re
from collections.abc import Iterable
from typing import Final

from ...models.selectors import CompiledSelector, LabelSelector, NodeSelector, NodeSelectorTerm, int64
from .base import HintError

_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_DOMAIN: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")


def _key_parses(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (_DOMAIN.fullmatch(prefix) and len(prefix) <= 253):
        return False
    return _NAME.fullmatch(name) is not None


def _check(key: str, operator: str, values: Iterable[str]) -> None:
    values = tuple(values)
    if not _key_parses(key):
        raise HintError(f"{key!r} is no label key")
    if operator in ("In", "NotIn") and not values:
        raise HintError(f"{operator} on {key} has no values")
    if operator in ("Exists", "DoesNotExist") and values:
        raise HintError(f"{operator} on {key} has values")
    if operator in ("Gt", "Lt") and not (len(values) == 1 and int64(values[0]) is not None):
        raise HintError(f"{operator} on {key} has no whole number")
    for value in values:
        if not _VALUE.fullmatch(value):
            raise HintError(f"{value!r} is no label value")


def parsed(selector: LabelSelector | None) -> CompiledSelector | None:
    """Compile a label selector; None, which matches nothing, stays None.

    Raises
    ------
    HintError
        If upstream cannot parse it.
    """
    if selector is None:
        return None
    for key, value in selector.match_labels.items():
        _check(key, "In", (value,))
    for item in selector.match_expressions:
        _check(item.key, item.operator, item.values)
    return selector.compiled


def _check_term(term: NodeSelectorTerm) -> None:
    for item in term.match_expressions:
        _check(item.key, item.operator, item.values)
    for field in term.match_fields:
        if field.operator not in ("In", "NotIn") or len(field.values) != 1:
            raise HintError(f"the field {field.key} is compared with other than one value")


def matches_node(selector: NodeSelector, labels: dict[str, str], name: str) -> bool:
    """Whether a node satisfies any term.

    Raises
    ------
    HintError
        If no term that can be parsed matches and another one cannot be parsed.
    """
    unreadable: HintError | None = None
    for term in selector.node_selector_terms:
        if term.is_empty:
            continue
        try:
            _check_term(term)
        except HintError as error:
            unreadable = error
        else:
            if term.matches(labels, name):
                return True
    if unreadable is not None:
        raise unreadable
    return False
