"""The door: objects in, objects with other names out."""

from collections.abc import Iterable, Iterator, Mapping
from tempfile import TemporaryFile
from typing import Any, Final

import orjson
from pydantic import BaseModel

from ...models.kinds import find_kind
from ...models.progress import Watch, unwatched
from .texts import KNOWN_DRIVERS, STANDARD_ATTRIBUTES, Texts
from .walk import rewritten
from .words import Words, ordinal

_SHOWN: Final = 3


class Anonymiser:
    """Gives the objects of one snapshot other names: first all are collected, then all are written.

    Attributes
    ----------
    notes : list of str
        What keeps its name, and why; known once all are collected.
    """

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._words = Words()
        self._words.keep((*KNOWN_DRIVERS, STANDARD_ATTRIBUTES))
        self._texts = Texts(self._words)
        self._sets: list[tuple[str, tuple[str, ...]]] = []
        self._deployments: set[str] = set()
        self._replica_sets: set[str] = set()

    def collect(self, raw: Mapping[str, Any]) -> None:
        """Note the names in an object."""
        model = _model(raw)
        if model is None:
            return
        rewritten(self._texts, model, raw)
        self._note_parts(raw)

    def settle(self) -> None:
        """Take all objects for collected."""
        names = self._words.of("name")
        heads = {name for name, _ in self._sets}
        claims = {f"{claim}-{name}": (claim, name) for name, claims in self._sets for claim in claims}
        for name in names:
            parts = ordinal(name)
            if parts is not None and (parts[0] in heads or parts[0] in claims):
                self._words.make(name, parts[0], f"-{parts[1]}", "")
        for joined, (claim, name) in claims.items():
            self._words.make(joined, claim, "-", name)
        for name in sorted(self._replica_sets):
            head, _, last = name.rpartition("-")
            if head in self._deployments:
                self._words.word("suffix", last)
                self._words.make(name, head, "-", last)
        if self._texts.opaque:
            kept = self._words.of_devices()
            self._words.keep(kept)
            shown = "; ".join(list(self._texts.opaque)[:_SHOWN])
            self.notes.append(
                f"{len(kept)} names of drivers and values of attributes stay as they are, since a selector "
                f"of devices looks into a text: {shown}"
            )
        if self._words.ambiguous:
            shown = ", ".join(sorted(self._words.ambiguous)[:_SHOWN])
            self.notes.append(
                f"{len(self._words.ambiguous)} names of claims, and those of their pods and volumes, stay as "
                f"they are, since they can be read in two ways: {shown}"
            )
        self._words.settle()

    def rewritten(self, raw: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return an object with other names, or None for one of a kind that plays no part."""
        model = _model(raw)
        return None if model is None else rewritten(self._texts, model, raw)

    def _note_parts(self, raw: Mapping[str, Any]) -> None:
        """Note which names are made of others."""
        meta, spec = _map(raw, "metadata"), _map(raw, "spec")
        name, kind = str(meta.get("name", "")), raw.get("kind")
        if kind == "Pod":
            for volume in _maps(spec, "volumes"):
                if isinstance(volume.get("ephemeral"), dict):
                    own = str(volume.get("name", ""))
                    self._words.word("name", f"{name}-{own}")
                    self._words.make(f"{name}-{own}", name, "-", own)
            owners = (owner for owner in _maps(meta, "ownerReferences") if owner.get("kind") == "ReplicaSet")
            self._replica_sets.update(str(owner.get("name", "")) for owner in owners)
        elif kind == "StatefulSet":
            templates = (_map(item, "metadata") for item in _maps(spec, "volumeClaimTemplates"))
            self._sets.append((name, tuple(str(item.get("name", "")) for item in templates)))
        elif kind == "Deployment":
            self._deployments.add(name)
        elif kind == "ReplicaSet":
            self._replica_sets.add(name)


def anonymous(
    objects: Iterable[Mapping[str, Any]], anonymiser: Anonymiser, watch: Watch = unwatched
) -> Iterator[dict[str, Any]]:
    """Yield objects with other names, in their order; `watch` hears how far this is.

    Between the two walks they are in a file without a name, which only this user can read.
    """
    with TemporaryFile() as between:
        total = 0
        for raw in objects:
            anonymiser.collect(raw)
            between.write(orjson.dumps(raw) + b"\n")
            total += 1
        anonymiser.settle()
        between.seek(0)
        for number, line in enumerate(between):
            watch("giving other names: objects", number, total)
            found = anonymiser.rewritten(orjson.loads(line))
            if found is not None:
                yield found


def _model(raw: Mapping[str, Any]) -> type[BaseModel] | None:
    return find_kind(str(raw.get("kind")), str(raw.get("apiVersion")))


def _map(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, dict) else {}


def _maps(raw: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    value = raw.get(name)
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
