"""The menu: every step that a round has for a pod or a group, at the prices that were given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .cluster_steps import cluster_steps
from .group_steps import group_steps, priority_steps
from .pod_steps import pod_steps
from .requests import request_steps
from .step import Menu

if TYPE_CHECKING:
    from .step import Asked


def menu_of(asked: Asked) -> Menu:
    """Return all steps, those of a series one after the other."""
    return Menu(
        (
            *pod_steps(asked),
            *request_steps(asked),
            *group_steps(asked),
            *priority_steps(asked),
            *cluster_steps(asked),
        )
    )
