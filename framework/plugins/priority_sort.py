"""PrioritySort: the order of the active queue.

Source: kube-scheduler 1.34.1 plugins/queuesort.
"""

from datetime import datetime

from ..index.podinfo import PodInfo


def queue_key(info: PodInfo) -> tuple[int, datetime]:
    """Return what pods are sorted by: highest priority, then earliest creation; ties keep their order."""
    return (-info.priority, info.created)
