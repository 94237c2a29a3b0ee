"""The plan of a study: its runs in a fixed order, each with an id that says what it is."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from ..instances.files import read_file
from ..instances.what_if.file import load_changes, load_profile
from .origins import Instance, digest_of, there
from .sources import instances_of

if TYPE_CHECKING:
    from ..models.study_file import StudyFile, Variant

_LENGTH: Final = 24
"""Hexadecimal digits of an id: 96 bits, so that a billion runs do not meet by accident."""

_OPTIMAL: Final = "optimal"


@dataclass(frozen=True)
class Conditions:
    """A variant, with the files that it names where kubestow finds them.

    Attributes
    ----------
    variant : Variant
    configuration : str or None
        Path.
    changes : tuple of str
        Paths.
    digests : tuple of str
        SHA-256 of these files, the configuration first.
    """

    variant: Variant
    configuration: str | None
    changes: tuple[str, ...]
    digests: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One instance, solved once in one way.

    Attributes
    ----------
    id : str
        Hash of all that defines it: a run with the same id has the same input and the same question.
    seed : int or None
        None for greedy.
    time_limit : float
        Seconds.
    """

    id: str
    instance: Instance
    scheduler: str
    conditions: Conditions
    seed: int | None
    time_limit: float
    threads: int

    def __str__(self) -> str:
        """Return the run in a few words."""
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"{self.instance.name} ({self.scheduler}, {self.conditions.variant.name}{seed})"


def plan_of(study: StudyFile, file: str) -> list[Run]:
    """Return all runs of a study; the same file and the same inputs give the same list.

    Raises
    ------
    InputError
        Where the study names what is not there, or files of a variant cannot be read. An instance that is
        there and cannot be read is left to its runs.
    """
    variants = [
        _conditions(variant, file, f"variants[{number}]") for number, variant in enumerate(study.variants)
    ]
    return [
        _run(study, instance, scheduler, conditions, seed)
        for instance in instances_of(study, file)
        for conditions in variants
        for scheduler in study.schedulers
        for seed in (study.seeds if scheduler == _OPTIMAL else (None,))
    ]


def _conditions(variant: Variant, file: str, place: str) -> Conditions:
    configuration = None
    if variant.configuration is not None:
        configuration = there(file, f"{place}.configuration", variant.configuration)
    changes = tuple(
        there(file, f"{place}.changes[{number}]", path) for number, path in enumerate(variant.changes)
    )
    digests = []
    if configuration is not None:
        load_profile(configuration)
        digests.append(digest_of([read_file(configuration, "one KubeSchedulerConfiguration")]))
    for path in changes:
        load_changes(path)
        digests.append(digest_of([read_file(path, "one file of changes")]))
    return Conditions(variant, configuration, changes, tuple(digests))


def _run(
    study: StudyFile, instance: Instance, scheduler: str, conditions: Conditions, seed: int | None
) -> Run:
    variant = conditions.variant
    limit = variant.time_limit or study.time_limit
    definition: dict[str, Any] = {
        "instance": instance.definition(),
        "family": instance.family,
        "scheduler": scheduler,
        "variant": variant.model_dump(mode="json", exclude={"time_limit"}),
        "files": conditions.digests,
        "seed": seed,
        "timeLimit": limit,
        "threads": study.threads,
    }
    text = orjson.dumps(definition, option=orjson.OPT_SORT_KEYS)
    name = hashlib.sha256(text).hexdigest()[:_LENGTH]
    return Run(name, instance, scheduler, conditions, seed, limit, study.threads)
