"""Documents of `-o json` and `-o yaml`, recognised by what they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from ...models.errors import InputError
from ...models.plan import Comparison, Plan, Upgrade
from ...models.study import Study

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Part(BaseModel):
    """Part of a document; what else it has is kept."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow")


class WrittenDevice(_Part):
    """A device in a plan's allocations."""

    request: str
    driver: str
    pool: str
    device: str


class WrittenAllocation(_Part):
    """What a plan gives to a claim; a plan keeps it as it was written."""

    claim: str
    node: str | None = None
    devices: tuple[WrittenDevice, ...]


class WrittenAllocations(_Part):
    """The devices that a plan gives out."""

    allocations: tuple[WrittenAllocation, ...]


class RunPods(_Part):
    """Pods of a run by what became of them."""

    created: int
    scheduled: int
    waiting: int
    deleted: int


class Waits(_Part):
    """Seconds from creation to binding; None where nothing was bound."""

    p50: float | None
    p99: float | None
    max: float | None


class Attempts(_Part):
    """How often pods were tried, and how often in vain."""

    total: int
    wasted: int


class HintCounts(_Part):
    """How often queueing hints were asked, and how often they said Queue."""

    asked: int
    queue: int


class SimulatedRun(_Part):
    """What came out of one scheduler's run (`simulation.summary`)."""

    seconds: float
    pods: RunPods
    time_to_schedule: Waits
    attempts: Attempts
    evictions: int
    violations: int
    fallbacks: int
    node_hours: float
    hints: HintCounts
    notes: tuple[str, ...] = ()


class Simulated(_Part):
    """The document of `kubestow simulate`."""

    scenario: str
    title: str | None = None
    seconds: float
    seed: int
    runs: dict[str, SimulatedRun] = Field(min_length=1)


@dataclass(frozen=True)
class Rounds:
    """Plans of one round.

    Attributes
    ----------
    plans : mapping
        By the name of its scheduler, or of the release by whose rules it was made; the first one is what the
        report is about.
    comparison : Comparison or None
        Where the document is one.
    upgrade : Upgrade or None
        Where the document compares two releases.
    """

    plans: Mapping[str, Plan]
    comparison: Comparison | None = None
    upgrade: Upgrade | None = None

    @property
    def instance(self) -> str:
        """Name of the instance, as the document has it."""
        return next(iter(self.plans.values())).instance


Document = Rounds | Study | Simulated

INSTALL: Final = "pip install 'kubestow[report]'"
"""What brings the libraries of pages and figures."""

WANTED: Final = (
    "a document that solve, compare, study or simulate prints with -o json, or the folder of study --into"
)

OF_A_POD: Final = (
    "is an answer of explain --why: it goes with a plan, as in `kubestow report PLAN --why FILE`"
)

_KINDS: Final[dict[str, tuple[str, type[BaseModel]]]] = {
    "optimal": ("compare", Comparison),
    "before": ("compare --against", Upgrade),
    "instances": ("study", Study),
    "runs": ("simulate", Simulated),
    "steps": ("solve", Plan),
}
"""By a field that no other document has: which command writes it, and what it is."""


def read_document(name: str, found: Any) -> Document:
    """Recognise a document of `-o json` or `-o yaml`, of `solve`, `compare`, `study` or `simulate`.

    Parameters
    ----------
    name : str
        Where it comes from, for errors.
    found : object
        What was read there.

    Raises
    ------
    InputError
        When it is no such document.
    """
    if isinstance(found, dict) and "answer" in found:
        raise InputError(name, "", "", OF_A_POD)
    kinds = [field for field in _KINDS if isinstance(found, dict) and field in found]
    if not kinds:
        raise InputError(name, "", "", f"is not {WANTED}")
    return _validated(name, *_KINDS[kinds[0]], found)


def _plans(read: BaseModel) -> tuple[Plan, ...]:
    if isinstance(read, Comparison):
        return read.optimal, read.greedy
    if isinstance(read, Upgrade):
        return read.before, read.after
    return (read,) if isinstance(read, Plan) else ()


def _validated(name: str, command: str, kind: type[BaseModel], found: Any) -> Document:
    try:
        read = kind.model_validate(found)
        for plan in _plans(read):
            WrittenAllocations.model_validate({"allocations": plan.allocations})
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        why = f"no document of `kubestow {command} -o json`: {fault['msg']}"
        raise InputError(name, "", field, why) from None
    if isinstance(read, Comparison):
        if [tier.name for tier in read.optimal.tiers] != [tier.name for tier in read.greedy.tiers]:
            raise InputError(name, "", "greedy.tiers", "are other tiers than those of optimal")
        return Rounds({"optimal": read.optimal, "greedy": read.greedy}, read)
    if isinstance(read, Upgrade):
        if read.kube_version == read.against:
            raise InputError(name, "", "against", "is the release before the upgrade as well")
        return Rounds({read.kube_version: read.before, read.against: read.after}, upgrade=read)
    if isinstance(read, Plan):
        return Rounds({read.scheduler: read})
    assert isinstance(read, Study | Simulated)
    return read
