"""The document of `kubestow study-report`: what is said of the runs of a study, each number with its n."""

from __future__ import annotations

from .plan import Sense
from .plan_model import PlanModel


class GreedyShare(PlanModel):
    """How often greedy's round is the best one (`studies.statistics.shares` has the definition).

    Attributes
    ----------
    family : str or None
        None for all instances of the variant.
    n : int
        Instances that are compared: both schedulers have a plan.
    optimal, behind, unknown : int
        Greedy's plan is proven best; a better one is known; neither.
    inadmissible : int
        Instances beside those where greedy's outcome is no plan, which is not compared.
    lowest, highest : float or None
        The share where none of the unknown is optimal, and where all are; None where n is 0.
    """

    variant: str
    family: str | None
    n: int
    optimal: int
    behind: int
    unknown: int
    inadmissible: int
    lowest: float | None
    highest: float | None


class TierGap(PlanModel):
    """How far greedy is behind in one tier (`studies.statistics.gaps`).

    Attributes
    ----------
    priority : int or None
        That of the pods that the tier is about; of evictions that of the preemptors.
    n : int
        Instances in which the schedulers agree in all tiers above.
    unproven : int
        Of these, those where the tier or one above it is not proven: the gap is to the best known plan.
    mean, low, high : float
        Mean gap, and the ends of its confidence interval, in the tier's own unit.
    largest : int
    """

    variant: str
    family: str
    tier: str
    priority: int | None
    sense: Sense
    n: int
    unproven: int
    mean: float
    low: float
    high: float
    largest: int


class Contest(PlanModel):
    """Two variants, instance by instance (`studies.statistics.contests`).

    Attributes
    ----------
    n : int
        Instances that both have solved and that have the same tiers in both.
    wins, ties, losses : int
        Of the first variant.
    incomparable : int
        Instances beside those whose tiers differ.
    p : float or None
        Two-sided, of the sign test; None where no instance is decided.
    """

    scheduler: str
    first: str
    second: str
    n: int
    wins: int
    ties: int
    losses: int
    incomparable: int
    p: float | None


class SurvivalStep(PlanModel):
    """A moment at which a proof came.

    Attributes
    ----------
    seconds : float
    at_risk : int
        Runs that went on until then without a proof.
    proofs : int
        Those of them whose proof came then.
    unproven : float
        Kaplan-Meier estimate of the share without a proof after this moment.
    """

    seconds: float
    at_risk: int
    proofs: int
    unproven: float


class Survival(PlanModel):
    """Time to proof of one variant; runs that ended without one are censored when they ended.

    Attributes
    ----------
    n, proven : int
        Runs of the optimal scheduler, and those with a proof.
    median : float or None
        Seconds after which at most half are without one; None where it does not come to that.
    """

    variant: str
    n: int
    proven: int
    median: float | None
    steps: tuple[SurvivalStep, ...]


class ProfilePoint(PlanModel):
    """The share of problems that are proven within `ratio` times the fastest variant's time."""

    ratio: float
    share: float


class Profile(PlanModel):
    """Performance profile of one variant (`studies.statistics.profiles`).

    Attributes
    ----------
    n : int
        Problems: pairs of instance and seed that every variant has run.
    proven : int
        Those that this variant has proven.
    """

    variant: str
    n: int
    proven: int
    points: tuple[ProfilePoint, ...]


class FailedRun(PlanModel):
    """A run that ended with an error."""

    run: str
    instance: str
    scheduler: str
    variant: str
    error: str


class StudyReport(PlanModel):
    """All statistics of a study's folder.

    Attributes
    ----------
    study : str
        Its name.
    versions : mapping
        Of kubestow, its solver and Python.
    planned, done : int
        Runs; the statistics are of those that are done.
    beside : int
        Runs in the folder that are not part of the study as it is now, and in no statistic.
    confidence : float
        Of the intervals.
    resamples, seed : int
        Of the bootstrap.
    """

    study: str
    versions: dict[str, str]
    planned: int
    done: int
    beside: int
    failed: tuple[FailedRun, ...]
    confidence: float
    resamples: int
    seed: int
    shares: tuple[GreedyShare, ...]
    gaps: tuple[TierGap, ...]
    contests: tuple[Contest, ...]
    survival: tuple[Survival, ...]
    profiles: tuple[Profile, ...]
