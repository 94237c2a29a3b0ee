"""Manifests as files that kubectl reads: YAML, one document an object, or JSON, a List."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson
import yaml

from ..models.errors import KubestowError
from ..models.progress import Watch, unwatched
from .output_file import output_file
from .snapshot_file import packed, snapshot_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

_UNHEARD = 1000


def write_manifests(
    objects: Iterable[Mapping[str, Any]], path: str, form: str, watch: Watch = unwatched
) -> None:
    """Write objects to a file that stays only when it is whole; `-` is standard output.

    Parameters
    ----------
    path : str
        In gzip where it ends with .gz.
    form : str
        `yaml` or `json`.

    Raises
    ------
    KubestowError
        If it cannot be written.
    OSError
        If standard output cannot.
    """
    heard = _heard(objects, watch)
    if form == "json":
        with snapshot_file(path) as items:
            for item in heard:
                items.add(item)
        return
    with output_file(path) as file, packed(path, file) as write:
        for item in heard:
            write(_document(item))


def form_of(path: str) -> str:
    """Return the format that a file's name tells; YAML where it tells none."""
    return "json" if path.removesuffix(".gz").endswith(".json") else "yaml"


def prepare_folder(folder: Path, names: Sequence[str], force: bool) -> None:
    """Make a folder for files of these names, or see that it can take them.

    Raises
    ------
    KubestowError
        Where it has other files, or, unless forced, these; or cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {entry.name for entry in folder.iterdir()}
    except OSError as error:
        raise KubestowError(f"{folder}: cannot be a folder for files: {error.strerror}") from None
    if others := sorted(there - set(names)):
        raise KubestowError(f"{folder}: has {others[0]}, which is none of the files to be written")
    if there and not force:
        raise KubestowError(f"{folder}: has {min(there)} already; --force writes it anew")


def _heard(objects: Iterable[Mapping[str, Any]], watch: Watch) -> Iterable[Mapping[str, Any]]:
    for number, item in enumerate(objects):
        if number % _UNHEARD == 0:
            watch("writing: objects", number)
        yield item


# libyaml's where the wheel has it, ten times as fast
_DUMPER: Final = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _document(item: Mapping[str, Any]) -> bytes:
    # by way of JSON: what two fields share is written twice, not as an alias
    plain = orjson.loads(orjson.dumps(item))
    text: str = yaml.dump(plain, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, explicit_start=True)
    return text.encode()
