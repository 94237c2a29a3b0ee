"""Changes as the options of `kubestow what-if` spell them.

They are made in one order, whichever stands first: profile, fields, copies, cordons, pods and nodes
that go, nodes that come. A file has them in its own order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...models.changes import (
    AddNodes,
    Change,
    ChangeSet,
    CordonNode,
    DeletePod,
    RemoveNode,
    ScaleWorkload,
    SetField,
    UseProfile,
    ZoneDown,
)
from ...models.errors import KubestowError
from ..documents import read_documents
from ..node_groups.templates import load_templates
from ..raw_objects import plain
from .file import load_profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "options"
"""What changes that options spell are called where they have no other name."""


def changes_of(given: Mapping[str, Sequence[str]], name: str = NAME) -> ChangeSet | None:
    """Return the changes of a command line; None where there are none.

    Parameters
    ----------
    given : mapping
        The values of each option, by its name without dashes in front.
    name : str

    Raises
    ------
    KubestowError
        For what is not spelled right, with the option.
    """
    changes: list[Change] = [
        *(UseProfile(load_profile(path)) for path in given["profile"]),
        *(_set(text) for text in given["set"]),
        *(ScaleWorkload(*_counted("--scale", text, "deploy/web=20")) for text in given["scale"]),
        *(CordonNode(_bare("--cordon", text)) for text in given["cordon"]),
        *(CordonNode(_bare("--uncordon", text), on=False) for text in given["uncordon"]),
        *(DeletePod(text if "/" in text else f"pod/{text}") for text in given["delete"]),
        *(_zone(text) for text in given["zone-down"]),
        *(RemoveNode(_bare("--remove", text)) for text in given["remove"]),
        *(AddNodes(*_counted("--add-nodes", text, "GROUP=3 or like:NODE=3")) for text in given["add-nodes"]),
    ]
    groups = tuple(item for path in given["node-groups"] for item in load_templates(path))
    if not changes:
        if groups:
            raise KubestowError("--node-groups goes with --add-nodes GROUP=3")
        return None
    return ChangeSet(name=name, node_groups=groups, changes=tuple(changes))


def _bare(option: str, text: str) -> str:
    """Return the name of a node, also where it is spelled `node/NAME`."""
    name = text.removeprefix("node/")
    if not name:
        raise KubestowError(f"{option}: what is needed is the name of a node")
    return name


def _counted(option: str, text: str, example: str) -> tuple[str, int]:
    name, equals, number = text.rpartition("=")
    if not equals or not name or not (number.isascii() and number.isdecimal()):
        raise KubestowError(f"{option}: {text!r} is not of the form {example}")
    return name, int(number)


def _zone(text: str) -> Change:
    key, equals, value = text.rpartition("=")
    if not value or (equals and not key):
        raise KubestowError(f"--zone-down: {text!r} is no zone (ZONE, or LABEL=VALUE for another label)")
    return ZoneDown(value, key) if key else ZoneDown(value)


def _set(text: str) -> Change:
    target, colon, rest = text.partition(":")
    path, equals, value = _split(rest)
    if not colon or not equals or not path:
        raise KubestowError(f"--set: {text!r} is not of the form KIND/NAMESPACE/NAME:PATH=VALUE")
    return SetField(target, path, _value(value))


def _split(text: str) -> tuple[str, str, str]:
    r"""Split at the first equals sign that no backslash stands before."""
    at = text.find("=")
    while at > 0 and text[at - 1] == "\\":
        at = text.find("=", at + 1)
    return (text[:at], "=", text[at + 1 :]) if at >= 0 else (text, "", "")


def _value(text: str) -> Any:
    """Read a value as a file has it: `20` is a number, `'20'` a text, `null` takes the field away."""
    if not text.strip():
        return text
    try:
        [value] = read_documents("value", text.encode())
    except (ValueError, KubestowError):
        raise KubestowError(f"--set: {text!r} is no value of YAML; in quotes it is a text") from None
    return plain(value)
