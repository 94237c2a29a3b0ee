"""What a session of a study says when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from .words import count

if TYPE_CHECKING:
    from ..models.study_run import StudySession


def session_report(session: StudySession) -> RenderableType:
    """Return how far the folder is, and what reads it."""
    done = session.before + session.now
    parts = [f"{done} of {count(session.total, 'run')} done"]
    if session.before:
        parts.append(f"{session.before} of them before")
    if session.failed:
        parts.append(f"{session.failed} failed")
    return Group(
        Text(f"{session.folder}: {', '.join(parts)}", style="bold"),
        Text(f"kubestow study-report {session.folder} has the statistics"),
    )
