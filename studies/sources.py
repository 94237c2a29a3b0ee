"""The instances of a study: which there are, and what they are made of."""

from __future__ import annotations

from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from ..instances import catalogue
from ..instances.files import read_files
from ..instances.generators.registry import family_of
from ..models.errors import InputError, KubestowError
from .origins import Files, Generated, Instance, beside, digest_of
from .trace_sources import instances_of_openb, instances_of_trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models.study_file import Source, StudyFile


def instances_of(study: StudyFile, file: str) -> list[Instance]:
    """Return all instances of a study, in the order in which its file has them.

    Raises
    ------
    InputError
        Where a source names nothing, a trace cannot be read, or two instances have one name.
    """
    found: list[Instance] = []
    for number, source in enumerate(study.instances):
        try:
            found += _of(source, file, f"instances[{number}]")
        except InputError:
            raise
        except KubestowError as error:
            raise InputError(file, "", f"instances[{number}]", str(error)) from None
    names: set[str] = set()
    for instance in found:
        if instance.name in names:
            raise InputError(file, "", "instances", f"{instance.name} comes twice")
        names.add(instance.name)
    return found


def _of(source: Source, file: str, place: str) -> Iterator[Instance]:
    if source.generate is not None:
        yield from _generated(source)
    elif source.openb is not None:
        yield from instances_of_openb(source, source.openb, file, place)
    elif source.trace is not None:
        yield from instances_of_trace(source, source.trace, file, place)
    else:
        yield from _at(source, file)


def _at(source: Source, file: str) -> Iterator[Instance]:
    written = source.path or ""
    place = beside(file, written)
    if Path(place).exists() or Path(place).is_symlink():
        yield _read(written, source.family or written, place)
    elif has_magic(written):
        matches = sorted(glob(place, recursive=True))
        if not matches:
            raise KubestowError(f"{written}: nothing matches this pattern")
        base = Path(file).parent if file != "-" else Path()
        for match in matches:
            name = str(Path(match).relative_to(base)) if not Path(written).is_absolute() else match
            yield _read(name, source.family or written, match)
    else:
        yield _read(written, source.family or "bundled", catalogue.locate(written))


def _read(name: str, family: str, path: str) -> Instance:
    try:
        digest = digest_of(read_files([path]))
    except InputError:  # its runs fail, each with the reason
        digest = ""
    return Instance(name, family, Files(path), digest)


def _generated(source: Source) -> Iterator[Instance]:
    family = family_of(source.generate or "")
    given = {name: family.knob(name).check(value) for name, value in source.arguments.items()}
    words = "".join(f" {name}={value}" for name, value in given.items())
    for seed in source.seeds:
        origin = Generated(family.name, (*given.items(), ("seed", seed)))
        yield Instance(f"{family.name}{words} seed={seed}", source.family or family.name, origin)
