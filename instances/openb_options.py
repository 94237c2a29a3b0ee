"""How the openb trace is read: how much of it, in which order, and what its GPUs become (docs/openb.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from ..models.errors import KubestowError
from .crowds import MOST_PODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_OPTION: Final = "--format-options"


@dataclass(frozen=True, kw_only=True)
class OpenbOptions:
    """How to read the trace.

    Attributes
    ----------
    nodes : int or None
        Take the first n nodes of the list; all by default.
    pods : int or None
        Take the first n pods; the list is repeated where it ends, under new names (`openb-pod-0000-2`).
    shuffle : int or None
        Seed for shuffling both lists before anything is taken; the order of the files by default.
    gpus : str
        `devices` or `summed`.
    qos : bool
        Whether QoS classes become priorities.
    """

    nodes: int | None = None
    pods: int | None = None
    shuffle: int | None = None
    gpus: Literal["devices", "summed"] = "devices"
    qos: bool = False

    @classmethod
    def parse(cls, text: str) -> OpenbOptions:
        """Read the command line's spelling ``nodes=304,pods=2115,shuffle=1,gpus=summed,qos=true``.

        Raises
        ------
        KubestowError
            For an unknown name or a value that it does not take.
        """
        parts = (part.partition("=") for part in filter(None, (p.strip() for p in text.split(","))))
        try:
            return cls.of((name.strip(), value.strip()) for name, _, value in parts)
        except KubestowError as error:
            raise KubestowError(f"{_OPTION}: {error}") from None

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]]) -> OpenbOptions:
        """Make options of names and values as texts; otherwise as `parse`."""
        chosen: dict[str, Any] = {}
        for name, value in pairs:
            if name in ("nodes", "pods", "shuffle"):
                chosen[name] = _count(name, value, least=0 if name == "shuffle" else 1)
                if name == "pods" and chosen[name] > MOST_PODS:
                    raise KubestowError(f"{name}={value}: {MOST_PODS} is the most")
            elif name in _CHOICES:
                if value not in _CHOICES[name]:
                    wanted = " or ".join(_CHOICES[name])
                    raise KubestowError(f"{name}={value}: the value must be {wanted}")
                chosen[name] = _CHOICES[name][value]
            else:
                known = ", ".join(("nodes", "pods", "shuffle", *_CHOICES))
                raise KubestowError(f"unknown option '{name}'; known are {known}")
        return cls(**chosen)


_CHOICES: Final[Mapping[str, Mapping[str, Any]]] = {
    "gpus": {"devices": "devices", "summed": "summed"},
    "qos": {"true": True, "false": False},
}


def _count(name: str, value: str, least: int) -> int:
    if not value.isascii() or not value.isdigit() or len(value) > 9 or int(value) < least:
        raise KubestowError(f"{name}={value[:40]}: the value must be a whole number from {least}")
    return int(value)
