"""A constraint family for the test of the recipe: pods that follow others.

A pod with the label `follows: x` comes only when a pod with the label `leads: x` is somewhere in the cluster,
and a node with the label `followers: n` takes at most n pods that follow.
"""

FOLLOWERS = "Followers"


def most_on(node):
    """Return how many followers a node takes; None where it does not say."""
    most = node.metadata.labels.get("followers")
    return None if most is None else int(most)


def follows(info):
    """Return what a pod follows; None where it follows nothing."""
    return info.pod.metadata.labels.get("follows")


def leads(info):
    """Return what a pod leads; None where it leads nothing."""
    return info.pod.metadata.labels.get("leads")
