"""From documents to typed objects: lists unrolled, kinds recognised, faults told, repetitions refused."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from ..models.base import Kept
from ..models.config import KubeSchedulerConfiguration
from ..models.defaulting import default_pod
from ..models.errors import InputError
from ..models.kinds import KINDS, find_kind
from ..models.meta import KubeObject, generated_name
from ..models.pod import Pod
from ..models.progress import Watch, unwatched
from ..models.validation import check, check_new, read, title
from .clock import Clock
from .json_lists import Items
from .simulator_export import as_list
from .unknown_fields import UnknownFields, explained

AnyObject = KubeObject | KubeSchedulerConfiguration
T = TypeVar("T", bound=AnyObject)

# Objects of a list between two reports of how many are done.
OBJECTS_UNHEARD: Final = 256


class Objects:
    """The objects of an input by kind, in input order, each with the file it came from.

    Parameters
    ----------
    watch : Watch
        Hears of the objects validated.
    hear : callable, optional
        Takes the model and the raw form of each object that is read.

    Attributes
    ----------
    ignored : Counter
        Kinds that are not read, with how many objects of each.
    unknown : UnknownFields
        Fields that the API does not have where they stand.
    clock : Clock
        The newest timestamp of the objects that are read.
    """

    def __init__(
        self, watch: Watch = unwatched, hear: Callable[[type, dict[str, Any]], object] | None = None
    ) -> None:
        self._watch = watch
        self._hear = hear
        self.ignored: Counter[str] = Counter()
        self.unknown = UnknownFields()
        self.clock = Clock()
        self._kept = Kept()
        self._items: dict[type, list[tuple[str, Any]]] = {}
        self._known: dict[tuple[str, str], tuple[str, str, Any]] = {}
        self._generated: Counter[tuple[str, str]] = Counter()

    def add(self, file: str, document: Any, place: str) -> None:
        """Add a document: an object, a list of objects, or nothing.

        An object that is there already is left out where both say the same in all that is read, as where two
        dumps overlap.

        Parameters
        ----------
        file : str
            Where it comes from.
        document : object
            What was read.
        place : str
            Where in the file it stands, for what has no name.

        Raises
        ------
        InputError
            If it is no Kubernetes object, or one that the API server would refuse, or differs from the one of
            its kind and name that is there already.
        """
        document = as_list(file, document)
        where = place
        try:
            for number, (where, kind, version, raw) in enumerate(_unroll(file, document, place), 1):
                self._add(file, where, kind, version, raw)
                if number % OBJECTS_UNHEARD == 0:
                    self._watch("validating: objects", number, len(document["items"]))
        except RecursionError:
            raise InputError(file, where, "", "is nested too deeply") from None

    def _add(self, file: str, place: str, kind: str, version: str, raw: dict[str, Any]) -> None:
        model = find_kind(kind, version)
        if model is None:
            # A known kind of another group is told apart by that group.
            self.ignored[f"{kind}.{version.rpartition('/')[0]}" if kind in KINDS else kind] += 1
            return
        raw = self._named(kind, raw)
        try:
            item = read(model, raw, file, self._kept)
        except InputError as error:
            raise explained(error, model, raw) from None
        check_new(item, file)
        if isinstance(item, Pod):
            item = default_pod(item)
        check(item, file)
        self.clock.look_at(raw)
        self.unknown.look_at(model, raw, lambda: f"{file}: {title(item)}")
        known = self._known.get((kind, item.key))
        if known is None:
            self.include(file, item, place)
            if self._hear is not None:
                self._hear(model, raw)
        elif known[2] != item:
            earlier = " ".join(part for part in (known[0], known[1]) if part)
            raise InputError(
                file, title(item), "", f"stands at {place} and, with other content, in {earlier}"
            )

    def _named(self, kind: str, raw: dict[str, Any]) -> dict[str, Any]:
        """Return an object with a name of its own where the manifest leaves that to the API server."""
        meta = raw.get("metadata")
        if not isinstance(meta, dict) or meta.get("name"):
            return raw
        base = meta.get("generateName")
        if not isinstance(base, str) or not base:
            return raw
        number = self._generated[kind, base]
        self._generated[kind, base] += 1
        return {**raw, "metadata": {**meta, "name": generated_name(base, number)}}

    def include(self, file: str, item: AnyObject, place: str = "") -> None:
        """Add an object that is known to be right and new."""
        self._known[item.kind, item.key] = (file, place, item)
        self._items.setdefault(type(item), []).append((file, item))

    def has(self, kind: str, key: str) -> bool:
        """Whether there is an object of this kind and key."""
        return (kind, key) in self._known

    def of(self, model: type[T]) -> tuple[T, ...]:
        """Return the objects of a kind."""
        return tuple(item for _, item in self._items.get(model, ()))

    def with_files(self, model: type[T]) -> list[tuple[str, T]]:
        """Return the objects of a kind, each after its file."""
        return list(self._items.get(model, ()))


def _unroll(file: str, document: Any, place: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield place, kind, apiVersion and content of each object; a list's items may leave both to the list."""
    if document is None:
        return
    if not isinstance(document, dict):
        raise InputError(
            file, place, "", "is no Kubernetes object (a map with apiVersion, kind and metadata)"
        )
    if "instance" in document and "kind" not in document:
        raise InputError(
            file, place, "", "is an answer of kubestow, not the Kubernetes objects that it was made from"
        )
    for field in ("kind", "apiVersion"):
        value = document.get(field)
        if value in (None, ""):
            raise InputError(file, place, field, "required")
        if not isinstance(value, str):
            raise InputError(file, place, field, f"must be text, not {value!r}")
    kind, version = document["kind"], document["apiVersion"]
    items = document.get("items", ())
    if not kind.endswith("List") or not (kind == "List" or "items" in document):
        yield place, kind, version, document
        return
    if items is not None and not isinstance(items, (list, tuple, Items)):
        raise InputError(file, place, "items", "must be a list")
    inherited = {} if kind == "List" else {"kind": kind.removesuffix("List"), "apiVersion": version}
    for index, item in enumerate(items if items is not None else ()):
        whole = {**inherited, **item} if inherited and isinstance(item, dict) else item
        yield from _unroll(file, whole, f"{place} items[{index}]")
