"""Moves in words, for tests to compare and for failures to show."""

from kubestow.framework.dra.index import claim_keys
from kubestow.framework.state.moves import Bind, Deallocate, Leave, Mark


def in_words(cluster, moves):
    """Moves as `bind p n`, `mark v`, `leave v`, `deallocate default/c`."""

    def words(move):
        match move:
            case Bind(pod, node):
                return f"bind {cluster.pods[pod].pod.name} {cluster.node_names[node]}"
            case Mark(pod):
                return f"mark {cluster.pods[pod].pod.name}"
            case Leave(pod):
                return f"leave {cluster.pods[pod].pod.name}"
            case Deallocate(claim):
                return f"deallocate {claim_keys(cluster)[claim]}"

    return [words(move) for move in moves]
