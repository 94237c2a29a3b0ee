"""What every plugin looks like.

A plugin is made once for each profile and keeps nothing about a cycle.  What it learns about a pod in
PreFilter or PreScore is a value that the framework hands back to it; what it must know about one node to
answer while pods are added to it or removed from it (nominated pods, preemption's dry runs) is a *fork* of
that value.
"""

from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from ...models.config import PluginArgs
from ..index.missing import Missing
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.status import Code, Status

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

Verdicts = NDArray[np.uint8]
"""A plugin's answers over nodes: 0 passes, the others are places in `FilterPlugin.codes`."""

Nodes = Ints | slice
"""Some of the nodes by number, or `slice(None)` for all."""

MAX_NODE_SCORE: Final = 100


class Scope(Enum):
    """What a plugin's answer about one node depends on, beside the pod's class and that node's own object.

    It holds for verdicts and for raw scores; a score may be brought into 0..100 by what other nodes have.
    Outside CLUSTER, PreFilter and PreScore answer the same whatever nodes they are given.
    """

    NODE = 0
    """Nothing: it never changes."""
    PODS = 1
    """The pods of that node."""
    CLUSTER = 2
    """Pods anywhere, and what they have bound."""


class Plugin:
    """A plugin of one profile."""

    name: ClassVar[str]
    scope: ClassVar[Scope] = Scope.CLUSTER

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        self.cluster = cluster

    def by_load(self, data: Any) -> bool:
        """Whether an answer is the same for nodes that offer the same, of which the same is taken."""
        return False

    def follow_taints(self, nodes: Ints) -> None:
        """Judge anew what was learnt from hard taints and cordons of some nodes (int64[K]), in place."""


