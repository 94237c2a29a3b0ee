"""How far a fetch from a live cluster is."""

from typing import NamedTuple


class Fetched(NamedTuple):
    """The resource that is being listed, its pages and objects so far, and objects of all resources.

    Without pages it is the resources that are being written, how many objects so far, and how many there are.
    """

    resource: str
    pages: int
    objects: int
    total: int
