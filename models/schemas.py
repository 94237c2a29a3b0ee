"""JSON Schemas of the documents that commands print, made from the models of those documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .consolidation import Consolidation
from .documents import Checked, Explanation, HintVerdict, QueueReplay, SimulationSummary, Trace, WhyAnswer
from .drain import Drain
from .fit import Fit
from .plan import Comparison, Plan, Upgrade
from .provision import Provision
from .rebalance import Rebalance
from .regress import Regression
from .study import Study
from .study_report import StudyReport
from .study_run import StudySession
from .suggest import SuggestDocument
from .what_if import WhatIf

if TYPE_CHECKING:
    from .plan_model import PlanModel


@dataclass(frozen=True, slots=True)
class Document:
    """A document that has a schema.

    Attributes
    ----------
    title : str
        What it is, in two or three words.
    command : str
        The command that prints it.
    model : type of PlanModel
        What it is made of.
    """

    title: str
    command: str
    model: type[PlanModel]


DOCUMENTS: Final = {
    "plan": Document("Plan", "kubestow solve -o json", Plan),
    "comparison": Document("Comparison", "kubestow compare -o json", Comparison),
    "upgrade": Document("Upgrade", "kubestow compare --against 1.34 -o json", Upgrade),
    "explanation": Document("Explanation", "kubestow explain -o json", Explanation),
    "why": Document("Why", "kubestow explain --why -o json", WhyAnswer),
    "check": Document("Check", "kubestow check -o json", Checked),
    "drain": Document("Drain", "kubestow drain -o json", Drain),
    "rebalance": Document("Rebalance", "kubestow rebalance -o json", Rebalance),
    "consolidation": Document("Consolidation", "kubestow provision --consolidate -o json", Consolidation),
    "provision": Document("Provision", "kubestow provision -o json", Provision),
    "suggest": Document("Suggest", "kubestow suggest -o json", SuggestDocument),
    "fit": Document("Fit", "kubestow fit -o json", Fit),
    "what-if": Document("What if", "kubestow what-if -o json", WhatIf),
    "study": Document("Study", "kubestow study -o json", Study),
    "regression": Document("Regression", "kubestow regress check -o json", Regression),
    "study-session": Document(
        "Session of a study", "kubestow study STUDY.yaml --into DIR -o json", StudySession
    ),
    "study-report": Document("Statistics of a study", "kubestow study-report -o json", StudyReport),
    "simulation": Document("Simulation", "kubestow simulate -o json", SimulationSummary),
    "trace": Document("Trace", "kubestow trace -o json", Trace),
    "hint": Document("Hint", "kubestow hints -o json", HintVerdict),
    "queue": Document("Queue, an item of the list", "kubestow queue -o json", QueueReplay),
}
"""By the name of the schema."""


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a document.

    Raises
    ------
    KeyError
        Where no document has this name (`DOCUMENTS`).
    """
    document = DOCUMENTS[name]
    found = document.model.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found, "title": document.title}