class FilterPlugin(Plugin):
    """A plugin that rejects nodes.

    `codes[v]` is what verdict v means; `in_turn` says that judging a node costs enough to leave out those
    that an earlier filter rejected.
    """

    in_turn: ClassVar[bool] = False
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, Code.UNRESOLVABLE)

    def pre_filter(self, state: "State", i: int) -> Any:
        """Look at the pod and the cluster: None skips the plugin, a `Status` rejects the pod everywhere.

        Anything else is what the other methods get as `data`.
        """
        raise NotImplementedError

    def is_settled(self, i: int) -> bool:
        """Whether PreFilter finds the same for all pods of pod i's class wherever pods are."""
        return self.scope is Scope.NODE

    def possible(self, i: int) -> Bools | None:
        """Say which nodes pod i may pass on somewhere in a round, wherever pods are; None for all."""
        return None

    def refuses(self, i: int) -> bool:
        """Whether PreFilter refuses pod i throughout a round, wherever pods are."""
        return False

    def filter_all(self, data: Any, state: "State", i: int) -> Verdicts:
        """Judge every node; uint8[N], not to be written to."""
        raise NotImplementedError

    def passing(self, data: Any, state: "State", i: int) -> Bools:
        """Return which nodes pass; bool[N], not to be written to."""
        passes: Bools = self.filter_all(data, state, i) == 0
        return passes

    def filter_passed(self, data: Any, state: "State", i: int, passed: Bools) -> Verdicts:
        """Judge the nodes that passed all filters before; what is said of the others does not count."""
        return self.filter_all(data, state, i)

    def fork(self, data: Any, state: "State", i: int, n: int) -> Any:
        """Return what is needed to judge node n alone, apart from everything else."""
        raise NotImplementedError

    def concerned(self, data: Any) -> Bools | None:
        """Say which pods can change a verdict by coming to the node or leaving it; bool[P], None for none."""
        return None

    def judge_after(self, data: Any, nodes: Ints, pods: Ints, at: Ints, by: Ints) -> Verdicts | None:
        """Judge some nodes after pods have come and gone; None where each must be asked.

        Parameters
        ----------
        data
        nodes : int64[K]
        pods, at, by : int64[M]
            The pods, the place of each one's node among the nodes, and 1 where it comes, -1 where it goes.

        Returns
        -------
        uint8[K] or None
            As `check` finds on forks to which the same was done.
        """
        return None

    def add(self, fork: Any, j: int) -> None:
        """Let pod j be on the fork's node too."""

    def remove(self, fork: Any, j: int) -> None:
        """Let pod j no longer be on the fork's node."""

    def check(self, fork: Any) -> int:
        """Judge the fork's node: a verdict."""
        raise NotImplementedError

    def permits(self, fork: Any) -> int:
        """Judge the fork's node by the rules alone, whichever way upstream looks: a verdict.

        It differs from `check` where upstream does not find every answer that its own rules allow.
        """
        return self.check(fork)

    def reasons(self, fork: Any, verdict: int) -> tuple[str, ...]:
        """Say why the fork's node got this verdict."""
        raise NotImplementedError

    def missing(self, fork: Any, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Say what pod i lacks on the fork's node, which got this verdict; nothing more than reasons here."""
        return ()

    def status(self, fork: Any, verdict: int) -> Status:
        """Return the status that stands for a verdict other than 0."""
        return Status(self.codes[verdict], self.name, self.reasons(fork, verdict))


class LocalFilter(FilterPlugin):
    """A filter that looks at one node and its pods at a time."""

    scope: ClassVar[Scope] = Scope.PODS

    def judge(self, data: Any, state: "State", i: int, nodes: Nodes) -> Verdicts:
        """Judge some nodes; uint8[len(nodes)]."""
        raise NotImplementedError

    def filter_all(self, data: Any, state: "State", i: int) -> Verdicts:
        """Judge every node."""
        return self.judge(data, state, i, slice(None))


class StaticFilter(FilterPlugin):
    """A filter that only looks at the pod's spec and the nodes; its data are the verdicts themselves."""

    scope: ClassVar[Scope] = Scope.NODE

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._by_class: dict[int, Verdicts | Status | None] = {}

    def verdicts(self, i: int) -> Verdicts | Status | None:
        """Judge every node for pod i: None skips the plugin, a `Status` rejects the pod everywhere."""
        raise NotImplementedError

    def explain(self, i: int, n: int, verdict: int) -> tuple[str, ...]:
        """Say why node n got this verdict."""
        raise NotImplementedError

    def pre_filter(self, state: "State", i: int) -> Any:
        """Return the verdicts, made once for each class of pods."""
        cls = self.cluster.pods[i].but_claims
        if cls not in self._by_class:
            self._by_class[cls] = self.verdicts(i)
        return self._by_class[cls]

    def filter_all(self, data: Any, state: "State", i: int) -> Verdicts:
        """Return the verdicts."""
        verdicts: Verdicts = data
        return verdicts

    def fork(self, data: Any, state: "State", i: int, n: int) -> Any:
        """Return the node's verdict, with the pod and the node to explain it."""
        return (int(data[n]), i, n)

    def check(self, fork: Any) -> int:
        """Return the node's verdict."""
        verdict: int = fork[0]
        return verdict

    def reasons(self, fork: Any, verdict: int) -> tuple[str, ...]:
        """Say why."""
        _, i, n = fork
        return self.explain(i, n, verdict)

    def lacking(self, i: int, n: int, verdict: int) -> tuple[Missing, ...]:
        """Say what pod i lacks on node n, which got this verdict."""
        return ()

    def missing(self, fork: Any, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Say what is missing."""
        return self.lacking(i, fork[2], verdict)


class ScorePlugin(Plugin):
    """A plugin that ranks the nodes that passed."""

    @property
    def is_relative(self) -> bool:
        """Whether a node's score depends on which other nodes there are."""
        return self.scope is Scope.CLUSTER or type(self).normalize is not ScorePlugin.normalize

    def may_prefer(self, i: int) -> bool:
        """Whether scores of pods of pod i's class may differ between nodes, somewhere in a round."""
        return True

    def pre_score(self, state: "State", i: int, nodes: Ints) -> Any:
        """Look at the pod and the feasible nodes: None skips the plugin, a `Status` ends the cycle."""
        return ()

    def score(self, data: Any, state: "State", i: int, nodes: Ints) -> Ints:
        """Return the raw score of each of `nodes`; int64[len(nodes)]."""
        raise NotImplementedError

    def normalize(self, data: Any, scores: Ints) -> Ints:
        """Bring raw scores into 0..100."""
        return scores


def default_normalize(scores: Ints, *, reverse: bool = False) -> Ints:
    """Scale so that the highest score becomes 100; reversed, so that it becomes 0.

    Source: plugins/helper/normalize_score.go.
    """
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    scaled = scores * MAX_NODE_SCORE // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
