"""The bundled instances, each a small story with a known optimum.

An instance is one YAML file of ordinary Kubernetes objects beside this module; `index.yaml` tells its story,
its source and what is known about it. Everything is read through `importlib.resources`, so that it works from
a wheel as it does in a checkout.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field

from ...models.errors import KubestowError
from ...models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Outcome(_Model):
    """What one scheduler does with an instance, in numbers of pods.

    Attributes
    ----------
    scheduled : int
        Pending pods that are placed, bound or nominated.
    evictions, violations : int
        Pods evicted, and those of them whose eviction violates a budget.
    fallbacks : int
        Constraints that fell back and are broken for it (KEP-3990).
    """

    scheduled: int
    evictions: int
    violations: int
    fallbacks: int


class Outcomes(_Model):
    """The outcome of each scheduler."""

    greedy: Outcome
    optimal: Outcome


class Without(Outcomes):
    """The outcomes with some feature gates switched off."""

    feature_gates: tuple[str, ...] = Field(alias="featureGates")


class Entry(_Model):
    """One bundled instance.

    Attributes
    ----------
    name, title, story, source : str
        Slug, headline, a paragraph, and where the example comes from.
    greedy, optimal : str
        What each scheduler does, as a half-sentence whose subject is the scheduler.
    needs : tuple of str
        What the instance uses beyond pods, nodes and budgets: `PodGroup`, `CompositePodGroup`, `DRA`,
        `PersistentVolumeClaim`.
    kube_version : KubeVersion
        Whose kube-scheduler it is about: `expect` holds with this `--kube-version`.
    expect : Outcomes
        What both schedulers are known to do.
    without : Without, optional
        The same with the proposal's feature gate off.
    """

    name: str
    title: str
    story: str
    source: str
    greedy: str
    optimal: str
    kube_version: KubeVersion = Field(alias="kubeVersion", default=DEFAULT_KUBE_VERSION)
    needs: tuple[str, ...]
    expect: Outcomes
    without: Without | None = None


@cache
def _index() -> dict[str, Entry]:
    text = files(__package__).joinpath("index.yaml").read_text(encoding="utf-8")
    entries = [Entry.model_validate(entry) for entry in yaml.safe_load(text)["instances"]]
    return {entry.name: entry for entry in entries}


def names() -> tuple[str, ...]:
    """Names of all bundled instances; the first is the one that `kubestow solve` solves by default."""
    return tuple(_index())


def describe(name: str) -> Entry:
    """Return the index entry of a bundled instance.

    Raises
    ------
    KubestowError
        When there is no instance of this name.
    """
    try:
        return _index()[name]
    except KeyError:
        near = get_close_matches(name, names(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`kubestow instances` lists them"
        raise KubestowError(f"no bundled instance '{name}'; {hint}") from None


def path(name: str) -> Path:
    """Return the path of a bundled instance's file.

    Raises
    ------
    KubestowError
        When there is no instance of this name.
    """
    return Path(str(files(__package__).joinpath(f"{describe(name).name}.yaml")))


def locate(argument: str) -> str:
    """Return what to read for an instance named on the command line.

    A file, a folder or a link comes first, `-` is standard input, anything else is the name of a bundled
    instance.

    Raises
    ------
    KubestowError
        When it is none of these.
    """
    if not argument:
        raise KubestowError("an empty argument names no instance; the current folder is '.'")
    if argument == "-" or Path(argument).exists() or Path(argument).is_symlink():
        return argument
    try:
        return str(path(argument))
    except KubestowError as error:
        raise KubestowError(f"{argument}: no such file or folder, and {error}") from None
