"""The variables of devices: what a decoder reads back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...framework.vocabulary import names

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

    from ..context import Context
    from .choice import Choice


@dataclass(eq=False)
class DeviceVariables:
    """What a decoder reads back.

    Attributes
    ----------
    private : dict
        (class, node) -> one choice for each private claim, in the pod's order.
    common : dict
        (claim, node) -> (its choice, the literal that it is allocated for the node).
    released : dict
        Claim -> literal: its devices of the input are given back.
    """

    private: dict[tuple[int, int], list[Choice]] = field(default_factory=dict)
    common: dict[tuple[str, int], tuple[Choice, cp_model.IntVar]] = field(default_factory=dict)
    released: dict[str, cp_model.IntVar] = field(default_factory=dict)

    def choices(self) -> list[Choice]:
        """Return all choices."""
        return [c for many in self.private.values() for c in many] + [c for c, _ in self.common.values()]

    def deciding(self) -> list[cp_model.IntVar]:
        """Return the variables that determine which claim has which devices, each once."""
        found = [variable for choice in self.choices() for variable in choice.variables()]
        found += [literal for _, literal in self.common.values()] + list(self.released.values())
        return list({variable.index: variable for variable in found}.values())


def device_variables(ctx: Context) -> DeviceVariables | None:
    """Return the variables of devices, or None where the model has none."""
    found = ctx.extras.get(names.DYNAMIC_RESOURCES)
    return found if isinstance(found, DeviceVariables) else None
