"""The rounds of a suite as snapshots, each with a hash of what it was read from."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...models.errors import KubestowError
from ...models.features import FeatureGates
from ...models.progress import Watch, unwatched
from ...models.suite import SuiteRound, rules_of
from ..files import read_files
from ..manifests import parse_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...models.suite import Suite, SuiteInstance


def load_round(suite: Suite, instance: SuiteInstance, watch: Watch = unwatched) -> SuiteRound:
    """Read a round of a suite; what cannot be read is a round that says why."""
    rules = rules_of(suite, instance)
    try:
        contents = list(read_files([instance.source], watch))
        snapshot = parse_snapshot(
            contents, name=instance.name, feature_gates=FeatureGates.parse(instance.gates), watch=watch
        )
    except KubestowError as error:
        missing = not Path(instance.source).exists()
        return SuiteRound(name=instance.name, rules=rules, error=str(error), missing=missing)
    return SuiteRound(
        name=instance.name,
        rules=rules,
        input=hash_of(contents, instance.source),
        snapshot=replace(snapshot, kube_version=instance.kube_version),
    )


def hash_of(contents: Iterable[tuple[str, bytes]], source: str) -> str:
    """Return a hash of files: what they hold, unpacked, and what they are called below a folder."""
    digest = hashlib.sha256()
    folder = Path(source).is_dir()
    for file, content in contents:
        name = Path(file).relative_to(source).as_posix() if folder else ""
        for part in (name.encode(), content):
            digest.update(len(part).to_bytes(8, "big") + part)
    return f"sha256:{digest.hexdigest()}"
