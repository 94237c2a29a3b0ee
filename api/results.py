"""What comes back: documents of the command line with their types, that show themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .frames import Frame, frame
from .shown import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from ..models.fit import Fit
    from ..models.plan import Comparison, Plan
    from ..models.study import Study
    from ..models.study_report import StudyReport
    from ..studies.folder import StudyFolder


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Shown):
    """A round that was solved.

    Attributes
    ----------
    plan : Plan
        The plan, replayed; the fields are those of `kubestow solve -o json` (docs/output.md).
    """

    plan: Plan

    @property
    def proven(self) -> bool:
        """Whether every tier is proven: no plan is better."""
        return self.plan.status == "OPTIMAL"

    @property
    def placed(self) -> dict[str, str]:
        """The node of each pod that is placed, by `namespace/name`."""
        return dict(self.plan.placed())

    @property
    def evicted(self) -> tuple[str, ...]:
        """The pods that leave."""
        return tuple(eviction.pod for eviction in self.plan.evictions)

    def report(self) -> RenderableType:
        """Return the report of `kubestow solve`."""
        from ..reports.plan import plan_report

        return plan_report(self.plan)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `kubestow solve -o json`."""
        return self.plan.model_dump(by_alias=True)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each pending pod: its node, or why it waits."""
        nominated = {nomination.pod for nomination in self.plan.nominations}
        placed = [
            {"pod": pod, "node": node, "nominated": pod in nominated, "message": None}
            for pod, node in self.placed.items()
        ]
        waiting = [
            {"pod": item.pod, "node": None, "nominated": False, "message": item.message}
            for item in self.plan.unschedulable
        ]
        return frame([*placed, *waiting])

    def to_manifest(self) -> str:
        """Return what carries the plan out, request by request, as YAML (docs/apply.md).

        Raises
        ------
        InputError
            Where the plan may not be carried out, as one of a round without uids.
        """
        from ..apply.reading import refuse
        from ..apply.requests import requests_of
        from ..reports.document import as_yaml

        refuse(self.plan.instance, self.plan)
        return as_yaml([request.document() for request in requests_of(self.plan)])


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Shown):
    """Both schedulers on one round.

    Attributes
    ----------
    comparison : Comparison
        The document of `kubestow compare`.
    """

    comparison: Comparison

    @property
    def optimal(self) -> Solution:
        """The best round."""
        return Solution(self.comparison.optimal)

    @property
    def greedy(self) -> Solution:
        """The greedy baseline's."""
        return Solution(self.comparison.greedy)

    @property
    def first_difference(self) -> str | None:
        """The most important tier in which they differ; None where greedy is optimal."""
        return self.comparison.first_difference

    def report(self) -> RenderableType:
        """Return the report of `kubestow compare`."""
        from ..reports.comparison import comparison_report

        return comparison_report(self.comparison)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `kubestow compare -o json`."""
        return self.comparison.model_dump(by_alias=True)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each tier: both values, the bound, whether it is proven."""
        return frame(tier.model_dump() for tier in self.comparison.tiers)


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(Shown):
    """How many copies of a pod or gang fit.

    Attributes
    ----------
    fit : Fit
        The document of `kubestow fit`.
    """

    fit: Fit

    def report(self) -> RenderableType:
        """Return the report of `kubestow fit`."""
        from ..reports.fit import fit_report

        return fit_report(self.fit)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `kubestow fit -o json`."""
        return self.fit.model_dump(by_alias=True)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each node that takes copies in the optimum."""
        return frame(node.model_dump() for node in self.fit.optimal.nodes)


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Shown):
    """An answer that is a plain document: of `why` or `explain`.

    Attributes
    ----------
    document : mapping
        The document of the command of the same name (docs/why.md, docs/explain.md).
    """

    document: Mapping[str, Any]

    def report(self) -> RenderableType:
        """Return the report of the command."""
        from ..reports.explain import explain_report
        from ..reports.why import why_report

        return why_report(self.document) if "answer" in self.document else explain_report(self.document)

    def to_dict(self) -> dict[str, Any]:
        """Return the document."""
        return dict(self.document)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each rule that keeps the pod, or for each node."""
        if "answer" not in self.document:
            return frame(self.document["nodes"])
        return frame({name: rule[name] for name in ("kind", "object", "text")} for rule in self._core)

    @property
    def _core(self) -> list[dict[str, Any]]:
        core: list[dict[str, Any]] = self.document.get("core", [])
        return core


@dataclass(frozen=True, eq=False, repr=False)
class Simulated(Shown):
    """A cluster that was run through time.

    Attributes
    ----------
    document : mapping
        The document of `kubestow simulate` (docs/simulate.md).
    """

    document: Mapping[str, Any]

    def report(self) -> RenderableType:
        """Return the report of `kubestow simulate`."""
        from ..reports.simulation import simulation_report

        return simulation_report(self.document)

    def to_dict(self) -> dict[str, Any]:
        """Return the document."""
        return dict(self.document)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each scheduler's run."""
        runs: Mapping[str, Mapping[str, Any]] = self.document["runs"]
        return frame({"scheduler": name, **_flat(run)} for name, run in runs.items())


@dataclass(frozen=True, eq=False, repr=False)
class Studied(Shown):
    """Many instances, each solved by both schedulers.

    Attributes
    ----------
    study : Study
        The document of `kubestow study`.
    """

    study: Study

    def report(self) -> RenderableType:
        """Return the report of `kubestow study`."""
        from ..reports.study import study_report

        return study_report(self.study)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `kubestow study -o json`."""
        return self.study.model_dump(by_alias=True)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each tier of each instance; of one that failed, its error."""
        rows: list[dict[str, Any]] = []
        for item in self.study.instances:
            about = item.model_dump(exclude={"tiers"})
            rows += [{**about, **tier.model_dump()} for tier in item.tiers] or [about]
        return frame(rows)


@dataclass(frozen=True, eq=False, repr=False)
class StudiedFolder(Shown):
    """The folder of a study, as it is now.

    Attributes
    ----------
    folder : StudyFolder
        What `kubestow study STUDY.yaml --into DIR` wrote, or writes still.
    """

    folder: StudyFolder

    @property
    def statistics(self) -> StudyReport:
        """The document of `kubestow study-report -o json`."""
        from ..studies.report import report_of

        return report_of(self.folder.path)

    def report(self) -> RenderableType:
        """Return the report of `kubestow study-report`."""
        from ..reports.study_statistics import statistics_report

        return statistics_report(self.statistics)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `kubestow study-report -o json`."""
        return self.statistics.model_dump(by_alias=True)

    def to_frame(self) -> Frame:
        """Return a data frame with a row for each tier of each run that is done, or for its error."""
        return frame(row.model_dump() for row in self.folder.of_plan())


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the numbers of a document by their paths, such as `pods.created`."""
    flat: dict[str, Any] = {}
    for name, value in document.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
