"""A new suite of instances that are given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...models.errors import KubestowError
from ...models.kube_version import DEFAULT_KUBE_VERSION
from .. import catalogue
from .file import KIND, files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...models.kube_version import KubeVersion


def new_suite(
    argument: str,
    instances: Sequence[str],
    kube_version: KubeVersion,
    gates_off: Iterable[str],
    effort: Mapping[str, Any],
) -> tuple[Path, Path, dict[str, Any]]:
    """Return the file of a new suite, that of what will be known of it, and the document of the former.

    Parameters
    ----------
    instances : sequence of str
        Files, folders and names of bundled instances, as they are named on the command line.
    effort : mapping
        `timeLimit`, `workers` and `seed`; None for what is usual.

    Raises
    ------
    KubestowError
        Where one of the two files is there, or an instance is standard input.
    """
    path, known = files_of(argument)
    for each in (path, known):
        if each.exists():
            raise KubestowError(f"{argument}: {each} is there already; `kubestow regress run` works with it")
    if "-" in instances:
        raise KubestowError("standard input (-) cannot be read again; a suite is made of files")
    document: dict[str, Any] = {"kind": KIND}
    if kube_version != DEFAULT_KUBE_VERSION:
        document["kubeVersion"] = kube_version.value
    if gates_off:
        document["featureGates"] = dict.fromkeys(sorted(gates_off), False)
    document |= {name: value for name, value in effort.items() if value is not None}
    document["instances"] = [_named(each, path.parent) for each in instances]
    return path, known, document


def _named(instance: str, folder: Path) -> str:
    """Return what a suite in a folder calls an instance."""
    if Path(catalogue.locate(instance)) == Path(instance):
        return Path(os.path.relpath(instance, folder.resolve())).as_posix()
    return instance
