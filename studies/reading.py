"""A study file from where it is: one line for what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import ValidationError

from ..instances.documents import the_document
from ..instances.files import read_file
from ..instances.raw_objects import plain
from ..models.errors import InputError
from ..models.study_file import OpenbFiles, Source, StudyFile, StudyPart, Variant
from ..models.validation.reading import first_fault

if TYPE_CHECKING:
    from collections.abc import Mapping
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
        place, words = first_fault(error)
        fault = error.errors(include_url=False)[0]
        if fault["type"] == "extra_forbidden":
            words = f"unknown field; known are {', '.join(_known(fault['loc'][:-1]))}"
        raise InputError(file, "", place, words) from None


def is_study(path: str | Path) -> bool:
    """Whether a file is one of a study, right or wrong: a map that has instances."""
    try:
        raw = the_document(*read_file(path, "one study file"), "a study")
    except InputError:
        return False
    return isinstance(raw, dict) and "instances" in raw and raw.get("kind", "Study") == "Study"


_PARTS: Final[Mapping[str, type[StudyPart]]] = {"instances": Source, "openb": OpenbFiles, "variants": Variant}


def _known(steps: tuple[int | str, ...]) -> list[str]:
    """Return the fields of the part of a study file that is there."""
    named = next((step for step in reversed(steps) if isinstance(step, str)), "")
    part = _PARTS.get(named, StudyFile)
    return [field.alias or name for name, field in part.model_fields.items()]
