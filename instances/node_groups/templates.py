"""Templates of node groups, as `what-if` and `suggest` add nodes of them (docs/provision.md, "Formats").

A file has them in one of the formats of what can be bought, or as Kubernetes objects: a Node for each group,
with its ResourceSlices and CSINode.
"""

from __future__ import annotations

from typing import Any, Final

from ..documents import read_documents
from ..files import read_files
from ..raw_objects import plain
from .bundled import locate
from .file import KIND, read_catalogue

_FIELDS: Final = frozenset({"nodeGroups", "autoscaler"})


def load_templates(path: str) -> tuple[dict[str, Any], ...]:
    """Read a file, or bundled node groups by name: Kubernetes objects, of which a Node is a template.

    Raises
    ------
    InputError
        For what cannot be read; what objects say that a file gives as such is checked when they are used.
    """
    found: list[dict[str, Any]] = []
    for file, content in read_files([locate(path)]):
        for raw in read_documents(file, content):
            document = plain(raw)
            if _is_catalogue(document):
                offers = read_catalogue(file, document).offers
                found += (dict(item) for offer in offers for item in offer.objects)
                continue
            items = document.get("items") if isinstance(document, dict) else None
            found += items if isinstance(items, list) else [document] if document is not None else []
    return tuple(found)


def _is_catalogue(document: Any) -> bool:
    """Whether a document says what can be bought: a list is Karpenter's."""
    if isinstance(document, dict):
        return document.get("kind") == KIND or not _FIELDS.isdisjoint(document)
    return isinstance(document, list)
