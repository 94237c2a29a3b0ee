"""Answers about changes of a cluster, with their types, that show themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..models.consolidation import Consolidation
from ..models.drain import Drain
from ..models.provision import Provision
from ..models.rebalance import Rebalance
from ..models.suggest import SuggestDocument
from ..models.what_if import WhatIf
from .frames import Frame, frame
from .shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

Document = TypeVar("Document", Consolidation, Drain, Rebalance, Provision, SuggestDocument, WhatIf)


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Shown, Generic[Document]):
    """What is known about a change.

    Attributes
    ----------
    answer : Consolidation, Drain, Rebalance, Provision, SuggestDocument or WhatIf
        The document of the command of the same name.
    """

    answer: Document

    def report(self) -> RenderableType:
        """Return the report of the command."""
        answer: Any = self.answer
        if isinstance(answer, Consolidation):
            from ..reports.consolidation import consolidation_report

            return consolidation_report(answer)
        if isinstance(answer, Drain):
            from ..reports.drain import drain_report

            return drain_report(answer)
        if isinstance(answer, Rebalance):
            from ..reports.rebalance import rebalance_report

            return rebalance_report(answer)
        if isinstance(answer, Provision):
            from ..reports.provision import provision_report

            return provision_report(answer)
        if isinstance(answer, SuggestDocument):
            from ..reports.suggest import suggest_report

            return suggest_report(answer)
        from ..reports.what_if import what_if_report

        return what_if_report(answer)

    def to_dict(self) -> dict[str, Any]:
        """Return the document of the command with `-o json`."""
        return self.answer.model_dump(by_alias=True)

    def to_frame(self) -> Frame:
        """Return a data frame: a row for each move, group of nodes, step, or pod with another fate."""
        return frame(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        answer: Any = self.answer
        if isinstance(answer, Drain):
            for number, stage in enumerate(answer.stages):
                for batch in stage.batches:
                    yield from ({"stage": number, **move.model_dump()} for move in batch.moves)
        elif isinstance(answer, Rebalance | Consolidation):
            yield from (move.model_dump() for move in answer.optimal.moves)
        elif isinstance(answer, Provision):
            yield from (group.model_dump(exclude={"nodes"}) for group in answer.purchase.bought)
        elif isinstance(answer, SuggestDocument):
            for found in answer.answers:
                for number, suggestion in enumerate(found.suggestions):
                    about = {"subject": found.subject, "suggestion": number, "cheapest": suggestion.cheapest}
                    yield from ({**about, **step.model_dump()} for step in suggestion.steps)
        else:
            for scenario in answer.scenarios:
                yield from ({"scenario": scenario.name, **pod.model_dump()} for pod in scenario.pods)
