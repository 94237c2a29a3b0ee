"""Clusters in which running pods may be moved, and steps of moves in short."""

from kubestow.models.moves import MoveOptions, MoveStep
from kubestow.solver.moves.moving import moving
from support.builders import cluster


def moving_of(*objects, among=lambda pod, node: True, **options):
    """Number a cluster of builders and the replacements of its movable pods."""
    return moving(cluster(*objects), MoveOptions(**options), among)


def steps(text):
    """Read `mark v, leave v, bind v' n, cordon n`: pods are of the default namespace, v' replaces v."""

    def key(name):
        return f"default/{name.replace(chr(39), '-moved')}"

    found = []
    for words in (part.split() for part in text.split(",")):
        match words:
            case ["bind", pod, node]:
                found.append(MoveStep(bind=key(pod), node=node))
            case ["cordon" | "uncordon" as verb, node]:
                found.append(MoveStep(**{verb: node}))
            case [verb, pod]:
                found.append(MoveStep(**{verb: key(pod)}))
    return found


def targets(moving, **nodes):
    """Name running pods with their targets: `targets(moving, v="b")`."""
    index = moving.cluster.node_index
    return {moving.cluster.pod_index[f"default/{name}"]: index[node] for name, node in nodes.items()}
