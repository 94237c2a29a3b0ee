"""The document of `kubestow study STUDY.yaml --into DIR -o json`: how far the folder is."""

from __future__ import annotations

from .plan_model import PlanModel


class StudySession(PlanModel):
    """What became of a study's runs.

    Attributes
    ----------
    folder : str
    total, before, now : int
        Runs of the plan; those that were done when this run began; those that it did.
    failed : int
        Of all that are done, those that ended with an error.
    interrupted : bool
        Whether runs are left.
    """

    folder: str
    total: int
    before: int
    now: int
    failed: int
    interrupted: bool
