"""A study file from where it is: one line for what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from ..instances.documents import the_document
from ..instances.files import read_file
from ..instances.raw_objects import plain
from ..models.errors import InputError
from ..models.study_file import StudyFile

if TYPE_CHECKING:
    from pathlib import Path


def read_study(path: str | Path) -> tuple[str, StudyFile]:
    """Read a study file.

    Returns
    -------
    file : str
        Its name, `-` for standard input.
    study : StudyFile

    Raises
    ------
    InputError
        For anything that is none.
    """
    file, content = read_file(path, "one study file")
    raw = plain(the_document(file, content, "a study"))
    if not isinstance(raw, dict) or "instances" not in raw:
        raise InputError(file, "", "instances", "required in a study file (docs/studies.md)")
    try:
        return file, StudyFile.model_validate(raw)
    except ValidationError as error:
        fault = error.errors()[0]
        words = fault["msg"].removeprefix("Value error, ")
        raise InputError(file, "", _place(fault["loc"]), words[:1].lower() + words[1:]) from None


def _place(steps: tuple[int | str, ...]) -> str:
    place = ""
    for step in steps:
        place += f"[{step}]" if isinstance(step, int) else f".{step}" if place else step
    return place
