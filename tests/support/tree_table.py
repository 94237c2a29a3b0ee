"""Trees of groups, and what their groups wait for: the same in a round and in the queue."""

from support.builders import composite, group, pod


def quorum(name):
    return f'waiting for composite pod group "{name}" tree to meet quorum'


def invalid(text):
    return f"invalid pod group hierarchy: {text}"


def pods(name, count):
    return pod(f"{name}-pod").member(name).times(count)


TWO = composite("root", gang=2)
ONE_OF_TWO = (
    group("x", gang=2, parent="root"),
    group("y", gang=2, parent="root"),
    pods("x", 2),
    pods("y", 1),
)
CHAIN = (composite("a"), composite("b", parent="a"), composite("c", parent="b"))

# name -> (objects, what every PodGroup waits for)
TREES = {
    "a tree with as many ready children as its root needs is tried": (
        (composite("root", gang=1), *ONE_OF_TWO),
        None,
    ),
    "a tree with too few ready children waits, the ready ones with it": ((TWO, *ONE_OF_TWO), quorum("root")),
    "without a gang at the root one ready child is enough": ((composite("root"), *ONE_OF_TWO), None),
    "a group without a gang is always ready": (
        (TWO, group("x", gang=2, parent="root"), group("y", parent="root"), pods("x", 2)),
        None,
    ),
    "a child that no pod names is not ready if it is a gang": (
        (TWO, group("x", gang=2, parent="root"), group("y", gang=1, parent="root"), pods("x", 2)),
        quorum("root"),
    ),
    "running and gated members count": (
        (
            TWO,
            group("x", gang=2, parent="root"),
            group("y", gang=2, parent="root"),
            pods("x", 2),
            pod("runs").member("y").on("a"),
            pod("gated").member("y").gated(),
        ),
        None,
    ),
    "readiness is counted level by level": (
        (
            TWO,
            composite("left", gang=2, parent="root"),
            composite("right", parent="root"),
            group("x", gang=1, parent="left"),
            group("y", gang=1, parent="left"),
            group("z", gang=1, parent="right"),
            pods("x", 1),
            pods("z", 1),
        ),
        quorum("root"),
    ),
    "a parent that does not exist is waited for": ((group("x", parent="gone"), pods("x", 1)), quorum("gone")),
    "so is one further up": (
        (composite("root", parent="gone"), group("x", parent="root"), pods("x", 1)),
        quorum("gone"),
    ),
    "parents in a circle are no tree": (
        (
            composite("up", parent="down"),
            composite("down", parent="up"),
            group("x", parent="up"),
            pods("x", 1),
        ),
        invalid('the parents of composite pod group "up" form a circle'),
    ),
    "four levels are a tree": ((*CHAIN, group("x", parent="c"), pods("x", 1)), None),
    "five are none, nor is what hangs higher": (
        (
            *CHAIN,
            composite("d", parent="c"),
            group("x", parent="d"),
            group("y", parent="a"),
            pods("x", 1),
            pods("y", 1),
        ),
        invalid('composite pod group "a" has more than 4 levels'),
    ),
    "groups of two workloads are no tree": (
        (
            composite("root", workloadRef={"workloadName": "v", "templateName": "t"}),
            group("x", parent="root"),
            pods("x", 1),
        ),
        invalid('composite pod group "root" refers to several workloads: "v", "w"'),
    ),
    "pods of two priorities are at odds across groups": (
        (
            composite("root"),
            group("x", parent="root"),
            group("y", parent="root"),
            pods("x", 1).priority(1),
            pods("y", 1).priority(2),
        ),
        "all pods in a single pod group should match the priority of the pod group, got: 1 and 2",
    ),
    "so are pods and the root": (
        (composite("root", priority=3), group("x", parent="root"), pods("x", 1).priority(1)),
        "all pods in a single pod group should match the priority of the pod group, got: 1 and 3",
    ),
    "pods of two schedulers are at odds across groups": (
        (
            composite("root"),
            group("x", parent="root"),
            group("y", parent="root"),
            pods("x", 1),
            pods("y", 1).scheduler("other"),
        ),
        "all pods in a single pod group should have the same .spec.schedulerName set, "
        'got: "other" and "default-scheduler"',
    ),
}
