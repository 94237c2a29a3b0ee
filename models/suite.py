"""A suite of instances, and what is the best that is known of each (docs/regress.md).

A suite says which rounds are solved and how. What is known of a round stands beside it: for each scheduler
the best vector of tiers that was ever reached, each tier with the best bound on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .kube_version import KubeVersion
    from .plan import Sense
    from .snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class SuiteInstance:
    """One round of a suite.

    Attributes
    ----------
    name : str
        What the best known values call it; unique within the suite.
    source : str
        The path of a file or folder, as it can be opened.
    kube_version : KubeVersion
        Whose kube-scheduler is rebuilt.
    gates_off : tuple of str
        Feature gates that are off, sorted.
    """

    name: str
    source: str
    kube_version: KubeVersion
    gates_off: tuple[str, ...] = ()

    @property
    def gates(self) -> str:
        """The gates as `--feature-gates` spells them."""
        return ",".join(f"{name}=false" for name in self.gates_off)


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Which rounds are solved, and how.

    Attributes
    ----------
    file : str
        The file that says it.
    known_file : str
        The file of what is known of its rounds, which need not exist.
    instances : tuple of SuiteInstance
        In the order of the file.
    time_limit : float
        Seconds for each round.
    workers : int or None
        Rounds that are solved at a time, each with one thread; None for all cores.
    seed : int
        Of the search.
    prefer : str
        The last tier of every round: none, scores, pack or spread.
    """

    file: str
    known_file: str
    instances: tuple[SuiteInstance, ...]
    time_limit: float = 60.0
    workers: int | None = None
    seed: int = 0
    prefer: str = "none"


@dataclass(frozen=True, kw_only=True)
class SuiteRound:
    """One round of a suite, as it was read.

    Attributes
    ----------
    name : str
        That of the instance.
    rules, input : str
        As in `KnownInstance`; the latter is empty where it could not be read.
    snapshot : Snapshot or None
        Its name is that of the round; None where it could not be read, for the reason `error`.
    missing : bool
        Whether the reason is that there is no file.
    """

    name: str
    rules: str
    input: str = ""
    snapshot: Snapshot | None = None
    error: str | None = None
    missing: bool = False


@dataclass(frozen=True, kw_only=True)
class KnownTier:
    """The best that is known of one tier of one scheduler.

    Attributes
    ----------
    value : int
        Of the best vector as a whole: a tier alone may be better in a vector that is worse.
    by : str
        The version of kubestow that first reached it.
    bound : int or None
        The best bound on it given the values of the tiers above; None for greedy, and where there is none.
    bound_by : str
        The version that first proved the bound; empty without one.
    """

    name: str
    sense: Sense
    value: int
    by: str
    bound: int | None = None
    bound_by: str = ""


@dataclass(frozen=True, kw_only=True)
class KnownInstance:
    """The best that is known of one round.

    Attributes
    ----------
    input : str
        A hash of the files that it was read from.
    rules : str
        Whose rules it was solved by, in words: release, gates that are off, preference.
    tiers : mapping
        Scheduler (greedy, optimal) -> its tiers, the most important first.
    """

    input: str
    rules: str
    tiers: Mapping[str, tuple[KnownTier, ...]]


def is_beyond(sense: Sense, value: int, bound: int) -> bool:
    """Whether a bound says that there is no such value."""
    return value > bound if sense == "max" else value < bound


def rules_of(suite: Suite, instance: SuiteInstance) -> str:
    """Return whose rules a round is solved by, as `KnownInstance.rules` has it."""
    words = [f"kube-scheduler {instance.kube_version.value}"]
    words += [f"{gate}=false" for gate in instance.gates_off]
    words += [f"prefer {suite.prefer}"] if suite.prefer != "none" else []
    return ", ".join(words)
