"""NodeName: a pod waits for the node that it names.

Source: kube-scheduler 1.34.1 plugins/nodename.
"""

from typing import ClassVar

from ..events.events import NODE_ADD
from ..vocabulary import names
from .base import HintPlugin, Registration


class NodeName(HintPlugin):
    """Wakes its pods whenever a node comes."""

    name: ClassVar[str] = names.NODE_NAME

    def events_to_register(self) -> tuple[Registration, ...]:
        """Register nodes that come."""
        return (Registration(NODE_ADD),)
