"""The instances of a study: which there are, and what they are made of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..instances import catalogue
from ..instances.files import read_files
from ..instances.generators.registry import family_of
from ..models.errors import InputError, KubestowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..models.study_file import Source, StudyFile


@dataclass(frozen=True)
class Instance:
    """One instance of a study.

    Attributes
    ----------
    name : str
        As the study file spells it; of a generated one the generator, its arguments and its seed.
    family : str
    path : str
        What to read; empty where it is generated.
    generator : str
        Its name; empty where it is read.
    arguments : tuple of (str, number)
        The generator's, its seed among them, by parameter.
    digest : str
        SHA-256 of what is at `path` when the study is planned; empty where it cannot be read, or is
        generated.
    """

    name: str
    family: str
    path: str = ""
    generator: str = ""
    arguments: tuple[tuple[str, int | float | str], ...] = field(default=())
    digest: str = ""

    def definition(self) -> dict[str, Any]:
        """Return what makes it this instance, as a JSON value."""
        if self.generator:
            return {"generate": self.generator, "with": dict(self.arguments)}
        return {"name": self.name, "sha256": self.digest}


def instances_of(study: StudyFile, file: str) -> list[Instance]:
    """Return all instances of a study, in the order in which its file has them.

    Raises
    ------
    InputError
        Where a source names nothing, or two instances have one name.
    """
    found: list[Instance] = []
    for number, source in enumerate(study.instances):
        try:
            found += _generated(source) if source.generate is not None else _at(source, file)
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


def beside(file: str, path: str) -> str:
    """Return a path of a study file from where kubestow runs."""
    return str(Path(file).parent / path) if file != "-" else path


def digest_of(contents: Iterable[tuple[str, bytes]]) -> str:
    """Return SHA-256 of the contents of files, in their order; their names play no part."""
    total = hashlib.sha256()
    for _, content in contents:
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


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
    return Instance(name, family, path=path, digest=digest)


def _generated(source: Source) -> Iterator[Instance]:
    family = family_of(source.generate or "")
    given = {name: family.knob(name).check(value) for name, value in source.arguments.items()}
    words = "".join(f" {name}={value}" for name, value in given.items())
    for seed in source.seeds:
        yield Instance(
            f"{family.name}{words} seed={seed}",
            source.family or family.name,
            generator=family.name,
            arguments=(*given.items(), ("seed", seed)),
        )
