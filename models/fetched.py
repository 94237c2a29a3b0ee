"""How far a fetch from a live cluster is."""

from typing import NamedTuple


class Fetched(NamedTuple):
    """The resource that is being listed, its pages and objects so far, and objects of all resources."""

    resource: str
    pages: int
    objects: int
    total: int
