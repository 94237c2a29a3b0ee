"""The text of a failed attempt, word for word.

Source: kube-scheduler 1.34.1 framework/types.go (FitError).
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from .status import Status

NO_NODES: Final = "no nodes available to schedule pods"


def fit_error(
    n_nodes: int, statuses: Iterable[Status], *, pre_filter: Status | None = None, post_filter: str = ""
) -> str:
    """Write why a pod fits nowhere.

    Parameters
    ----------
    n_nodes : int
        All nodes of the cluster.
    statuses : iterable of Status
        One for each rejected node; each reason of each is counted.  Entries are sorted as plain strings.
    pre_filter : Status, optional
        PreFilter's refusal; its message stands in place of the counts.
    post_filter : str
        What PostFilter added.
    """
    text = f"0/{n_nodes} nodes are available:"
    if pre_filter is not None:
        text += f" {pre_filter.message}."
    else:
        counts = Counter(reason for status in statuses for reason in status.reasons)
        if counts:
            text += " " + ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items())) + "."
    return f"{text} {post_filter}" if post_filter else text
