"""The instances of a study: which there are, and what they are made of."""

from __future__ import annotations

import hashlib
import inspect
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic.alias_generators import to_camel

from ..instances import catalogue, generated
from ..instances.files import read_files
from ..models.errors import InputError, KubestowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ..models.study_file import Source, StudyFile

GENERATORS: Final[Mapping[str, Callable[..., list[generated.Manifest]]]] = {
    maker.__name__.replace("_", "-"): maker
    for maker in (
        generated.contested,
        generated.deployments,
        generated.one_app,
        generated.packing,
        generated.rollout,
    )
}
"""By the name that a study file has for it."""


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
    arguments: tuple[tuple[str, int | float], ...] = field(default=())
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
    name = source.generate or ""
    maker = GENERATORS.get(name)
    if maker is None:
        raise KubestowError(f"generate: {name!r} is not one of {', '.join(GENERATORS)}")
    parameters = {to_camel(word): p for word, p in inspect.signature(maker).parameters.items()}
    seeded = parameters.pop("seed", None) is not None
    unknown = [word for word in source.arguments if word not in parameters]
    missing = [
        word for word, p in parameters.items() if p.default is p.empty and word not in source.arguments
    ]
    if unknown:
        raise KubestowError(f"with: {unknown[0]} is not one of {', '.join(parameters)}")
    if missing:
        raise KubestowError(f"with: {missing[0]} is required")
    if not seeded and "seeds" in source.model_fields_set:
        raise KubestowError(f"seeds: {name} has none")
    numbers = {word: _number(word, parameters[word], value) for word, value in source.arguments.items()}
    words = "".join(f" {word}={value}" for word, value in numbers.items())
    given = tuple((parameters[word].name, value) for word, value in numbers.items())
    for seed in source.seeds if seeded else (None,):
        last = "" if seed is None else f" seed={seed}"
        more = () if seed is None else (("seed", seed),)
        yield Instance(f"{name}{words}{last}", source.family or name, generator=name, arguments=given + more)


def _number(word: str, parameter: inspect.Parameter, value: int | float) -> int | float:
    """Return a number as a generator takes it: 1 and 1.0 seed two different instances."""
    if "float" in str(parameter.annotation):
        number, smallest = float(value), 0
    elif value == int(value):
        number, smallest = int(value), 1
    else:
        raise KubestowError(f"with: {word}: {value} is not a whole number")
    if number < smallest:
        raise KubestowError(f"with: {word}: {value} is less than {smallest}")
    return number
