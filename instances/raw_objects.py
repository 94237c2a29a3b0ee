"""The objects of files as they stand there, once they are known to be right."""

from pathlib import Path
from typing import Any

from ..models.memory import no_collection
from ..models.progress import Watch, unwatched
from ..models.quantity import SpelledFloat
from ..models.snapshot_info import SnapshotInfo
from .clock import EPOCH
from .documents import read_documents
from .files import read_files
from .lean import lean
from .objects import Objects


def raw_objects(path: str | Path, watch: Watch = unwatched) -> list[dict[str, Any]]:
    """Return the objects in a file or folder without the fields that no model reads, each once.

    At the end there is a SnapshotInfo with the time of the round, since what is dropped may have the newest
    timestamp.

    Raises
    ------
    InputError
        For what `manifests.load_snapshot` refuses of a single object.
    """
    found: list[dict[str, Any]] = []
    objects = Objects(watch, lambda model, raw: found.append(plain(lean(model, raw))))
    with no_collection():
        for file, content in read_files([path], watch):
            for number, document in enumerate(read_documents(file, content, watch, in_slices=True), 1):
                objects.add(file, document, f"document {number}")
    if objects.clock.newest > EPOCH and not objects.of(SnapshotInfo):
        found.append(SnapshotInfo.raw(objects.clock.newest))
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a number of YAML that is a quantity is the text that stood there."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.spelling if isinstance(value, SpelledFloat) else value
