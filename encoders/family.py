"""The interface of a constraint family to models, parts and orders.

A family states what every admissible order must satisfy in the end (`encode`), and three things about a round
that do not depend on any solution: how many pods of a class a node can take at most (`limit`), which classes
and victims can matter to each other although they never share a node (`ties`), and which filters depend on
earlier steps (`order_sensitive`). What a family does not need is left at its default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..framework.vocabulary.arrays import Ints
    from .context import Context
    from .problem import PodClass, Problem, VictimClass


class Tie(NamedTuple):
    """Classes and victim classes that belong to one part of the round."""

    classes: Sequence[PodClass]
    victims: Sequence[VictimClass]


@dataclass(frozen=True, eq=False)
class Relation:
    """A class whose filter may decide differently before and after others have come or gone.

    Attributes
    ----------
    carrier : PodClass
        The class with the filter.
    classes, victims : sequence
        The classes and victims on which its decision depends.
    supporting : bool
        Whether a victim may be needed until it leaves: for what it is or for what it has.
    choosing : bool
        Whether the decision depends on variables of the family's own as well (which devices), not only on
        where pods stand.
    """

    carrier: PodClass
    classes: Sequence[PodClass] = ()
    victims: Sequence[VictimClass] = ()
    supporting: bool = False
    choosing: bool = False


def no_limit(problem: Problem, cls: PodClass) -> Ints | None:
    """Return None: the family limits no class on any node by itself."""
    return None


def no_ties(problem: Problem) -> Iterable[Tie]:
    """Return nothing: the family joins only pods of one node, or only adds a tier."""
    return ()


def no_relations(problem: Problem) -> Iterable[Relation]:
    """Return nothing: what holds by the family in the end holds in every order."""
    return ()


def never(problem: Problem, cls: PodClass) -> bool:
    """Return False."""
    return False


def never_beside(problem: Problem, cls: PodClass, others: Sequence[PodClass]) -> bool:
    """Return False."""
    return False


@dataclass(frozen=True)
class Family:
    """One constraint family, an entry of `ENCODERS`.

    Attributes
    ----------
    name : str
        kube-scheduler's name of the plugin.
    applies : function
        Whether the round uses the family at all.
    encode : function
        Add its variables, constraints and tiers.
    limit : function
        An upper bound on the members of a class on each node, int64[N], or None for no bound. The class
        comes with the limits that families before it have found; the problem has no classes yet.
    ties : function
        The classes and victims that can matter to each other by the family. Whatever shares a node is tied
        already.
    order_sensitive : function
        The relations by which an order may be wrong although its end is right.
    heedless : function
        Whether pods of a class take what the filters of other profiles check and their own do not: such a
        class is bound last.
    own_moves : function
        Whether a plan may have moves for the class that move no pod (claims are deallocated).
    """

    name: str
    applies: Callable[[Problem], bool]
    encode: Callable[[Context], None]
    limit: Callable[[Problem, PodClass], Ints | None] = no_limit
    ties: Callable[[Problem], Iterable[Tie]] = no_ties
    order_sensitive: Callable[[Problem], Iterable[Relation]] = no_relations
    heedless: Callable[[Problem, PodClass, Sequence[PodClass]], bool] = never_beside
    own_moves: Callable[[Problem, PodClass], bool] = never


def unfiltered(problem: Problem, name: str, cls: PodClass, others: Sequence[PodClass]) -> bool:
    """Whether a class has a profile without a filter that some of the other classes have."""
    return not problem.cluster.profile(cls.pod).filters(name) and bool(problem.asking(name, others))


@dataclass(frozen=True)
class Preference:
    """What one `--prefer` adds: `encode` the last tier, `ties` what it makes matter to each other."""

    encode: Callable[[Context], None]
    ties: Callable[[Problem], Iterable[Tie]] = no_ties
