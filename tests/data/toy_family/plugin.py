"""The filter: what a node says to a pod that follows."""

import numpy as np

from kubestow.framework.plugins.base import FilterPlugin
from kubestow.framework.vocabulary.status import Code

from . import FOLLOWERS, follows, leads, most_on

NO_LEADER = "node(s) are out of sight of the pod's leader"
TOO_MANY = "node(s) had enough followers"
REASONS = ("", NO_LEADER, TOO_MANY)


class Followers(FilterPlugin):
    """Rejects every node while there is no leader, and nodes that have enough followers."""

    name = FOLLOWERS
    codes = (Code.SUCCESS, Code.UNSCHEDULABLE, Code.UNSCHEDULABLE)

    def pre_filter(self, state, i):
        """Skip a pod that follows nothing; otherwise remember what it follows."""
        return follows(self.cluster.pods[i])

    def filter_all(self, data, state, i):
        """Judge every node."""
        nodes = range(self.cluster.n_nodes)
        return np.array([self.check(self.fork(data, state, i, n)) for n in nodes], dtype=np.uint8)

    def fork(self, data, state, i, n):
        """Return the pods that lead, the followers on the node and how many it takes."""
        pods = self.cluster.pods
        placed = np.flatnonzero(state.node_of >= 0).tolist()
        return {
            "wanted": data,
            "leaders": {j for j in placed if leads(pods[j]) == data},
            "followers": {j for j in state.pods_on(n) if follows(pods[j])},
            "most": most_on(self.cluster.nodes[n]),
        }

    def concerned(self, data):
        """Say which pods lead it, or follow anything."""
        return np.array([leads(p) == data or follows(p) is not None for p in self.cluster.pods])

    def add(self, fork, j):
        """Let pod j come."""
        if leads(self.cluster.pods[j]) == fork["wanted"]:
            fork["leaders"].add(j)
        if follows(self.cluster.pods[j]):
            fork["followers"].add(j)

    def remove(self, fork, j):
        """Let pod j go."""
        fork["leaders"].discard(j)
        fork["followers"].discard(j)

    def check(self, fork):
        """Judge the node."""
        if not fork["leaders"]:
            return 1
        return 2 if fork["most"] is not None and len(fork["followers"]) >= fork["most"] else 0

    def reasons(self, fork, verdict):
        """Say why."""
        return (REASONS[verdict],)
