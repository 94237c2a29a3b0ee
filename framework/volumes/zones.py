"""The zones and regions that a volume's labels name.

Source: cloud-provider volume/helpers/zones.go.
"""

from typing import Final

from ...models.node import ZONE
from ...models.storage import PersistentVolume
from .migration import OLD_REGION, OLD_ZONE, REGION, SEVERAL

LABELS: Final[tuple[str, ...]] = (OLD_ZONE, OLD_REGION, ZONE, REGION)

Zones = tuple[str, frozenset[str]]
"""A label and the places that it names."""


def zones_of(volume: PersistentVolume) -> tuple[Zones, ...]:
    """Return the zone and region labels of a volume with the places that each names; nonsense is left out."""
    found: list[Zones] = []
    for key in LABELS:
        places = [place.strip() for place in volume.metadata.labels.get(key, "").split(SEVERAL)]
        if all(places):
            found.append((key, frozenset(places)))
    return tuple(found)
